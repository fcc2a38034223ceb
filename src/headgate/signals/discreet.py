"""Somebody else's signal source, told of without the secrets that it was made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headgate.errors import HeadgateError
from headgate.model.samples import Signal
from headgate.plugins.concealing import concealed
from headgate.plugins.ready import Plugin
from headgate.ports import JobContext, Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreetSource:
    """A `ports.SignalSource` around one of others."""

    plugin: Plugin

    async def query(self, ctx: JobContext, names: Sequence[str], /) -> Mapping[str, Signal | Missing]:
        """
        Ask it.

        Raises:
            HeadgateError: whatever it raised, its secrets masked.
        """
        try:
            found: Mapping[str, Signal | Missing] = await self.plugin.port.query(ctx, names)
        except HeadgateError as error:
            raise self.plugin.masked(error) from None
        except Exception as error:
            raise self.plugin.failure(error) from error
        return {name: self._told(one) for name, one in found.items()}

    def _told(self, one: Signal | Missing) -> Signal | Missing:
        return Missing(why=concealed(one.why, self.plugin.secrets)) if isinstance(one, Missing) else one
