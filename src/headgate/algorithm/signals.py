"""
What external metrics do to a decision: those of the latest sample, judged at the time of the decision.

One that is missing or too old counts for nothing, but while a job uses it nothing of that job shrinks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from headgate.algorithm.plan import Plan, groups, not_shrinking
from headgate.algorithm.rules import rules_of
from headgate.algorithm.wording import amount
from headgate.model.decision import Decision, Proposal, SeenSignal
from headgate.model.identity import VertexId
from headgate.model.measures import Measure
from headgate.model.pattern import fits
from headgate.model.reasons import Reason
from headgate.model.samples import JobSample, Signal
from headgate.model.state import JobState
from headgate.model.topology import Topology, Vertex
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.deviations import Deviation
from headgate.options.signals import GateScope, IfMissing, SignalOptions, SignalUse

_OF_SOURCES = {SignalUse.LAG, SignalUse.ADDED_RATE}


def matching(topology: Topology, declared: SignalOptions) -> tuple[Vertex, ...]:
    """
    Give the vertices that a signal is about, in topological order.

    Those of that id or name; without one all, or all sources for what only a source has. A bracket stands for itself.
    """
    wanted = declared.vertex
    return tuple(
        vertex
        for vertex in topology.vertices
        if (wanted is None or vertex.id == wanted or fits(vertex.name, wanted))
        and (declared.use not in _OF_SOURCES or topology.is_source(vertex.id))
    )


def source_of(topology: Topology, declared: SignalOptions) -> VertexId | None:
    """Give the one source that a lag or an added rate belongs to; None when there is none or more than one."""
    found = matching(topology, declared)
    return found[0].id if len(found) == 1 else None


def missing(sample: JobSample, declared: SignalOptions, now: datetime) -> str:
    """Say why a signal counts as missing; empty when it does not."""
    if declared.use in _OF_SOURCES and source_of(sample.topology, declared) is None:
        found = len(matching(sample.topology, declared))
        of = "" if declared.vertex is None else f" like {declared.vertex}"
        return f"it belongs to one source, and the job has {found}{of}"
    signal = sample.signals.get(declared.name)
    if signal is None or not math.isfinite(signal.value):
        return "it could not be had"
    age = now - signal.measured_at
    if abs(age) <= declared.max_age:
        return ""
    limit = f"{declared.max_age.total_seconds():.0f} s"
    if age < -declared.max_age:
        return f"its time lies {-age.total_seconds():.0f} s ahead of ours, at most {limit} are believed"
    return f"it is {age.total_seconds():.0f} s old, at most {limit} are believed"


def current(sample: JobSample, options: AutoscalerOptions, now: datetime) -> Iterator[tuple[SignalOptions, float]]:
    """Give the signals of a job that count, with their values, in the order of their declarations."""
    for declared in options.signals_in_force:
        if not missing(sample, declared, now):
            yield declared, sample.signals[declared.name].value


def blindness(sample: JobSample, options: AutoscalerOptions, now: datetime) -> Mapping[str, str]:
    """Give the signals that the job uses and lacks, with why; a lag that the engine tells by itself is not lacked."""
    used = (each for each in options.signals_in_force if each.use is not None and not _is_needless(each, sample))
    return {each.name: why for each in used if (why := missing(sample, each, now))}


def added_rates(sample: JobSample, options: AutoscalerOptions, now: datetime) -> Mapping[VertexId, float]:
    """Give the records/s to be added to what comes into each source; a value below zero adds nothing."""
    rates: dict[VertexId, float] = {}
    for declared, value in current(sample, options, now):
        source = source_of(sample.topology, declared)
        if declared.use is SignalUse.ADDED_RATE and source is not None:
            rates[source] = rates.get(source, 0.0) + max(0.0, value)
    return rates


def seen_signals(sample: JobSample, options: AutoscalerOptions, now: datetime) -> Mapping[str, SeenSignal]:
    """Tell how each declared signal of the job stands, for explanations."""
    return {each.name: _seen(sample, each, now) for each in options.signals_in_force}


def with_signals(decision: Decision, sample: JobSample, options: AutoscalerOptions, now: datetime) -> Decision:
    """Note in a decision how the job's signals stood; the very same one where it has none."""
    if not options.signals_in_force:
        return decision
    return replace(decision, signals=seen_signals(sample, options, now))


def signalled(plan: Plan, sample: JobSample, options: AutoscalerOptions, *, now: datetime, state: JobState) -> Plan:
    """
    Hold a job's proposals to its signals: no shrinking in the dark, nothing through a closed gate, no limit passed.

    It comes after every other rule, so that none undoes it.
    """
    if not options.signals_in_force:
        return plan
    if unknown := blindness(sample, options, now):
        plan = not_shrinking(plan, state, Reason.SIGNAL_MISSING, _told(unknown))
    plan = _not_growing_blindly(plan, sample, options, now)
    for declared, value in current(sample, options, now):
        if declared.gate is not None and not declared.gate.holds(value):
            plan = _held_by_gate(plan, declared, value)
    for declared, value in current(sample, options, now):
        if declared.use is SignalUse.UPPER_LIMIT:
            plan = _within(plan, sample.topology, options, declared=declared, value=value)
    return plan


def closed_to_all(sample: JobSample, options: AutoscalerOptions, now: datetime) -> str | None:
    """Say which gate lets no change at all through; None when none is closed."""
    for declared, value in current(sample, options, now):
        if declared.gates is GateScope.ANY and declared.gate is not None and not declared.gate.holds(value):
            return _detail_of_gate(declared, value)
    return None


def _is_needless(declared: SignalOptions, sample: JobSample) -> bool:
    if declared.use is not SignalUse.LAG or declared.over_engine:
        return False
    source = source_of(sample.topology, declared)
    measured = None if source is None else sample.vertices.get(source)
    return measured is not None and Measure.LAG in measured.values


def _seen(sample: JobSample, declared: SignalOptions, now: datetime) -> SeenSignal:
    signal: Signal | None = sample.signals.get(declared.name)
    return SeenSignal(
        value=signal.value if signal else None,
        age_s=(now - signal.measured_at).total_seconds() if signal else None,
        missing=missing(sample, declared, now),
        unit=declared.unit,
        use=declared.use.value if declared.use else "",
    )


def _told(unknown: Mapping[str, str]) -> str:
    return "; ".join(f"signal {name} is missing: {why}" for name, why in unknown.items())


def _not_growing_blindly(plan: Plan, sample: JobSample, options: AutoscalerOptions, now: datetime) -> Plan:
    strict = [each for each in options.signals_in_force if each.if_missing is IfMissing.HOLD and each.use is not None]
    unknown = {each.name: why for each in strict if (why := missing(sample, each, now))}
    if not unknown:
        return plan
    return _kept(plan, lambda each: each.changes, Reason.SIGNAL_MISSING, f"{_told(unknown)}; nothing grows")


def _held_by_gate(plan: Plan, declared: SignalOptions, value: float) -> Plan:
    any_change, detail = declared.gates is GateScope.ANY, _detail_of_gate(declared, value)
    return _kept(plan, lambda each: each.changes if any_change else each.wanted > each.current, Reason.GATE, detail)


def _detail_of_gate(declared: SignalOptions, value: float) -> str:
    what = "any change" if declared.gates is GateScope.ANY else "growth"
    return f"signal {declared.name} is {_amount(declared, value)}, {what} needs {declared.gate}"


def _kept(plan: Plan, applies: Callable[[Proposal], bool], reason: Reason, detail: str) -> Plan:
    return tuple(each.limited_to(each.current, reason, detail) if applies(each) else each for each in plan)


def _within(
    plan: Plan, topology: Topology, options: AutoscalerOptions, *, declared: SignalOptions, value: float
) -> Plan:
    """
    Cut growth so that the subtasks of the signal's vertices take no more of it together than there is.

    Those that take more already keep what they have. What room there is goes to the growing vertices in proportion.
    """
    members = {vertex.id for vertex in matching(topology, declared)}
    affected = [each for each in plan if each.vertex in members]
    running = sum(each.current for each in affected)
    # A whole number of connections over a share like 0.1 must not lose a subtask to the last bit of the quotient.
    allowed = max(running, math.floor(round(max(0.0, value) / declared.per_subtask, 6)))
    kept = sum(min(each.wanted, each.current) for each in affected)
    growths = {each.vertex: each.wanted - each.current for each in affected if each.wanted > each.current}
    granted = _shares(growths, max(0, allowed - kept))
    detail = f"signal {declared.name} is {_amount(declared, value)}, a subtask takes {declared.per_subtask:g}"
    cut = tuple(
        each.limited_to(each.current + granted[each.vertex], Reason.SIGNAL_LIMIT, detail)
        if each.vertex in growths
        else each
        for each in plan
    )
    return _with_equal_ends(cut, topology, options, detail) if cut != plan else cut


def _shares(growths: Mapping[VertexId, int], room: int) -> Mapping[VertexId, int]:
    """Divide whole subtasks in proportion to growth; what rounding leaves goes to the first ones that want more."""
    total = sum(growths.values())
    if total <= room:
        return growths
    shares = {vertex: growth * room // total for vertex, growth in growths.items()}
    left = room - sum(shares.values())
    for vertex in list(growths)[:left]:
        shares[vertex] += 1
    return shares


def _with_equal_ends(plan: Plan, topology: Topology, options: AutoscalerOptions, detail: str) -> Plan:
    """Let vertices that FORWARD edges tie together grow no further than the one of them that was cut most."""
    if Deviation.FORWARD_EQUAL not in rules_of(options):
        return plan
    wanted = {each.vertex: each.wanted for each in plan}
    least = {vertex: min(wanted[one] for one in tied) for tied in groups(topology) for vertex in tied}

    def tied_down(proposal: Proposal) -> Proposal:
        most = max(least.get(proposal.vertex, proposal.wanted), proposal.current)
        return proposal.limited_to(min(proposal.wanted, most), Reason.FORWARD, f"a FORWARD edge ties it: {detail}")

    return tuple(map(tied_down, plan))


def _amount(declared: SignalOptions, value: float) -> str:
    return f"{amount(value)} {declared.unit}".strip()
