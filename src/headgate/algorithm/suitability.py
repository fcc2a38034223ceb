"""
Whether a job and its cluster are fit for reactive mode: everything that stands against it, at once (FLIP-159).

It judges facts and finds none. What is not known never speaks against a job; `unknown` names it instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a job and its cluster; None is not known."""

    streaming: bool | None = None
    """False for a batch job."""
    adaptive: bool | None = None
    """Whether the job's scheduler can change parallelism in place."""
    checkpoints: bool | None = None
    """Whether they are taken periodically."""
    unaligned: bool | None = None
    """Whether checkpoints may hold records that were under way."""
    fine_grained: bool | None = None
    """Whether slots are cut to measure instead of being equal parts of their worker."""
    hand_set: tuple[str, ...] | None = None
    """Vertices whose parallelism the program sets, by name."""
    bounds: Mapping[str, int] | None = None
    """Largest parallelism of each vertex, by name."""
    min_parallelism: int = 1
    """What the job's options want it to have at least."""
    reactive: bool | None = None
    """Whether the engine itself is in reactive mode (`scheduler-mode`): it takes no orders then."""
    application: bool | None = None
    """Whether the cluster is a standalone one of a single application."""
    jobs: int | None = None
    """Jobs of the cluster that are not over, this one included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One property that reactive mode needs."""

    fact: str
    is_broken: Callable[[Facts], object]
    """Asked only when the fact is known."""
    says: Callable[[Facts], str]


def unsuitable(facts: Facts) -> tuple[str, ...]:
    """Name every property that stands against reactive mode, and how to mend it; empty where nothing does."""
    return tuple(rule.says(facts) for rule in _rules(facts) if _is_known(facts, rule) and rule.is_broken(facts))


def unknown(facts: Facts) -> tuple[str, ...]:
    """Name the properties that count and are not known, in words."""
    return tuple(_IN_WORDS[rule.fact] for rule in _rules(facts) if not _is_known(facts, rule))


def _rules(facts: Facts) -> tuple[_Rule, ...]:
    return (*_COMMON, *(_OF_THE_ENGINE if facts.reactive else _OF_STEERING))


def _is_known(facts: Facts, rule: _Rule) -> bool:
    return getattr(facts, rule.fact) is not None


def _too_narrow(facts: Facts) -> dict[str, int]:
    return {name: bound for name, bound in (facts.bounds or {}).items() if bound < facts.min_parallelism}


def _names(names: Iterable[str] | None) -> str:
    return ", ".join(names or ())


_COMMON = (
    _Rule(
        fact="streaming",
        is_broken=lambda facts: not facts.streaming,
        says=lambda _: "it is a batch job: only a streaming job can be rescaled from a checkpoint",
    ),
    _Rule(
        fact="checkpoints",
        is_broken=lambda facts: not facts.checkpoints,
        says=lambda _: (
            "checkpoints are off: it would begin anew at each change. Hint: set execution.checkpointing.interval"
        ),
    ),
    _Rule(
        fact="unaligned",
        is_broken=lambda facts: facts.unaligned,
        says=lambda _: (
            "checkpoints are unaligned: records under way are bound to the old parallelism. "
            "Hint: set execution.checkpointing.unaligned.enabled to false"
        ),
    ),
    _Rule(
        fact="fine_grained",
        is_broken=lambda facts: facts.fine_grained,
        says=lambda _: (
            "its slots are cut to measure (fine-grained resources), so that nobody can tell how many a worker has. "
            "Hint: leave the resources of slot sharing groups to the engine"
        ),
    ),
    _Rule(
        fact="hand_set",
        is_broken=lambda facts: facts.hand_set,
        says=lambda facts: (
            f"the program sets the parallelism of {_names(facts.hand_set)}: it would be ignored. "
            "Hint: leave setParallelism() out of it; setMaxParallelism() is kept"
        ),
    ),
    _Rule(
        fact="bounds",
        is_broken=_too_narrow,
        says=lambda facts: (
            f"{_names(f'{name} can have {bound} at most' for name, bound in _too_narrow(facts).items())}, "
            f"less than reactive.min-parallelism {facts.min_parallelism}. Hint: lower it, or raise setMaxParallelism()"
        ),
    ),
)
_OF_STEERING = (
    _Rule(
        fact="adaptive",
        is_broken=lambda facts: not facts.adaptive,
        says=lambda _: (
            "its scheduler cannot change parallelism in place. "
            "Hint: start the cluster with jobmanager.scheduler: adaptive"
        ),
    ),
)
"""Where the engine is told what to use, in place; any number of jobs, on any kind of cluster."""
_OF_THE_ENGINE = (
    _Rule(
        fact="application",
        is_broken=lambda facts: not facts.application,
        says=lambda _: (
            "scheduler-mode: reactive is for standalone application clusters alone. Hint: leave it out, set "
            "jobmanager.scheduler: adaptive, and let Headgate steer the job by execution-mode: reactive"
        ),
    ),
    _Rule(
        fact="jobs",
        is_broken=lambda facts: (facts.jobs or 0) > 1,
        says=lambda facts: f"its cluster runs {facts.jobs} jobs: of a reactive cluster's workers one takes them all",
    ),
)
"""Where the engine itself uses all that there is (`scheduler-mode: reactive`)."""
_IN_WORDS = {
    "streaming": "whether it is a streaming job",
    "adaptive": "whether its scheduler can change parallelism in place",
    "checkpoints": "whether checkpoints are taken",
    "unaligned": "whether checkpoints are unaligned",
    "fine_grained": "whether its slots are cut to measure",
    "hand_set": "whether the program sets a vertex's parallelism",
    "bounds": "how large its vertices can be",
    "application": "whether the cluster is a standalone one of a single application",
    "jobs": "how many jobs its cluster runs",
}
