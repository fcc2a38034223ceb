"""Rule 10: every "no change" says why, as every change does."""

from __future__ import annotations

from hypothesis import given

from headgate.algorithm.explain import explain
from headgate.model.decision import Decision, Outcome, Proposal
from headgate.model.reasons import Reason
from headgate.simulate import Scenario
from headgate.testing.simulated import FEW, scenarios
from headgate.testing.watched import watch


@FEW
@given(scenario=scenarios())
def test_every_outcome_says_why(scenario: Scenario) -> None:
    """Every "no change" says why, as every change does: a reason, a sentence, and steps that lead to what is wanted."""
    for decision in watch(scenario).decisions:
        assert decision.reason in Reason
        assert is_sentence(decision.message), decision
        assert all(leads_to_target(proposal) for proposal in decision.proposals), decision
        assert not any(grows_by_shrinking(proposal) for proposal in decision.proposals), decision
        assert (decision.outcome is Outcome.RESCALE) >= decision.acts
        assert decision.outcome is not Outcome.RESCALE or decision.changes


@FEW
@given(scenario=scenarios())
def test_every_outcome_can_be_explained(scenario: Scenario) -> None:
    """Every outcome can be shown with its reason, its sentence, and each step of each of its vertices."""
    for decision in watch(scenario).decisions:
        lines = explain(decision)
        assert all(map(str.strip, lines))
        assert [part for part in parts(decision) if part not in "\n".join(lines)] == []


def is_sentence(text: str) -> bool:
    """Tell whether a message is one line that says something and holds no number that is none."""
    return len(text) > 5 and "\n" not in text and "nan" not in text.split() and "None" not in text


def leads_to_target(proposal: Proposal) -> bool:
    """Tell whether the steps go from what runs to what is wanted, without a gap, each with its numbers."""
    places = [proposal.current, *(step.after for step in proposal.steps)]
    return (
        [step.before for step in proposal.steps] == places[:-1]
        and places[-1] == proposal.wanted
        and all(is_sentence(step.detail) for step in proposal.steps)
    )


def grows_by_shrinking(proposal: Proposal) -> bool:
    """Tell whether a wish to shrink, had while the vertex was larger, makes it grow."""
    wishes = [step for step in proposal.steps if step.reason is Reason.SCALE_DOWN_DELAYED]
    return any(step.after > proposal.current for step in wishes)


def parts(decision: Decision) -> list[str]:
    """Give what an explanation must contain."""
    steps = [step for proposal in decision.proposals for step in proposal.steps]
    names = [proposal.name for proposal in decision.proposals]
    reasons = [f"{step.before} -> {step.after} {step.reason}: {step.detail}" for step in steps]
    return [decision.reason, decision.message, *names, *reasons]
