"""Which jobs can be redeployed at all, and who may do it for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.engines.flink.redeploy.realizer import SavepointRedeployRealizer
from headgate.errors import RefusedError
from headgate.model.identity import JobKey, VertexId
from headgate.model.redeploy import Launch, Redeploy, Start, successor_of
from headgate.model.state import Intent
from headgate.options.plugins import PluginOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.registry import Registry
from headgate.testing.builders import at, context

AGG = VertexId("agg")
INTENT = Intent(
    decision_id="d1",
    decided_at=at(0),
    job_id="j1",
    fingerprint="f",
    before={AGG: 1},
    after={AGG: 3},
    deadline=at(60),
    redeploy=Redeploy(
        launch=Launch(jar="job.jar"),
        successor=successor_of("j1"),
        after=Start(parallelism=3),
        before=Start(parallelism=1),
    ),
)


async def test_a_job_of_a_cluster_that_takes_no_jars_is_refused() -> None:
    """An application on YARN ends with its job: nothing could be started there, and waiting would not help."""
    ctx = replace(context(JobKey("yarn", "orders")), intent=INTENT)
    with pytest.raises(RefusedError, match="yarn is not one of Headgate's `clusters`"):
        await SavepointRedeployRealizer({}).realize_parallelism_overrides(ctx, INTENT.after)


def test_an_instance_of_the_realizer_is_known_as_what_it_is() -> None:
    """The operator may give it another name; what that name means decides, and a name alone decides nothing."""
    tables = Tables(general={"replace.class": "savepoint-redeploy", "other.class": "resource-requirements"})
    host = PluginHost(Catalog(Registry(), tables), PluginOptions())
    names = ("replace", "savepoint-redeploy", "other", "nothing")
    meant = [host.stands_for(Kind.SCALING_REALIZER, name) for name in names]
    host.close()
    assert meant == ["savepoint-redeploy", "savepoint-redeploy", "resource-requirements", None]
