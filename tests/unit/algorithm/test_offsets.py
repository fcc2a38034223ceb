"""What waits in the partitions of a source: where they end, less what was read."""

from __future__ import annotations

import pytest

from headgate.algorithm.offsets import Positions, fullest_share, lags, starts


def test_what_waits_is_what_was_written_and_not_passed_on() -> None:
    """A partition that ends at 100, whose record 59 was passed on last, has 40 waiting."""
    assert lags({"p": 100}, Positions(emitted={"p": 59}, committed={"p": 12})) == {"p": 40}


def test_a_partition_that_waits_for_its_turn_goes_on_where_the_checkpoint_was() -> None:
    """After a restart nothing was passed on yet: the whole history of the partition does not wait."""
    assert lags({"p": 100_000}, Positions(emitted={"p": -1}, committed={"p": 99_000})) == {"p": 1000}


def test_a_partition_of_which_nothing_is_known_is_left_out() -> None:
    """Nobody knows from where a new job begins; what is known of the others counts all the same."""
    positions = Positions(emitted={"new": -1, "read": 9}, committed={"new": -1})

    assert lags({"new": 100, "read": 20, "untold": 5}, positions) == {"read": 10}


def test_nothing_waits_where_nothing_was_ever_written() -> None:
    """An empty partition is known to be empty, wherever its reader begins."""
    assert lags({"empty": 0}, Positions(emitted={"empty": -1}, committed={})) == {"empty": 0}


def test_a_checkpoint_of_nothing_is_known_too() -> None:
    """An offset of 0 was committed: all that there is waits."""
    assert lags({"p": 50}, Positions(emitted={"p": -1}, committed={"p": 0})) == {"p": 50}


def test_what_was_read_since_the_end_was_told_is_no_negative_lag() -> None:
    """Both are told at about the same time, not at the same one."""
    assert lags({"p": 100}, Positions(emitted={"p": 104}, committed={})) == {"p": 0}


def test_who_began_at_the_beginnings_has_them_before_it() -> None:
    """It is 500 records from where one partition begins, and has read 500: so it began there, with the others too."""
    positions = Positions(emitted={"read": 1499, "next": -1, "last": -1}, committed={})

    assert starts({"read": 1000, "next": 7, "last": 0}, positions, 500) == {"next": 7, "last": 0}


def test_who_began_elsewhere_may_have_read_all() -> None:
    """It is 90,000 records from the beginning, and has read 500: it began at the end, or where it was told to."""
    positions = Positions(emitted={"read": 90_499, "next": -1}, committed={})

    assert starts({"read": 0, "next": 0}, positions, 500) == {}
    assert starts({"next": 0}, positions, 500) == {}


def test_the_fullest_partition_has_a_share() -> None:
    """Of 100 records it has 70; of none nobody has anything."""
    assert fullest_share({"a": 10, "b": 70, "c": 20}) == pytest.approx(0.7)
    assert fullest_share({"a": 0, "b": 0}) is None
