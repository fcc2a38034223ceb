"""
Whether a wanted rescale may be made now, and what goes with it: its worth, excluded times, memory tuning, quotas.

Source: the order of checks of the reference autoscaler's `ScalingExecutor`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headgate.algorithm.history import History
from headgate.algorithm.memory.tuning import Tuned, recommendation, tuned_memory
from headgate.algorithm.periods import is_excluded
from headgate.algorithm.price import weighed
from headgate.algorithm.resources import Rescale, quota_reached
from headgate.algorithm.rules import Rules, rules_of
from headgate.algorithm.weighing import in_time
from headgate.model.decision import ConfigChanges, Decision, Notice, Outcome
from headgate.model.metrics import EvaluatedMetrics
from headgate.model.reasons import Reason
from headgate.model.samples import EngineSettings, JobSample
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation


def permitted(
    decision: Decision, sample: JobSample, evaluated: EvaluatedMetrics, options: AutoscalerOptions, history: History
) -> Decision:
    """Give a wanted rescale as it may be made: as it is, as advice only, with other settings, or not at all."""
    decision = worthwhile(decision, sample, evaluated, options, history)
    if decision.outcome is not Outcome.RESCALE:
        return decision
    if not options.scaling_enabled:
        return replace(decision, reason=Reason.ADVICE, message=f"{decision.message}; scaling.enabled is false")
    period = excluded_period(options, decision.at)
    if period is not None:
        message = f"{decision.message}; not now, by excluded.periods {period}"
        return replace(decision, reason=Reason.EXCLUDED_PERIOD, message=message)
    return _tuned_within_quota(decision, sample, evaluated, options)


def worthwhile(
    decision: Decision, sample: JobSample, evaluated: EvaluatedMetrics, options: AutoscalerOptions, history: History
) -> Decision:
    """Keep the job as it is where a rescale costs more than it saves, or is better made once more is known."""
    decision = weighed(decision, evaluated, options, history)
    if decision.outcome is not Outcome.RESCALE:
        return decision
    return in_time(decision, sample, evaluated, options)


def within_quota(decision: Decision, sample: JobSample, options: AutoscalerOptions, *, true_total: bool) -> Decision:
    """Keep the job as it is where a rescale exceeds its quota, see `quota_reached`, with the memory of now."""
    rescale = Rescale.of(sample.topology, decision.proposals)
    return _refused(decision, quota_reached(rescale, sample.settings, options, true_total=true_total))


def excluded_period(options: AutoscalerOptions, at: datetime) -> str | None:
    """Give the entry of `excluded.periods` that forbids scaling at an instant, if one does."""
    return is_excluded(options.excluded_periods, at, options.excluded_periods_time_zone)


def _tuned_within_quota(
    decision: Decision, sample: JobSample, evaluated: EvaluatedMetrics, options: AutoscalerOptions
) -> Decision:
    rules, settings = rules_of(options), sample.settings
    rescale = Rescale.of(sample.topology, decision.proposals)
    tuned = tuned_memory(rescale, evaluated, settings, options, sound=Deviation.SOUND_MEMORY in rules)
    if isinstance(tuned, Tuned):
        decision = replace(decision, notices=(*decision.notices, recommendation(tuned, options)))
        if options.memory_tuning_enabled:
            decision = replace(decision, config=tuned.changes)
            settings = replace(settings, task_manager_memory_bytes=_counted_memory(tuned, settings, rules))
    return _refused(decision, quota_reached(rescale, settings, options, true_total=Deviation.TRUE_QUOTA in rules))


def _refused(decision: Decision, quota: Notice | None) -> Decision:
    if quota is None:
        return decision
    kept = replace(decision, outcome=Outcome.KEEP, reason=Reason.RESOURCE_QUOTA, message=quota.message)
    return replace(kept, notices=(*decision.notices, quota), config=ConfigChanges())


def _counted_memory(tuned: Tuned, settings: EngineSettings, rules: Rules) -> int | None:
    """Count what TaskManagers have now by the true total: an engine may not be able to change it in a running job."""
    return settings.task_manager_memory_bytes if Deviation.TRUE_QUOTA in rules else tuned.total_bytes
