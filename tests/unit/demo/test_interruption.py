"""Ctrl-C and SIGTERM, which must not interrupt the cleaning up that they cause."""

from __future__ import annotations

import signal

import pytest

from headgate.demo.interruption import Interruption, raised


def be_interrupted(number: signal.Signals) -> None:
    """Get a signal, and two more while cleaning up."""
    try:
        signal.raise_signal(number)
    finally:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_is_an_exception_and_the_next_ones_are_nothing(number: signal.Signals, exit_code: int) -> None:
    """An impatient second Ctrl-C would leave processes behind."""
    with pytest.raises(Interruption) as interrupted, raised():
        be_interrupted(number)
    assert interrupted.value.number == number
    assert interrupted.value.exit_code == exit_code


def test_handlers_are_what_they_were_afterwards() -> None:
    """A program that calls the demo keeps its own."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with raised():
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] != before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
