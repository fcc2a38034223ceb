"""Memory settings are read as Flink reads them."""

from __future__ import annotations

import pytest

from headgate.algorithm.memory.config import Key, MemoryConfig
from headgate.model.decision import ConfigChanges


def test_what_is_not_set_has_flinks_default() -> None:
    """An empty configuration still tells the sizes that have defaults."""
    config = MemoryConfig({})

    assert config.size(Key.METASPACE) == 256 * 2**20
    assert config.count(Key.FLOATING_BUFFERS) == 8
    assert not config.sets(Key.METASPACE)


def test_a_fraction_is_a_32_bit_float() -> None:
    """Flink keeps 0.1 as a little more than a tenth, which shows in the bytes."""
    assert MemoryConfig({}).fraction(Key.NETWORK_FRACTION) == 0.10000000149011612


def test_an_older_name_holds_until_the_present_one_is_set() -> None:
    """`taskmanager.memory.size` is managed memory's name from before Flink 1.10."""
    old = {"taskmanager.memory.size": "1g"}

    assert MemoryConfig(old).sets(Key.MANAGED_SIZE)
    assert MemoryConfig(old).size(Key.MANAGED_SIZE) == 2**30
    assert MemoryConfig({**old, Key.MANAGED_SIZE: "2g"}).size(Key.MANAGED_SIZE) == 2 * 2**30


def test_a_total_has_no_default() -> None:
    """A total that is not set is a fault, not zero."""
    with pytest.raises(ValueError, match=r"process\.size is not set"):
        MemoryConfig({}).size(Key.PROCESS_SIZE)


def test_changes_set_and_take_away() -> None:
    """After a change its values hold and its removals are gone."""
    before = MemoryConfig({Key.FLINK_SIZE: "1g", Key.METASPACE: "1g"})
    changes = ConfigChanges(overrides={Key.METASPACE: "2g"}, removals=frozenset({Key.FLINK_SIZE}))

    assert before.with_changes(changes) == MemoryConfig({Key.METASPACE: "2g"})
