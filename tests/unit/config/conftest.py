"""Files to load, made where a test needs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a configuration into the current directory, so that faults name it shortly."""
    monkeypatch.chdir(tmp_path)

    def write_file(text: str, name: str = "headgate.yaml") -> Path:
        path = Path(name)
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return write_file
