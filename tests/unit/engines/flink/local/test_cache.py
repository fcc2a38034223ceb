"""The cache's entries are complete or absent."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import pytest

from headgate.engines.flink.local.cache import cache_root, cached


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a cache of its own."""
    monkeypatch.setenv("HEADGATE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_own_variable_wins_over_the_shared_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`HEADGATE_CACHE` is taken first, then `XDG_CACHE_HOME`, then the home directory."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_root() == root
    monkeypatch.delenv("HEADGATE_CACHE")
    assert cache_root() == Path("/xdg/headgate")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == Path.home() / ".cache" / "headgate"


def test_an_entry_is_made_once() -> None:
    """The second call finds what the first has made."""
    calls: list[Path] = []

    def fill(directory: Path) -> None:
        calls.append(directory)
        (directory / "content").write_text("x")

    assert cached("thing", fill) == cached("thing", fill)
    assert len(calls) == 1


def test_a_failed_entry_leaves_nothing(root: Path) -> None:
    """What breaks half-way is neither an entry nor a leftover, and the next try starts anew."""

    def fail(directory: Path) -> None:
        (directory / "half").write_text("x")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        cached("thing", fail)
    assert list(root.iterdir()) == []
    entry = cached("thing", lambda directory: (directory / "whole").touch())
    assert [path.name for path in entry.iterdir()] == ["whole"]


def test_two_makers_at_once_agree_on_one_entry(root: Path) -> None:
    """Both are inside `fill` at the same time, both get the same complete entry, nothing else stays."""
    both_inside = Barrier(2, timeout=10)
    entries: list[Path] = []

    def fill(directory: Path) -> None:
        (directory / "content").write_text("x")
        both_inside.wait()

    makers = [Thread(target=lambda: entries.append(cached("thing", fill))) for _ in range(2)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert entries == [root / "thing"] * 2
    assert [path.name for path in root.iterdir()] == ["thing"]
    assert (root / "thing" / "content").read_text() == "x"
