"""
Circumstances of decisions as rows of the log and back, each thing said once as long as it holds.

Most jobs of a fleet are in the circumstances of the cycle before: such a job has no row at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import TypeAdapter

from headgate.model.downtime import Downtime
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.model.metrics import NotReady
from headgate.model.orders import Orders
from headgate.model.redeploy import Launch
from headgate.model.rollback import Trial
from headgate.model.samples import EngineSettings
from headgate.model.state import UNSEEN, Intent, JobState, ScalingRecord
from headgate.model.tables import CIRCUMSTANCES
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import declarations
from headgate.options.service import Mode
from headgate.options.signals import SignalOptions
from headgate.ports import Circumstances, JobContext
from headgate.samplelog.layout import epoch_ms, instant

_NO_SAMPLE = -1


@dataclass(frozen=True, slots=True)
class _Service:
    """How the service ran."""

    mode: Mode
    collect_interval: timedelta


@dataclass(frozen=True, slots=True)
class _Listed:
    """The job as its cluster listed it."""

    job_id: str
    status: JobStatus
    started_at: datetime | None = None
    since: datetime | None = None
    problem: NotReady | None = None


_TEXTS: Mapping[str, TypeAdapter[Any]] = {
    "service": TypeAdapter(_Service),
    "listed": TypeAdapter(_Listed),
    "settings": TypeAdapter(EngineSettings | None),
    "options": TypeAdapter(AutoscalerOptions),
    "state": TypeAdapter(JobState),
    "history": TypeAdapter(tuple[ScalingRecord, ...]),
    "downtime": TypeAdapter(Downtime | None),
    "orders": TypeAdapter(Orders),
}
"""The columns that hold JSON, with what stands in them."""

_SECRETS = {each.name: each.default for each in declarations(SignalOptions) if each.secret}

_COLUMNS = ("behind_ms", *_TEXTS)

Facts = tuple[Any, ...]
"""The values of one job in the order of the columns."""


@dataclass(slots=True)
class News:
    """Knows what a process has said of each job, and tells what of its circumstances is new."""

    _said: dict[JobKey, tuple[datetime, Facts]] = field(default_factory=dict)
    _saying: dict[JobKey, tuple[datetime, Facts]] = field(default_factory=dict)
    _early: bool = False

    def table(self, circumstances: Sequence[Circumstances]) -> pa.Table:
        """Give the rows that say what is new; a job of which nothing is has none."""
        texts = _Texts()
        self._saying = {each.ctx.key: (each.at, _facts(each)) for each in circumstances}
        self._early = any(each.early for each in circumstances)
        rows = [self._row(job, texts) for job in self._saying]
        return pa.Table.from_pylist([row for row in rows if row], schema=CIRCUMSTANCES)

    def keep(self) -> None:
        """Take the last table as said; of a job without part in a cycle another process may say something meanwhile."""
        self._said = {**self._said, **self._saying} if self._early else self._saying

    def _row(self, job: JobKey, texts: _Texts) -> Mapping[str, Any] | None:
        (now, facts), (at, said) = self._saying[job], self._said.get(job, (None, ()))
        # The same tick again replaces its file, so it must hold again what it held.
        if at is None or at == now or _hour(at) != _hour(now):
            new = dict(zip(_COLUMNS, facts, strict=True))
        elif facts == said:
            return None
        else:
            pairs = zip(_COLUMNS, facts, said, strict=True)
            new = {name: fact for name, fact, old in pairs if _plain(name, fact) != _plain(name, old)}
        told = {name: fact if name == "behind_ms" else texts.of(name, fact) for name, fact in new.items()}
        return {"job": str(job), "at_ms": epoch_ms(now), **told} if told else None


class _Texts:
    """Writes values as JSON, one that many jobs of a tick share only once."""

    def __init__(self) -> None:
        """Know of none yet."""
        self._known: dict[tuple[str, int], tuple[Any, str]] = {}

    def of(self, name: str, fact: Any) -> str:
        """Write a value of a column."""
        known = self._known.get((name, id(fact)))
        if known is None:
            # What is an option's default may become another one: options are kept whole.
            whole = name == "options"
            plain = _TEXTS[name].dump_python(_plain(name, fact), mode="json", exclude_defaults=not whole)
            known = self._known[name, id(fact)] = fact, json.dumps(plain, separators=(",", ":"))
        return known[1]


def read_circumstances(rows: Iterable[Mapping[str, Any]]) -> Iterator[Circumstances]:
    """
    Read one job's circumstances, each row's as they hold from its tick on.

    Args:
        rows: of one job in the order of time, the first of them at the begin of an hour or of a process.
    """
    known: dict[str, Any] = {}
    for row in rows:
        known |= {name: row[name] for name in ("job", "at_ms", *_COLUMNS) if row[name] is not None}
        if len(known) == len(_COLUMNS) + 2:
            yield _read(known)


def read_options(text: str) -> AutoscalerOptions:
    """Read what stands in the column `options`."""
    read: AutoscalerOptions = _value("options", text)
    return read


def read_settings(text: str) -> EngineSettings | None:
    """Read what stands in the column `settings`."""
    read: EngineSettings | None = _value("settings", text)
    return read


def as_of(known: Circumstances, at: datetime) -> Circumstances:
    """Give circumstances that still hold at a later tick: the sample's age is what stays."""
    sampled_at = known.sampled_at
    return replace(known, at=at, sampled_at=sampled_at and sampled_at + (at - known.at))


def _read(row: Mapping[str, Any]) -> Circumstances:
    read = {name: _value(name, row[name]) for name in _TEXTS}
    service, listed, at = read["service"], read["listed"], instant(row["at_ms"])
    behind = row["behind_ms"]
    return Circumstances(
        at=at,
        ctx=JobContext(
            key=JobKey.parse(row["job"]),
            job_id=listed.job_id,
            status=listed.status,
            options=read["options"],
            started_at=listed.started_at,
            orders=read["orders"],
        ),
        mode=service.mode,
        collect_interval=service.collect_interval,
        sampled_at=None if behind == _NO_SAMPLE else at - timedelta(milliseconds=behind),
        settings=read["settings"],
        since=listed.since,
        problem=listed.problem,
        state=replace(read["state"], history=read["history"]),
        downtime=read["downtime"],
    )


@lru_cache(maxsize=4096)
def _value(name: str, text: str) -> Any:
    return _TEXTS[name].validate_json(text)


def _facts(each: Circumstances) -> Facts:
    """Give what was known as it is at hand: of a fleet at rest nothing is made anew, only compared."""
    ctx = each.ctx
    return (
        _NO_SAMPLE if each.sampled_at is None else epoch_ms(each.at) - epoch_ms(each.sampled_at),
        (each.mode, each.collect_interval),
        (ctx.job_id, ctx.status, ctx.started_at, each.since, each.problem),
        each.settings,
        ctx.options,
        each.state,
        each.state,
        each.downtime,
        ctx.orders,
    )


def _plain(name: str, fact: Any) -> Any:
    """Give what a column says of a fact."""
    says = _SAYS.get(name)
    return says(fact) if says else fact


def _discreet(options: AutoscalerOptions) -> AutoscalerOptions:
    """Leave out what signals are asked for where it may hold a secret; what a decision depends on is their values."""
    if not options.signals_in_force:
        return options
    return replace(options, signals_in_force=tuple(replace(each, **_SECRETS) for each in options.signals_in_force))


def _decided_by(state: JobState) -> JobState:
    """Leave out the history, which stands apart, and what no decision depends on: launch specs may hold secrets."""
    if state is UNSEEN:
        return state
    intent, trial = state.intent, state.trial
    return replace(
        state,
        history=(),
        outbox=(),
        launch=_bare(state.launch),
        intent=intent and replace(_without_launch(intent), trial=intent.trial and _without_launch(intent.trial)),
        trial=trial and _without_launch(trial),
    )


_Redeploying = TypeVar("_Redeploying", Intent, Trial)


def _without_launch(one: _Redeploying) -> _Redeploying:
    redeploy = one.redeploy
    return replace(one, redeploy=redeploy and replace(redeploy, launch=_bare(redeploy.launch)))


def _bare(launch: Launch | None) -> Launch | None:
    return None if launch is None else replace(launch, jar="", args=(), configuration={})


_SAYS: Mapping[str, Callable[[Any], Any]] = {
    "service": lambda fact: _Service(*fact),
    "listed": lambda fact: _Listed(*fact),
    "options": _discreet,
    "state": _decided_by,
    "history": lambda fact: fact.history,
    # What people have set is in the options, and what they wrote need not be fit to be kept.
    "orders": lambda fact: replace(fact, options={}, given={}),
}
"""What is said of a fact where that is not all of it."""


def _hour(at: datetime) -> tuple[int, int]:
    return at.toordinal(), at.hour
