"""Kubernetes clusters as they are declared, what is refused, and who then looks after their jobs."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from headgate.config import load
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.options.kubernetes import Upgrades
from headgate.options.service import ServiceOptions
from headgate.plugins.kinds import Kind
from headgate.wiring.engines import collect_time_limit, open_engines

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "run-with-the-flink-operator.md"


def examples() -> list[str]:
    """Read the examples of the how-to."""
    return [part.partition("```")[0] for part in PAGE.read_text().split("```yaml\n")[1:]]


def loaded(folder: Path, *parts: str) -> ServiceOptions:
    """Load a file of these parts."""
    file = folder / "headgate.yaml"
    file.write_text("\n".join(parts))
    return load(file, {}, {}).options


def test_the_how_to_shows_what_is_read(tmp_path: Path) -> None:
    """What people copy is accepted, alone and together."""
    options = loaded(tmp_path, *examples())
    (eu,) = options.kubernetes
    assert (eu.name, eu.namespaces, eu.label_selector) == ("eu", ("flink",), "team=web")
    assert eu.upgrades is Upgrades.NEVER
    assert options.jobs[0].autoscaler.realizer == "orders-scale"
    assert loaded(tmp_path, examples()[0]).jobs == ()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{name: a/b}", "without a slash"),
        ("{name: a, rest-url: 'flink:8081'}", "does not begin with http:// or https://"),
        ("{name: a, rest-url: 'http://{pod}'}", "another place than {deployment}, {namespace} and {port}"),
        ("{name: a, upgrades: sometimes}", "kubernetes[0].upgrades"),
        ("{name: a}, {name: a}", "the name a stands twice"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    """With what was expected."""
    with pytest.raises(ConfigError) as raised:
        loaded(tmp_path, f"clusters: []\nkubernetes: [{text}]")
    assert fault in str(raised.value)


async def test_each_cluster_has_its_job_list_and_all_share_a_realizer(tmp_path: Path) -> None:
    """Jobs name it `flink-operator`; it is there where nobody has declared a Kubernetes cluster, too."""
    named = ("clusters: [{name: eu-2, url: 'http://flink:8081'}]", "kubernetes: [{name: a}, {name: b}]")
    async with AsyncExitStack() as stack:
        options = loaded(tmp_path, *named)
        engines = await open_engines(options, lambda: options, stack, still_ours=_ours)
        assert set(engines.fetchers) == {"eu-2", "a", "b"}
        assert engines.provided[Kind.SCALING_REALIZER, "flink-operator"] is engines.operator
        without = loaded(tmp_path, named[0])
        engines = await open_engines(without, lambda: without, stack, still_ours=_ours)
        assert (Kind.SCALING_REALIZER, "flink-operator") in engines.provided


def test_a_slow_api_does_not_hold_a_tick_up_for_longer_than_it_may(tmp_path: Path) -> None:
    """Its time limit counts as those of other clusters do."""
    options = loaded(tmp_path, "clusters: []\nkubernetes: [{name: a, request-timeout: 40 s}]")
    assert collect_time_limit(options).total_seconds() == 40


async def _ours(_: JobKey) -> bool:
    return True
