"""Gets what a local cluster needs ahead of time: `python -m headgate.engines.flink.local`."""

from __future__ import annotations

import sys

from headgate.engines.flink.local.preparation import find_runtime
from headgate.engines.flink.local.progress import to_stderr
from headgate.errors import HeadgateError


def main() -> int:
    """Prepare, telling each step."""
    try:
        runtime = find_runtime(progress=to_stderr)
    except HeadgateError as error:
        to_stderr(str(error))
        return 1
    to_stderr(f"ready: Java {runtime.java.major} from {runtime.java.origin}, Flink in {runtime.home}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
