"""What is known from one cycle to the next of reactive jobs and their clusters. Lost with the process, without harm."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from headgate.algorithm.reactive.shares import SlotWish
from headgate.algorithm.reactive.slots import slots_of
from headgate.algorithm.reactive.timings import Offers
from headgate.model.identity import JobKey, VertexId
from headgate.model.samples import JobSample


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one reactive job stands."""

    wish: SlotWish
    offers: Offers
    total: int
    """Slots of its cluster, without those of workers that are about to go."""

    def slots_for(self, sample: JobSample) -> int:
        """
        Give the slots that the job may use now.

        More than were settled where it uses them already: the engine may have grown it by itself when a worker came
        back, and is not fought.
        """
        settled, latest = self.offers.settled or 0, self.offers.latest
        return max(settled, min(latest, slots_of(sample.topology)))

    @property
    def is_short(self) -> bool:
        """Tell whether it has lacked slots for as long as a lost worker may take to come back."""
        return self.offers.settled is not None and max(self.offers.settled, self.offers.latest) < self.wish.least


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What the engine may give to a job that stays as it runs, so that nobody else's least is taken at a restart."""

    job_id: str
    slots: int
    """The job's share."""
    parallelism: Mapping[VertexId, int]


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Read and written by the decider and by who steers the workers, within one cycle at a time."""

    standings: dict[JobKey, Standing] = field(default_factory=dict)
    steered: set[str] = field(default_factory=set)
    """Clusters whose workers follow the needs of their jobs."""
    paused: frozenset[JobKey] = frozenset()
    """Jobs of which nothing may be changed: for them no worker is added or removed."""
    are_all_paused: bool = False
    """Whether all jobs are, also those that nobody sees: then no cluster gets another number of workers."""
    needs: dict[JobKey, int] = field(default_factory=dict)
    """Slots that each job needs by its load, of those that were evaluated in this cycle and for which it matters."""
    jobs: dict[str, int] = field(default_factory=dict)
    """How many jobs each cluster with a reactive one has."""
    caps: dict[str, int] = field(default_factory=dict)
    """Slots of a cluster that may still be used while some of its workers are about to go."""
    rooms: dict[str, int] = field(default_factory=dict)
    """Slots that a cluster can have when it has all the workers that it may; 0 where none can be had now."""
    promised: dict[JobKey, int] = field(default_factory=dict)
    """Slots more that each job was last decided to take; until it is decided for again they may still count as free."""
    used: dict[JobKey, int] = field(default_factory=dict)
    """Slots that each job was seen to use at the begin of the cycle; one of which nothing runs is absent."""
    reserved: dict[JobKey, int] = field(default_factory=dict)
    """Slots in all of each job that is being replaced or waits for it, also while nothing of it runs."""

    holds: dict[JobKey, Hold] = field(default_factory=dict)
    """Of the jobs that were decided in this cycle to stay as they run."""
    held: dict[JobKey, Hold] = field(default_factory=dict)
    """What the engine was told last."""

    def due(self, job: JobKey) -> Hold | None:
        """Give what the engine is still to be told of a job."""
        hold = self.holds.get(job)
        return None if hold == self.held.get(job) else hold

    def has_shrunk(self, job: JobKey, slots: int) -> bool:
        """Tell whether the job's share was larger when the engine was told of it."""
        held = self.held.get(job)
        return held is not None and slots < held.slots

    def keep_only(self, jobs: Iterable[JobKey]) -> None:
        """Forget the others, and what was needed in the last cycle."""
        known = set(jobs)
        self.standings = {job: standing for job, standing in self.standings.items() if job in known}
        self.held = {job: hold for job, hold in self.held.items() if job in known}
        self.holds.clear()
        self.needs.clear()

    def keep_promises(self, jobs: Collection[JobKey]) -> None:
        """Forget what was promised to the others."""
        for job in (self.promised.keys() | self.reserved.keys()) - set(jobs):
            self.release(job)

    def release(self, job: JobKey) -> None:
        """Forget what was promised to a job."""
        self.promised.pop(job, None)
        self.reserved.pop(job, None)
