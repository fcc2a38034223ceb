"""Rule 4: the running parallelism reaches the target in time, or an event says that it did not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from hypothesis import given

from headgate.engines.simulated.cluster import START
from headgate.model.events import Event, EventReason
from headgate.model.state import Intent
from headgate.simulate import FailureKind, Scenario
from headgate.testing.simulated import FEW, failures, scenarios
from headgate.testing.watched import WatchedSimulation, watch

TROUBLE = failures(*(kind for kind in FailureKind if kind is not FailureKind.VANISHING))
"""All that keeps a rescale from being made; a job that is gone is not looked after, so nothing is said of it."""
ENDS = {EventReason.RESCALE_REACHED, EventReason.RESCALE_NOT_REACHED, EventReason.INTENT_RECOVERED}


@FEW
@given(scenario=scenarios(failures=TROUBLE))
def test_every_rescale_is_reached_in_time_or_said_not_to_be(scenario: Scenario) -> None:
    """The running parallelism reaches the target in time, or an event says that it did not and what is tried next."""
    simulation = watch(scenario)
    for intent in intents(simulation).values():
        due = intent.decided_at + time_to_reach(scenario) + scenario.decide_interval
        told = [event for event in events_of(simulation, intent) if event.at <= due]
        assert told or due > START + scenario.duration, intent
        assert all(is_true(simulation, intent, event) for event in events_of(simulation, intent))


def intents(simulation: WatchedSimulation) -> Mapping[str, Intent]:
    """Give all intents by their decision, as they were first saved."""
    saved = [state.intent for state in simulation.states_of("job") if state.intent]
    return {intent.decision_id: intent for intent in reversed(saved)}


def events_of(simulation: WatchedSimulation, intent: Intent) -> Iterator[Event]:
    """Give the events that tell what became of an intent."""
    about = (event for event in simulation.events if event.reason in ENDS)
    return (event for event in about if event.fields["decision"] == intent.decision_id)


def is_true(simulation: WatchedSimulation, intent: Intent, event: Event) -> bool:
    """Check what an event says: that the target was seen running, or what is tried next."""
    if event.reason is EventReason.INTENT_RECOVERED:
        return True
    if event.reason is EventReason.RESCALE_NOT_REACHED:
        return "tried again until" in event.message or "not asked for again before" in event.message
    frames = simulation.result.job.frames
    seen = [frame for frame in frames if START + timedelta(seconds=frame.at_s) <= event.at]
    return any(intent.after.items() <= frame.parallelism.items() for frame in seen)


def time_to_reach(scenario: Scenario) -> timedelta:
    """Give what the cluster's own settings allow: two checkpoints, its waits and a restart, and never too little."""
    cluster = scenario.cluster
    waits = 2 * cluster.checkpoint_interval + cluster.cooldown + cluster.stabilization
    return max(waits + scenario.autoscaler.restart_time, timedelta(seconds=10))
