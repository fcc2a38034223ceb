"""A file whose disk is slow."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread, Timer


def slow_file(path: Path) -> Callable[[], None]:
    """Make a file that cannot be read before what is returned is called; by itself after 5 s, too late."""
    os.mkfifo(path)
    late = Timer(5, path.write_text, ["too-late"])
    late.daemon = True
    late.start()

    def release() -> None:
        late.cancel()
        Thread(target=path.write_text, args=["in-time"], daemon=True).start()

    return release
