"""Another configuration through the operator: it takes a redeploy, and is written where the old one stands."""

from __future__ import annotations

import pytest
from tests.unit.engines.kubernetes.conftest import Stage

from headgate.errors import RefusedError
from headgate.model.decision import ConfigChanges
from headgate.options.kubernetes import Upgrades


async def test_configuration_takes_a_redeploy(stage: Stage) -> None:
    """Only where that is allowed; the memory of TaskManagers has a place of its own."""
    changes = ConfigChanges(
        overrides={"taskmanager.memory.process.size": "2g", "state.backend.type": "rocksdb"},
        removals=frozenset({"web.refresh-interval"}),
    )
    await stage.edit(web_refresh__interval="3 s")
    job = await stage.job()
    with pytest.raises(RefusedError, match=r"cannot change its configuration \(state.*a redeploy is not allowed"):
        await stage.realizer.realize_config_overrides(job, changes)
    stage.look(upgrades=Upgrades.WITH_STATE)
    job = await stage.job()
    assert await stage.realizer.realize_config_overrides(job, changes) is True
    spec = stage.resource().spec
    assert spec["taskManager"]["resource"] == {"memory": "2g", "cpu": 1}
    assert spec["flinkConfiguration"]["state.backend.type"] == "rocksdb"
    assert "web.refresh-interval" not in spec["flinkConfiguration"]
    assert await stage.realizer.realize_config_overrides(job, changes) is False


async def test_two_keys_in_one_place_are_both_changed(stage: Stage) -> None:
    """Where the configuration is nested."""
    await stage.edit({"flinkConfiguration": {"state": {"backend": {"type": "hashmap", "a": "1"}, "b": "1"}}})
    stage.look(upgrades=Upgrades.WITH_STATE)
    changes = ConfigChanges(
        overrides={"state.backend.type": "rocksdb", "state.b": "2"}, removals=frozenset({"state.backend.a"})
    )
    assert await stage.realizer.realize_config_overrides(await stage.job(), changes) is True
    assert stage.resource().spec["flinkConfiguration"]["state"] == {"backend": {"type": "rocksdb"}, "b": "2"}


async def test_a_session_job_has_no_taskmanagers_of_its_own(stage: Stage) -> None:
    """Their memory is its cluster's, and with that other jobs'."""
    stage.look(upgrades=Upgrades.ALWAYS)
    changes = ConfigChanges(overrides={"taskmanager.memory.process.size": "2g"})
    with pytest.raises(RefusedError, match="no TaskManagers of its own"):
        await stage.realizer.realize_config_overrides(await stage.job("clicks"), changes)
