"""A simulated cluster: jobs, slots, a clock that is moved from outside, and what goes wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headgate.engines.simulated.failures import Failure, FailureKind
from headgate.engines.simulated.graph import SimulatedJob
from headgate.engines.simulated.job import RunningJob
from headgate.engines.simulated.restart import Cause
from headgate.engines.simulated.settings import Conditions
from headgate.engines.simulated.sickness import Memory, Sickness, SicknessKind

START = datetime(2026, 1, 1, tzinfo=UTC)
"""When every simulation begins: midnight of a Thursday."""

_EPSILON_S = 1e-9
_LOST = "org.apache.flink.runtime.jobmaster.JobMasterException: TaskManager is no longer reachable."


class SimulatedCluster:
    """
    Jobs that run as fluids, in steps.

    Attributes:
        name: of the cluster, in job keys.
        conditions: what its jobs run under.
        memory: what its TaskManagers have.
        now_s: seconds since `START`.
        jobs: those that are there, by name.
        gone: those that are not, by name; they may come back.
    """

    def __init__(
        self,
        jobs: Iterable[SimulatedJob],
        *,
        conditions: Conditions | None = None,
        failures: Sequence[Failure] = (),
        name: str = "simulated",
    ) -> None:
        """Submit the jobs, the first ones first where slots are short."""
        self.name = name
        self.conditions = conditions or Conditions()
        self.memory = Memory()
        self.now_s = 0.0
        self.jobs: dict[str, RunningJob] = {}
        self.gone: dict[str, RunningJob] = {}
        self._failures = failures
        self._turns = sorted(_turns(failures), key=lambda turn: turn[0], reverse=True)
        self._lost_slots = 0
        self._good: dict[str, SimulatedJob] = {}
        self._measured_s = 0.0
        for job in jobs:
            self.jobs[job.name] = RunningJob(job, self.conditions, slots=self.slots_for(job.name))

    @property
    def now(self) -> datetime:
        """The cluster's clock."""
        return START + timedelta(seconds=self.now_s)

    @property
    def slots_total(self) -> int:
        """Slots of the TaskManagers that are there."""
        return max(0, self.conditions.settings.slots - self._lost_slots)

    @property
    def slots_free(self) -> int:
        """Slots that no job takes."""
        return max(0, self.slots_for(""))

    def slots_for(self, job: str) -> int:
        """Slots that no other job takes."""
        return self.slots_total - sum(other.slots for name, other in self.jobs.items() if name != job)

    def advance_to(self, at_s: float) -> None:
        """Let time pass, up to so many seconds since `START`."""
        while self.now_s < at_s - _EPSILON_S:
            self._step(min(self.conditions.step_s, at_s - self.now_s))

    def deploy(self, job: SimulatedJob) -> None:
        """Let a user submit a job anew, as it is given here, in the place of the one of the same name."""
        self.jobs[job.name].deploy(job, self.now_s, slots=self.slots_for(job.name))

    def raise_memory(self, *, network: float = 1.0, heap: float = 1.0) -> None:
        """Start the TaskManagers anew with so many times the memory that they have; every job restarts."""
        self.memory = Memory(network=self.memory.network * network, heap=self.memory.heap * heap)
        for name, job in self.jobs.items():
            job.equip(self.memory, self.now_s, slots=self.slots_for(name))

    def suffers(self, kind: FailureKind, job: str = "") -> Failure | None:
        """Return the failure of a kind that goes on now for a job, or for the cluster."""
        lasting = (
            failure
            for failure in self._failures
            if failure.what is kind and failure.concerns(job) and failure.lasts_at(self.now_s)
        )
        return next(lasting, None)

    def _step(self, step_s: float) -> None:
        self._strike()
        for name, job in self.jobs.items():
            job.step(self.now_s, step_s, slots=self.slots_for(name))
        for job in self.gone.values():
            for task in job.tasks.values():
                task.arrive(self.now_s, step_s)
        self.now_s += step_s
        if self.now_s >= self._measured_s + self.conditions.settings.metric_refresh.total_seconds() - _EPSILON_S:
            self._measured_s = self.now_s
            for job in self.jobs.values():
                job.measure(self.now_s)

    def _strike(self) -> None:
        """Carry out every failure that begins or ends by now."""
        while self._turns and self._turns[-1][0] <= self.now_s + _EPSILON_S:
            _, begins, failure = self._turns.pop()
            if failure.what is FailureKind.TASK_MANAGER:
                self._change_slots(failure.slots if begins else -failure.slots)
            elif not begins:
                self._return(failure)
            else:
                self._hit(failure)

    def _hit(self, failure: Failure) -> None:
        for name, job in list(self.jobs.items()):
            if not failure.concerns(name) or job.is_finished:
                continue
            match failure.what:
                case FailureKind.JOB:
                    job.retries.note(self.now_s, "java.lang.RuntimeException: failed, as the scenario has it")
                    job.restart(self.now_s, Cause.FAILURE, slots=self.slots_for(name))
                case FailureKind.VERTEX:
                    self._hit_vertices(job, failure)
                case FailureKind.VANISHING:
                    self.gone[name] = self.jobs.pop(name)
                case FailureKind.DEPLOYMENT:
                    self._good.setdefault(name, job.spec)
                    self.deploy(replace(job.spec, sicknesses=(Sickness(what=SicknessKind.FAILING),)))

    def _hit_vertices(self, job: RunningJob, failure: Failure) -> None:
        for vertex in job.tasks:
            if failure.vertex in {"", vertex}:
                job.fail_vertex(vertex, failure.end_s)

    def _return(self, failure: Failure) -> None:
        """Submit the jobs again that vanished, where they had stopped, and good ones for bad ones."""
        if failure.what is FailureKind.DEPLOYMENT:
            for name in [name for name in self._good if failure.concerns(name) and name in self.jobs]:
                self.deploy(self._good.pop(name))
        if failure.what is not FailureKind.VANISHING:
            return
        for name in [name for name in self.gone if failure.concerns(name)]:
            job = self.jobs[name] = self.gone.pop(name)
            job.resubmit(self.now_s, slots=self.slots_for(name))

    def _change_slots(self, lost: int) -> None:
        """Take slots away, at which the jobs restart, or give them back, of which the jobs take note by themselves."""
        self._lost_slots += lost
        if lost < 0:
            return
        left = self.slots_total
        for job in self.jobs.values():
            if not job.is_finished:
                job.retries.note(self.now_s, _LOST)
                job.restart(self.now_s, Cause.SLOTS, slots=left)
                left -= job.slots


def _turns(failures: Iterable[Failure]) -> Iterable[tuple[float, bool, Failure]]:
    """Give the beginnings, and the ends of what lasts."""
    for failure in failures:
        yield failure.at.total_seconds(), True, failure
        if failure.duration:
            yield failure.end_s, False, failure
