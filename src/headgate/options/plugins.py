"""How long plugins may take, whoever wrote them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginOptions(Options):
    """Time limits of plugins that are not Headgate's own."""

    deadline: PositiveDuration = option("deadline", timedelta(seconds=5))
    """Time limit of one call; a worker process that does not answer within it is killed."""

    start_deadline: PositiveDuration = option("start-deadline", timedelta(seconds=30))
    """Time limit of starting a worker process and making a plugin in it, its imports included."""

    budget: PositiveDuration = option("budget", timedelta(seconds=20))
    """
    Time that a cycle waits for the plugins of all its jobs in each of its steps: evaluating, checking, deciding.

    A job whose plugins take longer goes without them, and the others are decided for in time.
    """

    realize_deadline: PositiveDuration = option("realize-deadline", timedelta(seconds=30))
    """Time limit of one call of a scaling realizer; one that does not answer within it is asked again later."""
