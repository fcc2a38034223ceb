"""The load job's arguments, and the parallelism that follows from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headgate.demo.loadjob import ConstantProfile, LoadJobSpec, Stage

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
CHAIN = (
    Stage(name="parse", cost_us=200, selectivity=0.5),
    Stage(name="count", cost_us=1500, keyed=True),
)
DIAMOND = (
    Stage(name="a", cost_us=1000, inputs=("source",)),
    Stage(name="b", cost_us=1000, selectivity=0.5, inputs=("source",)),
    Stage(name="join", cost_us=1000, keyed=True, inputs=("a", "b")),
)


def spec(*stages: Stage) -> LoadJobSpec:
    """Return a job of these stages with a constant load."""
    return LoadJobSpec(stages=stages, profile=ConstantProfile(per_s=500.0), epoch=EPOCH)


def test_every_argument_is_written() -> None:
    """The program is told everything, so that its own defaults do not matter."""
    assert spec(*CHAIN).arguments() == [
        "profile=const:500.0",
        "epochMs=1767225600000",
        "partitions=12",
        "stages=parse:200:0.5:p,count:1500:1.0:k",
        "keys=1000",
        "zipf=0.0",
        "stateKeys=0",
        "stateBytes=0",
        "garbageBytes=0",
        "maxp=128",
        "ckptMs=0",
        "chain=false",
        "name=load",
    ]


def test_a_stage_names_what_it_reads() -> None:
    """A fan-out and a join are written with arrows."""
    (stages,) = (word for word in spec(*DIAMOND).arguments() if word.startswith("stages="))
    assert stages == "stages=a:1000:1.0:p<-source,b:1000:0.5:p<-source,join:1000:1.0:k<-a+b"


def test_checkpoint_interval_is_in_milliseconds() -> None:
    """A set interval is passed on; zero means the cluster's own."""
    job = LoadJobSpec(
        stages=CHAIN,
        profile=ConstantProfile(per_s=1),
        epoch=EPOCH,
        checkpoint_interval=timedelta(seconds=1.5),
    )
    assert "ckptMs=1500" in job.arguments()


def test_a_chain_needs_its_products_of_selectivities() -> None:
    """1000 rec/s at 0.7: parse 1000 * 200 us / 0.7 = 0.29, count 500 * 1500 us / 0.7 = 1.07."""
    assert spec(*CHAIN).analytic_parallelism(1000, 0.7) == {"source": 1, "parse": 1, "count": 2, "sink": 1}


def test_a_join_gets_the_sum_of_its_inputs() -> None:
    """Each branch reads all 2000 rec/s; the join reads 2000 + 1000."""
    job = spec(*DIAMOND)
    assert job.input_rates(2000) == {"source": 2000, "a": 2000, "b": 2000, "join": 3000, "sink": 3000}
    assert job.analytic_parallelism(2000, 0.5) == {"source": 1, "a": 4, "b": 4, "join": 6, "sink": 1}


def test_an_exact_fit_is_not_rounded_up() -> None:
    """700 rec/s * 1000 us / 0.7 is one subtask, whatever the binary product says."""
    one = Stage(name="one", cost_us=1000)
    for whole in range(1, 60):
        assert spec(one).analytic_parallelism(700 * whole, 0.7)["one"] == whole


@pytest.mark.parametrize(
    "stages",
    [
        (Stage(name="a", cost_us=1, inputs=("b",)), Stage(name="b", cost_us=1)),
        (Stage(name="a", cost_us=1), Stage(name="a", cost_us=1)),
        (Stage(name="source", cost_us=1),),
        (Stage(name="sink", cost_us=1),),
    ],
)
def test_a_graph_that_the_job_would_refuse_is_refused(stages: tuple[Stage, ...]) -> None:
    """A stage reads earlier stages only, and names are unique."""
    with pytest.raises(ValueError, match="stage"):
        spec(*stages)
