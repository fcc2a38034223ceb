"""The signs of life of a running service: what it does at which times, what answers it, and what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from threading import Lock

from headgate.control.leases import LeaseStanding
from headgate.control.runner import Beat, TickRun, Work
from headgate.model.orders import StandingOrders

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How new what is known of a cluster's jobs is."""

    newest: datetime | None = None
    """Tick of the newest sample that was kept."""
    fresh_at: datetime | None = None
    """When last nothing was missing: a sample was kept, or no job ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """All of them at one instant."""

    at: datetime
    born: datetime
    """When the process began to get ready."""
    beats: Mapping[str, Beat] = field(default_factory=dict)
    """The latest of each loop, by its name."""
    evaluating_since: datetime | None = None
    """When the oldest evaluation began that has not come to an end and was not abandoned."""
    evaluation_fault: str | None = None
    """Why the last evaluation that ended gave nothing; None when it gave something."""
    cycle: TickRun | None = None
    """The last decision tick that is over."""
    store_asked: bool = False
    """Whether the state store was ever asked for anything."""
    store_fault: str | None = None
    """Why the state store did not answer when last asked; None when it did."""
    store_errors: int = 0
    """Calls that the state store did not answer."""
    log_errors: Mapping[str, int] = field(default_factory=dict)
    """Writes to the samples log that failed, by table."""
    clusters: Mapping[str, Freshness] = field(default_factory=dict)
    orders: StandingOrders | None = None
    """As read last; None before they ever were."""
    leases: LeaseStanding | None = None
    """None where jobs are not divided."""
    stopping: bool = False


class Vitals:
    """Takes the signs in as they happen and gives them out together; safe to call from several threads."""

    def __init__(self, clock: Clock = lambda: datetime.now(UTC)) -> None:
        """Know nothing yet."""
        self._clock = clock
        self._born = clock()
        self._lock = Lock()
        self._beats: dict[str, Beat] = {}
        self._evaluations: dict[int, tuple[object, datetime]] = {}
        self._numbers = count()
        self._evaluation_fault: str | None = None
        self._cycle: TickRun | None = None
        self._store_asked = False
        self._store_fault: str | None = None
        self._store_errors = 0
        self._log_errors: Counter[str] = Counter()
        self._clusters: dict[str, Freshness] = {}
        self._orders: StandingOrders | None = None
        self._leases: Callable[[], LeaseStanding | None] = lambda: None
        self._stopping = False

    def read(self) -> Signs:
        """Give what is known now; it does not change afterwards."""
        with self._lock:
            return Signs(
                at=self._clock(),
                born=self._born,
                beats=dict(self._beats),
                evaluating_since=min((began for _, began in self._evaluations.values()), default=None),
                evaluation_fault=self._evaluation_fault,
                cycle=self._cycle,
                store_asked=self._store_asked,
                store_fault=self._store_fault,
                store_errors=self._store_errors,
                log_errors=dict(self._log_errors),
                clusters=dict(self._clusters),
                orders=self._orders,
                leases=self._leases(),
                stopping=self._stopping,
            )

    def began(self, beat: Beat) -> None:
        """Take the begin of a loop's tick."""
        with self._lock:
            self._beats[beat.loop] = beat

    def ended(self, run: TickRun) -> None:
        """Take the end of a tick."""
        if run.work is Work.DECIDE:
            with self._lock:
                self._cycle = run

    @contextmanager
    def evaluating(self, by: object = None) -> Iterator[None]:
        """
        Take an evaluation, from its begin to its end, and why it failed if it does; it fails all the same.

        One that succeeds shows that its evaluator has abandoned those before it that have not come to an end: whatever
        becomes of them, they hold up nothing.

        Args:
            by: the evaluator.
        """
        this, fault = next(self._numbers), None
        with self._lock:
            self._evaluations[this] = by, self._clock()
        try:
            yield
        except Exception as error:
            fault = str(error) or type(error).__name__
            raise
        finally:
            with self._lock:
                if self._evaluations.pop(this, None) is not None:
                    self._evaluation_fault = fault
                if fault is None:
                    abandoned = [one for one, (its, _) in self._evaluations.items() if its is by and one < this]
                    for one in abandoned:
                        del self._evaluations[one]

    def asked_store(self, fault: str | None) -> None:
        """Take what came of a call of the state store: why it did not answer, or None when it did."""
        with self._lock:
            self._store_asked = True
            self._store_fault = fault
            self._store_errors += fault is not None

    def ordered(self, orders: StandingOrders) -> None:
        """Take what people have ordered, as it was read."""
        with self._lock:
            self._orders = orders

    @contextmanager
    def keeping(self, table: str) -> Iterator[None]:
        """Count a write to the samples log if it fails; it fails all the same."""
        try:
            yield
        except Exception:
            with self._lock:
                self._log_errors[table] += 1
            raise

    def expect(self, clusters: Collection[str]) -> None:
        """Take the names of the clusters of which something is to be heard."""
        with self._lock:
            self._clusters |= {cluster: Freshness() for cluster in clusters if cluster not in self._clusters}

    def sampled(self, cluster: str, newest: datetime) -> None:
        """Note that samples of a tick were kept."""
        with self._lock:
            self._clusters[cluster] = Freshness(newest=newest, fresh_at=self._clock())

    def idled(self, cluster: str) -> None:
        """Note that no job of a cluster runs, so that no sample is to be had."""
        with self._lock:
            known = self._clusters.get(cluster, Freshness())
            self._clusters[cluster] = Freshness(newest=known.newest, fresh_at=self._clock())

    def divide(self, leases: Callable[[], LeaseStanding | None]) -> None:
        """Let the leases be asked for where they stand, whenever the signs are read."""
        self._leases = leases

    def stop(self) -> None:
        """Note that the service is to end."""
        with self._lock:
            self._stopping = True
