"""
The place of FLIP-530, by which a running job would take another configuration over REST.

No Flink has it, up to 2.3: this is written after the proposal's text alone and has only ever spoken to a hand-written
fake. It is off unless a cluster's options turn it on, and a cluster without it is left to the realizer behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.engines.flink.client import FlinkClient
from headgate.errors import NotFoundError
from headgate.model.decision import ConfigChanges
from headgate.model.identity import VertexId
from headgate.ports import JobContext, ScalingRealizer


@dataclass(frozen=True, slots=True, kw_only=True)
class JobConfiguration:
    """What a job was submitted with, as the proposal has it told: the whole of it is written back, at its version."""

    values: Mapping[str, str]
    version: int


class DynamicConfigRealizer:
    """Asks clusters for another configuration of a running job; all else is the realizer's behind it."""

    def __init__(self, behind: ScalingRealizer, clients: Mapping[str, FlinkClient]) -> None:
        """
        Ask nothing yet.

        Args:
            behind: takes whatever the endpoint cannot.
            clients: of the clusters whose options turn this on; whoever made them closes them.
        """
        self._behind = behind
        self._clients = clients

    async def realize_parallelism_overrides(self, ctx: JobContext, overrides: Mapping[VertexId, int], /) -> bool:
        """Leave it to the realizer behind."""
        return await self._behind.realize_parallelism_overrides(ctx, overrides)

    async def realize_config_overrides(self, ctx: JobContext, changes: ConfigChanges, /) -> bool:
        """
        Write the configuration back with the changes, if the cluster has the endpoint and one of them differs.

        Raises:
            RefusedError: Flink will not have it: a value it does not know, or somebody has changed it meanwhile.
            TransientError: no usable answer; it is not known whether the change was accepted.
        """
        client, path = self._clients.get(ctx.key.cluster), f"/jobs/{ctx.job_id}/config"
        present = await probe(client, path) if client else None
        if client is None or present is None:
            return await self._behind.realize_config_overrides(ctx, changes)
        wanted = changed(present.values, changes)
        if wanted == present.values:
            return False
        try:
            await client.put(path, {"configuration": wanted, "version": present.version})
        except NotFoundError:
            return await self._behind.realize_config_overrides(ctx, changes)
        return True


async def probe(client: FlinkClient, path: str) -> JobConfiguration | None:
    """
    Read a job's configuration; None where the cluster does not have the endpoint.

    Flink up to 2.3 answers the same path, with neither of the two fields that the proposal adds.

    Raises:
        RefusedError: Flink will not tell.
        UnreachableError: no answer, or none that is understood.
    """
    try:
        return await client.get(path, read_configuration)
    except NotFoundError:
        return None


def read_configuration(answer: Any) -> JobConfiguration | None:
    """Read `configuration` and `version`; None where they are not there."""
    if "configuration" not in answer or "version" not in answer:
        return None
    values = {key: _text(value) for key, value in answer["configuration"].items()}
    return JobConfiguration(values=values, version=int(answer["version"]))


def changed(values: Mapping[str, str], changes: ConfigChanges) -> dict[str, str]:
    """Give a configuration with the changes made."""
    kept = {key: value for key, value in values.items() if key not in changes.removals}
    return {**kept, **changes.overrides}


def _text(value: object) -> str:
    """Write a value as Flink's configuration does."""
    return str(value).lower() if isinstance(value, bool) else str(value)
