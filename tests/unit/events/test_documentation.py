"""What the how-to tells receivers to do works."""

from __future__ import annotations

import re
import time
from pathlib import Path

from headgate.events.signature import sign

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "receive-events.md"


def test_the_documented_check_knows_a_signature() -> None:
    """A receiver that copies it tells Headgate's requests from others, and old ones from new ones."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    names: dict[str, object] = {}
    exec(found[1], names)  # noqa: S102 -- our own page
    is_genuine = names["is_genuine"]
    assert callable(is_genuine)
    now = int(time.time())
    assert is_genuine(b"{}", sign(b"{}", "s3cret", now), "s3cret")
    assert not is_genuine(b"[]", sign(b"{}", "s3cret", now), "s3cret")
    assert not is_genuine(b"{}", sign(b"{}", "s3cret", now - 3_600), "s3cret")
