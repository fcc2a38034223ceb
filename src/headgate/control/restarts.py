"""How long a restart is to be expected to take: as the downtime model has learnt, else as the options say."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headgate.algorithm.history import restart_time
from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey
from headgate.model.measures import JobMeasure
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.model.samples import JobSample
from headgate.model.state import ScalingRecord
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Parity
from headgate.ports import DowntimeModel, JobContext

Answer = EvaluatedMetrics | NotReady


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """Knows of each job how long a restart takes."""

    model: DowntimeModel | None = None
    """None: only the options and what was tracked say."""
    learn: Callable[[datetime], None] = lambda _: None
    """Lets the model take in what was seen since the last time; blocking."""
    restarted: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    """Set when a job was seen to have restarted, so that there may be something to learn; whoever learns clears it."""
    _predicted: dict[JobKey, tuple[JobSample, AutoscalerOptions, Downtime | None]] = field(
        default_factory=dict, init=False
    )
    """By the latest sample: what is learnt meanwhile holds from the next one on, so that a cycle knows one thing."""
    _expecting: dict[JobKey, tuple[AutoscalerOptions, AutoscalerOptions]] = field(default_factory=dict, init=False)

    def downtime(self, ctx: JobContext, sample: JobSample) -> Downtime | None:
        """Predict a job's downtime; None where the model may not or cannot say."""
        options = ctx.options
        if self.model is None or not options.downtime_model_enabled or options.parity is not Parity.CURRENT:
            return None
        known = self._predicted.get(ctx.key)
        if known is None or known[0] is not sample or known[1] is not options:
            downtime = self.model.predict(sample, redeploy=options.has_own_realizer)
            known = self._predicted[ctx.key] = sample, options, downtime
        return known[2]

    def expecting(self, ctx: JobContext, sample: JobSample, history: Sequence[ScalingRecord]) -> AutoscalerOptions:
        """
        Give the job's options, their restart time the one that it is known to take.

        That is the upper end of the model's interval: what must hold is held against it. The tracked restarts' limit
        bounds it too. The same time gives the same object, for a job whose options are new is laid out anew.
        """
        known = self._predicted.get(ctx.key)
        options, downtime = ctx.options, self.downtime(ctx, sample)
        if known is not None and _restart(known[0]) != _restart(sample):
            self.restarted.set()
        limit = options.restart_time_tracking_limit
        restart = min(_rounded_up(downtime.high), limit) if downtime else restart_time(options, history)
        if restart == options.restart_time:
            return options
        usual, expecting = self._expecting.get(ctx.key, (None, options))
        if usual is not options or expecting.restart_time != restart:
            expecting = replace(options, restart_time=restart)
            self._expecting[ctx.key] = options, expecting
        return expecting

    def keep_only(self, jobs: Collection[JobKey]) -> None:
        """Forget the other jobs."""
        for known in (self._expecting, self._predicted):
            for job in known.keys() - set(jobs):
                del known[job]

    def noted(self, ctx: JobContext, sample: JobSample | None, answer: Answer) -> Answer:
        """Note on an evaluated job how long a rescale would stop it."""
        if sample is None or not isinstance(answer, EvaluatedMetrics):
            return answer
        downtime = self.downtime(ctx, sample)
        return answer if downtime is None else replace(answer, downtime=downtime)


def _restart(sample: JobSample) -> tuple[object, ...]:
    """Give what is another one after a restart, and when the engine tells how long that took."""
    return sample.job_id, sample.running_since, sample.values.get(JobMeasure.LAST_DOWNTIME)


def _rounded_up(duration: timedelta) -> timedelta:
    """Give whole seconds of two digits that are no less: 0.4 s is 1 s, 101 s are 110 s."""
    seconds = math.ceil(duration.total_seconds())
    step = 10 ** max(len(str(seconds)) - 2, 0)
    return timedelta(seconds=math.ceil(seconds / step) * step)
