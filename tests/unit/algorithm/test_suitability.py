"""Everything that stands against reactive mode is named at once, with the way to mend it; what is not known is not."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from headgate.algorithm.suitability import Facts, unknown, unsuitable

FIT = Facts(
    streaming=True,
    adaptive=True,
    checkpoints=True,
    unaligned=False,
    fine_grained=False,
    hand_set=(),
    bounds={"source": 128, "count": 64},
    reactive=False,
    application=False,
    jobs=3,
)
FIT_FOR_THE_ENGINE = replace(FIT, reactive=True, application=True, jobs=1)


@pytest.mark.parametrize("facts", [FIT, FIT_FOR_THE_ENGINE], ids=["steered", "by the engine"])
def test_a_fit_job_has_nothing_against_it(facts: Facts) -> None:
    """Also with other jobs beside it, as long as Headgate divides the slots among them."""
    assert unsuitable(facts) == ()
    assert unknown(facts) == ()


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        (replace(FIT, streaming=False), "batch"),
        (replace(FIT, adaptive=False), "jobmanager.scheduler: adaptive"),
        (replace(FIT, checkpoints=False), "execution.checkpointing.interval"),
        (replace(FIT, unaligned=True), "execution.checkpointing.unaligned.enabled"),
        (replace(FIT, fine_grained=True), "fine-grained"),
        (replace(FIT, hand_set=("parse", "count")), "parallelism of parse, count"),
        (replace(FIT, min_parallelism=65), "count can have 64 at most, less than reactive.min-parallelism 65"),
        (replace(FIT_FOR_THE_ENGINE, application=False), "standalone application clusters alone"),
        (replace(FIT_FOR_THE_ENGINE, jobs=2), "2 jobs"),
    ],
)
def test_each_unsuitable_property_is_named(facts: Facts, named: str) -> None:
    """It alone, in words that say what to change."""
    (said,) = unsuitable(facts)
    assert named in said


def test_all_are_named_at_once() -> None:
    """Nobody has to mend one to be told of the next."""
    worst = replace(
        FIT,
        streaming=False,
        adaptive=False,
        checkpoints=False,
        unaligned=True,
        fine_grained=True,
        hand_set=("parse",),
        min_parallelism=100,
    )
    assert len(unsuitable(worst)) == 7


def test_what_is_not_known_is_said_to_be_so_and_stands_against_nothing() -> None:
    """Of the engine's own mode and of steering only what counts there."""
    assert unsuitable(Facts()) == ()
    assert len(unknown(Facts())) == len(fields(Facts)) - len({"min_parallelism", "reactive", "application", "jobs"})
    assert "how many jobs its cluster runs" in unknown(Facts(reactive=True))
    assert "how many jobs its cluster runs" not in unknown(Facts(reactive=False))


def test_a_bound_that_is_just_enough_is() -> None:
    """`min-parallelism` may be as large as the narrowest vertex."""
    assert unsuitable(replace(FIT, min_parallelism=64)) == ()
