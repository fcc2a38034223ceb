"""State is spread over other partitions on a copy's safety: whatever is amiss, the checkpoint is as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headgate.engines.spark.attached.checkpoint import UnrestoredError, leftovers
from headgate.engines.spark.attached.repartition import Content, StateRepartition
from headgate.errors import RefusedError

CHECKPOINT = "file:/data/checkpoint"
STATE = {"0/default": (100, 77)}


class Disk:
    """Directories by path, each with a content of state; `Files` and the state's reader at once."""

    def __init__(self) -> None:
        """Hold one checkpoint."""
        self.directories: dict[str, Content] = {CHECKPOINT: dict(STATE)}
        self.copies = 0
        self.refused_renames: set[tuple[str, str]] = set()

    def exists(self, path: str) -> bool:
        """Tell whether it is there."""
        return path in self.directories

    def copy(self, source: str, target: str) -> None:
        """Copy it."""
        self.directories[target] = dict(self.directories[source])
        self.copies += 1

    def rename(self, source: str, target: str) -> None:
        """Move it; what is there is not overwritten."""
        assert target not in self.directories
        if (source, target) in self.refused_renames:
            message = f"{source} could not be renamed"
            raise RefusedError(message)
        self.directories[target] = self.directories.pop(source)

    def delete(self, path: str) -> None:
        """Delete it."""
        self.directories.pop(path, None)

    def read(self, checkpoint: str) -> Content:
        """Read the state."""
        return self.directories[checkpoint]


def repartition(disk: Disk, spread: Callable[[str, int], None]) -> StateRepartition:
    """Give a repartition whose effect on the checkpoint is made up."""
    return StateRepartition(files=disk, read=disk.read, spread=spread)


def test_the_same_state_is_kept_and_the_copy_dropped() -> None:
    """It was copied first."""
    disk = Disk()
    asked: list[tuple[str, int]] = []
    repartition(disk, lambda checkpoint, count: asked.append((checkpoint, count))).make(CHECKPOINT, 8)
    assert asked == [(CHECKPOINT, 8)]
    assert disk.copies == 1
    assert disk.directories == {CHECKPOINT: STATE}


@pytest.mark.parametrize("content", [{"0/default": (99, 77)}, {"0/default": (100, 78)}, {}])
def test_any_difference_takes_it_back(content: Content) -> None:
    """A row less, another value, a store less."""
    disk = Disk()

    def spread(checkpoint: str, _count: int) -> None:
        disk.directories[checkpoint] = content

    with pytest.raises(RefusedError, match="put back"):
        repartition(disk, spread).make(CHECKPOINT, 8)
    assert disk.directories == {CHECKPOINT: STATE}


def test_a_failing_spark_takes_it_back() -> None:
    """Also when it has written already."""
    disk = Disk()

    def spread(checkpoint: str, _count: int) -> None:
        disk.directories[checkpoint] = {}
        message = "UNSUPPORTED_PROVIDER"
        raise ValueError(message)

    with pytest.raises(RefusedError, match="UNSUPPORTED_PROVIDER"):
        repartition(disk, spread).make(CHECKPOINT, 8)
    assert disk.directories == {CHECKPOINT: STATE}


def test_state_that_cannot_be_read_is_left_alone() -> None:
    """Nothing could be compared."""
    disk = Disk()

    def read(_checkpoint: str) -> Content:
        raise ValueError

    with pytest.raises(RefusedError, match="compared"):
        StateRepartition(files=disk, read=read, spread=disk.exists).make(CHECKPOINT, 8)  # type: ignore[arg-type]
    assert disk.copies == 0


def test_a_copy_that_is_left_is_nobodys_to_overwrite() -> None:
    """A process that died in the middle may have left the only whole state in it."""
    disk = Disk()
    disk.directories[CHECKPOINT + ".before-repartition"] = STATE
    with pytest.raises(RefusedError, match="did not end"):
        repartition(disk, lambda *_: None).make(CHECKPOINT, 8)
    assert disk.copies == 0


@pytest.mark.parametrize(
    "renamed", [(CHECKPOINT, CHECKPOINT + ".spoilt"), (CHECKPOINT + ".before-repartition", CHECKPOINT)]
)
def test_a_copy_that_cannot_be_put_back_is_another_error(renamed: tuple[str, str]) -> None:
    """One that names the copy, which stays where it is, and that nobody takes for a mere refusal."""
    disk = Disk()
    disk.refused_renames.add(renamed)
    with pytest.raises(UnrestoredError, match="before-repartition") as raised:
        repartition(disk, lambda checkpoint, _: disk.directories.update({checkpoint: {}})).make(CHECKPOINT, 8)
    assert not isinstance(raised.value, RefusedError)
    assert disk.directories[CHECKPOINT + ".before-repartition"] == STATE
    assert CHECKPOINT + ".before-repartition" in leftovers(disk, CHECKPOINT)


def test_a_copy_that_is_in_the_way_at_the_end_undoes_nothing() -> None:
    """The state is spread by then; the next repartition tells of it."""
    disk = Disk()
    copy = CHECKPOINT + ".before-repartition"
    disk.refused_renames.add((copy, copy + ".copying"))
    repartition(disk, lambda *_: None).make(CHECKPOINT, 8)
    assert disk.directories[CHECKPOINT] == STATE
    assert leftovers(disk, CHECKPOINT) == [copy]


def test_nothing_is_left_of_a_repartition_that_ended() -> None:
    """Neither of one that changed the state, nor of one that was taken back."""
    disk = Disk()
    repartition(disk, lambda *_: None).make(CHECKPOINT, 8)
    with pytest.raises(RefusedError):
        repartition(disk, lambda checkpoint, _: disk.directories.update({checkpoint: {}})).make(CHECKPOINT, 8)
    assert leftovers(disk, CHECKPOINT) == []
