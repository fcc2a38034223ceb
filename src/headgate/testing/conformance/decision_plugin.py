"""
What every `DecisionPlugin` must do.

Use: subclass `DecisionPluginSuite` in a test file and define a fixture `plugin`.
"""

from __future__ import annotations

import pytest

from headgate.model.decision import Decision
from headgate.ports import Change, DecisionPlugin, JobContext
from headgate.testing.builders import context
from headgate.testing.conformance import material
from headgate.testing.conformance.travelling import answered, sent

Made = tuple[JobContext, Decision, Change]


class DecisionPluginSuite:
    """The contract of `headgate.ports.DecisionPlugin`, one behaviour a test."""

    @pytest.fixture
    def plugin(self) -> DecisionPlugin:
        """Give the plugin; every subclass has its own."""
        raise NotImplementedError

    @pytest.fixture
    def made(self) -> Made:
        """Give a job, a decision and its change that the plugin alters or forbids; override it if it would not."""
        return (context(), *material.rescale())

    def test_it_has_a_place_in_the_chain(self, plugin: DecisionPlugin) -> None:
        """A whole number, the lowest is asked first."""
        assert isinstance(plugin.priority, int)

    def test_it_does_something(self, plugin: DecisionPlugin, made: Made) -> None:
        """The change that it is made for leaves it altered or not at all."""
        assert plugin.decide(*made) != made[-1]

    def test_it_gives_a_change_of_the_job(self, plugin: DecisionPlugin, made: Made) -> None:
        """Whole numbers of 1 or more for vertices that the job has, or None, which forbids it."""
        changed = plugin.decide(*made)
        assert changed is None or isinstance(changed, Change)
        if changed is not None:
            assert changed.parallelism.keys() <= made[1].targets.keys()
            assert all(value == int(value) >= 1 for value in changed.parallelism.values())

    def test_the_same_decision_has_the_same_answer(self, plugin: DecisionPlugin, made: Made) -> None:
        """Time is that of the decision."""
        assert plugin.decide(*sent(made)) == plugin.decide(*made)

    def test_what_it_is_given_stays_as_it_was(self, plugin: DecisionPlugin, made: Made) -> None:
        """Values belong to everybody, the plugins after it included."""
        before = sent(made)
        plugin.decide(*made)
        assert made == before

    def test_its_answer_travels_to_another_process(self, plugin: DecisionPlugin, made: Made) -> None:
        """Decision plugins run in a worker process."""
        answer = plugin.decide(*made)
        assert answered(DecisionPlugin, "decide", answer) == answer

    def test_a_change_without_parallelism_is_no_error(self, plugin: DecisionPlugin, made: Made) -> None:
        """A plugin before it may have left only configuration, or nothing."""
        ctx, decision, _ = made
        answer = plugin.decide(ctx, decision, Change(parallelism={}))
        assert answer is None or isinstance(answer, Change)
