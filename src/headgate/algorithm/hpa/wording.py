"""A recommendation in a sentence: both metrics, which of them won, what tolerance and stabilization made of it."""

from __future__ import annotations

from headgate.algorithm.hpa.policy import LAG, Policy, Recommendation
from headgate.algorithm.hpa.readings import Reading
from headgate.algorithm.hpa.votes import NO_SAY, Vote
from headgate.algorithm.wording import amount


def sentence(found: Recommendation, reading: Reading, policy: Policy) -> str:
    """Say what a recommendation follows from."""
    metrics = ", ".join(_vote(vote, reading, policy) for vote in found.votes)
    tolerance = f"tolerance +{policy.tolerance.scale_up:g} -{policy.tolerance.scale_down:g}"
    return f"HPA: {metrics}, {tolerance}; {_end(found, policy)}"


def _vote(vote: Vote, reading: Reading, policy: Policy) -> str:
    lag = f" (lag {amount(reading.lag)}, minimum {amount(policy.minimum_lag)})" if vote.metric == LAG else ""
    if vote.wants is None:
        return f"{vote.metric} is missing"
    if vote.wants == NO_SAY and vote.metric == LAG:
        return f"{vote.metric} has no say{lag}"
    return f"{vote.metric} {vote.value:.3g} of {vote.target:g}{lag} wants {vote.replicas}"


def _end(found: Recommendation, policy: Policy) -> str:
    if found.followed is None:
        return f"with a metric missing nothing shrinks: {found.replicas}"
    won = f"{found.followed.metric} wins with {found.followed.replicas}"
    if not found.is_held:
        return won
    shrinks = found.followed.replicas < found.replicas
    seconds = policy.stabilization.scale_down_s if shrinks else policy.stabilization.scale_up_s
    return f"{won}, stabilization over {seconds:g} s holds {found.replicas}"
