"""A simulated job over time: it runs step by step, takes checkpoints, restarts at another parallelism, finishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headgate.engines.simulated.graph import SimulatedJob
from headgate.engines.simulated.restart import Cause, Restart
from headgate.engines.simulated.retries import Retries
from headgate.engines.simulated.settings import Conditions
from headgate.engines.simulated.sickness import Diagnosis, Memory, diagnose
from headgate.engines.simulated.snapshot import Gauge, Snapshot
from headgate.engines.simulated.task import Task, connect, task_of
from headgate.model.measures import JobStatus

_EPSILON_S = 1e-9


class RunningJob:
    """
    One job, submitted once or more often.

    Attributes:
        spec: what it is.
        job_id: another one when it vanished and came back, or was submitted anew.
        tasks: by name, sources first.
        required: the parallelism asked for; what runs may be less, for want of slots.
        parallelism: what runs, or is being started.
        topology: the graph as it runs.
        submitted_s: when it was last submitted.
        running_since_s: when it last began to run.
        restarts: all so far; the last one may lie partly in the future.
        snapshots: what the engine last measured of each vertex.
        memory: what its TaskManagers have.
        diagnosis: how it is at this parallelism.
        retries: what it failed of.
    """

    def __init__(self, spec: SimulatedJob, conditions: Conditions, *, slots: int) -> None:
        """Submit the job at the beginning of time; it runs at once, with so many slots."""
        self._conditions = conditions
        self._settings = conditions.settings
        self.required: Mapping[str, int] = {}
        self._submissions = 0
        self.submitted_s = 0.0
        self.running_since_s = 0.0
        self.restarts: list[Restart] = []
        self.snapshots: dict[str, Snapshot] = {}
        self.memory = Memory()
        self.diagnosis = Diagnosis()
        self.retries = Retries(conditions.settings.restart)
        self._restarts_before = 0
        self._until_s = 0.0
        self._checkpoint_s = 0.0
        self._asked = False
        self._apart_since_s: float | None = None
        self._draw_up(spec)
        self._start(self._possible(slots))

    @property
    def job_id(self) -> str:
        """The engine's id of this submission."""
        return f"{self.spec.name}-{self._submissions}"

    @property
    def restarts_of_submission(self) -> int:
        """How often it was restarted since it was submitted."""
        return len(self.restarts) - self._restarts_before

    @property
    def slots(self) -> int:
        """How many slots it takes: all vertices share them; none once it has finished."""
        return 0 if self.is_finished else max(self.parallelism.values())

    @property
    def is_finished(self) -> bool:
        """Tell whether every vertex has read all that it will ever get."""
        return all(task.finished for task in self.tasks.values())

    @property
    def checkpoint_s(self) -> float:
        """When the last checkpoint was, or the restart after it."""
        return self._checkpoint_s

    def status(self, now_s: float) -> JobStatus:
        """Tell what the engine calls the job."""
        if self.is_finished:
            return JobStatus.FINISHED
        if self._is_down(now_s):
            return JobStatus.RESTARTING
        if self._gives_way(now_s) or any(now_s < task.down_until_s for task in self.tasks.values()):
            return JobStatus.STARTING
        return JobStatus.RUNNING

    def is_up(self, now_s: float) -> bool:
        """Tell whether it is not restarting, nor about to."""
        return not self._is_down(now_s) and not self._gives_way(now_s)

    def require(self, parallelism: Mapping[str, int], now_s: float) -> bool:
        """Ask for a parallelism; tell whether that is something new."""
        wanted = {**self.required, **parallelism}
        if wanted == self.required:
            return False
        self.required, self._asked, self._apart_since_s = wanted, True, now_s
        return True

    def step(self, now_s: float, step_s: float, *, slots: int) -> None:
        """Go on for one step, with so many slots for this job."""
        for task in self.tasks.values():
            task.arrive(now_s, step_s)
        self._fail_and_retry(now_s, slots)
        if self.is_up(now_s) and not self.is_finished:
            for task in self._sinks_first:
                if not task.finished and now_s >= task.down_until_s:
                    task.run(step_s)
            if self._is_bounded:
                self._finish_what_is_drained()
            self._check(now_s + step_s, slots)

    def restart(self, now_s: float, cause: Cause, *, slots: int) -> None:
        """Stop everything, and start again at the parallelism asked for, as far as the slots go."""
        before, began_s = self.parallelism, now_s if self.retries.failed_s is None else self.retries.failed_s
        self.retries.end()
        if self._settings.restart.replays:
            self._rewind()
        self._start(self._possible(slots))
        downtime_s = self._settings.restart.downtime_s(self.spec, self.parallelism)
        self._until_s = self.running_since_s = self._checkpoint_s = now_s + downtime_s
        self._asked, self._apart_since_s = False, None
        self.restarts.append(
            Restart(cause=cause, began_s=began_s, ended_s=self._until_s, before=before, after=self.parallelism)
        )

    def resubmit(self, now_s: float, *, slots: int) -> None:
        """Come back under another job id, with what waited and what was in flight."""
        self._count_submission(now_s)
        self.restart(now_s, Cause.FAILURE, slots=slots)

    def deploy(self, spec: SimulatedJob, now_s: float, *, slots: int) -> None:
        """Be submitted anew by its user: another job id and maybe another graph; sources go on where they stood."""
        before = self.tasks
        self._count_submission(now_s)
        self._draw_up(spec)
        latest = max(task.epoch for task in before.values())
        for name, task in self.tasks.items():
            task.epoch = latest
            if name in before:
                task.follow(before[name])
        self._remember_positions()
        self.restart(now_s, Cause.DEPLOYMENT, slots=slots)

    def equip(self, memory: Memory, now_s: float, *, slots: int) -> None:
        """Restart on TaskManagers with other memory."""
        self.memory = memory
        self.restart(now_s, Cause.MEMORY, slots=slots)

    def fail_vertex(self, name: str, until_s: float) -> None:
        """Let one vertex be down for a while and count from 0."""
        task = self.tasks[name]
        task.start(task.parallelism, self._conditions.step_s)
        task.down_until_s = until_s

    def measure(self, now_s: float) -> None:
        """Take the values that the engine will tell until the next time."""
        if not self.is_up(now_s):
            return
        for name, task in self.tasks.items():
            if now_s >= task.down_until_s:
                self.snapshots[name] = self._gauges[name].read(task, now_s)

    def _draw_up(self, spec: SimulatedJob) -> None:
        """Take a job's graph and parallelism, nothing of it started yet."""
        self.spec = spec
        self.topology = spec.topology
        self.tasks = _tasks(spec, f"{self._conditions.seed}/{spec.name}")
        self._sinks_first = list(reversed(self.tasks.values()))
        self._is_bounded = any(vertex.records is not None for vertex in spec.vertices)
        self._gauges = {name: Gauge(self._conditions, f"{spec.name}/{name}") for name in self.tasks}
        self.required = {vertex.name: vertex.parallelism for vertex in spec.vertices}

    def _count_submission(self, now_s: float) -> None:
        self.submitted_s = now_s
        self._submissions += 1
        self._restarts_before = len(self.restarts)
        self.retries.forget()

    def _is_down(self, now_s: float) -> bool:
        return now_s < self._until_s or self.retries.failed_s is not None

    def _gives_way(self, now_s: float) -> bool:
        """Tell whether it has run for as long as its sickness lets it."""
        return now_s >= self.running_since_s + self.diagnosis.lasts_s - _EPSILON_S

    def _fail_and_retry(self, now_s: float, slots: int) -> None:
        if self.retries.is_due(now_s):
            self.restart(now_s, Cause.RESCALE if self._asked else Cause.FAILURE, slots=slots)
        elif not self._is_down(now_s) and self._gives_way(now_s) and not self.is_finished:
            self.retries.fail(now_s, self.diagnosis.text)

    def _start(self, parallelism: Mapping[str, int]) -> None:
        self.diagnosis = diagnose(self.spec.sicknesses, parallelism, self.memory)
        for name, task in self.tasks.items():
            task.speed = self.diagnosis.speed
            task.start(parallelism[name], self._conditions.step_s)
            task.down_until_s = 0.0
        self.parallelism = parallelism
        self.snapshots = {}
        self._draw_graph()

    def _possible(self, slots: int) -> dict[str, int]:
        return {name: max(1, min(wanted, slots)) for name, wanted in self.required.items()}

    def _check(self, now_s: float, slots: int) -> None:
        """Take a checkpoint when one is due, and begin a rescale that is wanted and possible."""
        interval_s = self._settings.checkpoint_interval.total_seconds()
        due = interval_s > 0 and now_s >= self._checkpoint_s + interval_s - _EPSILON_S
        if due:
            self._checkpoint_s = now_s
            self._remember_positions()
        if self.required == self.parallelism or self._possible(slots) == self.parallelism:
            return
        if self._apart_since_s is None:
            self._apart_since_s = now_s
        if (due or not interval_s) and now_s >= self._earliest_rescale_s(self._apart_since_s, slots):
            self.restart(now_s, Cause.RESCALE if self._asked else Cause.SLOTS, slots=slots)

    def _earliest_rescale_s(self, apart_since_s: float, slots: int) -> float:
        complete = self._possible(slots) == self.required
        wait_s = 0.0 if complete else self._settings.stabilization.total_seconds()
        cooled_s = self.running_since_s + self._settings.cooldown.total_seconds() if self.restarts else 0.0
        return max(apart_since_s + wait_s, cooled_s)

    def _remember_positions(self) -> None:
        for task in self.tasks.values():
            if task.backlog is not None:
                task.backlog.checkpoint()
            for channel in task.inputs:
                channel.at_checkpoint = channel.queued

    def _rewind(self) -> None:
        for task in self.tasks.values():
            if task.backlog is not None:
                task.backlog.rewind()
            for channel in task.inputs:
                channel.queued = channel.at_checkpoint

    def _finish_what_is_drained(self) -> None:
        for task in self.tasks.values():
            if not task.finished and self._gets_nothing_more(task) and task.is_drained():
                task.finished = True
                self._draw_graph()

    def _gets_nothing_more(self, task: Task) -> bool:
        return all(self.tasks[channel.edge.source].finished for channel in task.inputs)

    def _draw_graph(self) -> None:
        vertices = tuple(
            replace(vertex, parallelism=task.parallelism, finished=task.finished)
            for vertex in self.topology.vertices
            for task in (self.tasks[vertex.name],)
        )
        self.topology = replace(self.topology, vertices=vertices)


def _tasks(spec: SimulatedJob, seed: str) -> dict[str, Task]:
    graph = spec.topology
    specs = {vertex.name: vertex for vertex in spec.vertices}
    tasks = {
        vertex.name: task_of(specs[vertex.name], is_source=graph.is_source(vertex.id), seed=seed)
        for vertex in graph.vertices
    }
    for edge in spec.connections:
        connect(tasks[edge.source], tasks[edge.target], edge)
    return tasks
