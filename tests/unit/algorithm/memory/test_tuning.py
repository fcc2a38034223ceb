"""Memory settings for a change fit what was measured and never exceed the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from headgate.algorithm.memory.config import Key, MemoryConfig
from headgate.algorithm.memory.flink_sizes import ProcessMemory, derive_memory
from headgate.algorithm.memory.tuning import Tuned, Untuned, recommendation, tuned_memory
from headgate.algorithm.resources import Rescale
from headgate.algorithm.wording import memory_size
from headgate.model.events import EventReason, EventType
from headgate.model.metrics import EvaluatedMetrics, JobMetric, JobValue
from headgate.model.samples import EngineSettings
from headgate.options.autoscaler import AutoscalerOptions
from headgate.testing.builders import chain, evaluated

GIB = 2**30
RESCALE = Rescale(before=chain({"source": 8, "sink": 8}), after=chain({"source": 4, "sink": 4}))
SETTINGS = EngineSettings(slots_per_task_manager=4, task_manager_memory_bytes=8 * GIB, memory={Key.PROCESS_SIZE: "8g"})
OPTIONS = AutoscalerOptions(memory_tuning_enabled=True)
USED: Mapping[JobMetric, float] = {
    JobMetric.METASPACE_MEMORY_USED: 0.1 * GIB,
    JobMetric.HEAP_MEMORY_USED: GIB,
    JobMetric.MANAGED_MEMORY_USED: 0,
}


def _using(used: Mapping[JobMetric, float] = USED) -> EvaluatedMetrics:
    job = {metric: JobValue(average=mean) for metric, mean in used.items()}
    job[JobMetric.NUM_TASK_SLOTS_USED] = JobValue(current=8)
    return replace(evaluated(RESCALE.before, {}), job=job)


def _tuned(
    evaluated: EvaluatedMetrics | None = None, settings: EngineSettings = SETTINGS, options: AutoscalerOptions = OPTIONS
) -> Tuned:
    found = tuned_memory(RESCALE, evaluated or _using(), settings, options, sound=True)
    assert isinstance(found, Tuned), found
    return found


def _pools_with(found: Tuned, settings: EngineSettings = SETTINGS) -> ProcessMemory:
    return derive_memory(MemoryConfig(settings.memory).with_changes(found.changes))


def test_memory_that_is_not_used_is_given_back() -> None:
    """A GiB of heap in use, compensated for half the TaskManagers, takes less than half of 8 GiB."""
    found = _tuned()

    assert found.total_bytes < 4 * GIB
    assert found.changes.overrides[Key.PROCESS_SIZE] == f"{found.total_bytes} bytes"


def test_flink_derives_the_pools_that_were_chosen() -> None:
    """With the new settings Flink gives the heap its reserve and its compensation, to a few thousandths."""
    found = _tuned()

    memory = _pools_with(found)

    assert memory.total == found.total_bytes
    assert memory.flink.managed == 0
    assert memory.flink.framework_heap == 0
    assert memory.flink.heap == pytest.approx(2 * 1.2 * GIB, rel=0.005)


def test_the_users_sizes_that_would_contradict_are_taken_away() -> None:
    """A set managed size would hold against the share, a set heap against the total."""
    own: Mapping[str, str] = {
        Key.FLINK_SIZE: "7g",
        Key.TASK_HEAP: "3g",
        Key.MANAGED_SIZE: "2g",
        Key.OVERHEAD_MAX: "2g",
        Key.OVERHEAD_FRACTION: "0.2",
    }
    settings = replace(SETTINGS, memory=own)

    found = _tuned(settings=settings)

    assert found.changes.removals == {
        Key.FLINK_SIZE,
        Key.TASK_HEAP,
        Key.MANAGED_SIZE,
        "taskmanager.memory.size",
    }
    assert _pools_with(found, settings).total == found.total_bytes


@pytest.mark.parametrize("heap", [0.5, 1, 2, 4, 8, 100])
@pytest.mark.parametrize("managed", [0, 1])
@pytest.mark.parametrize("process", [2, 4, 8, 64])
def test_the_users_process_memory_is_never_exceeded(heap: float, managed: int, process: int) -> None:
    """However much is used, however little there is, and Flink always starts with the result."""
    settings = replace(SETTINGS, task_manager_memory_bytes=process * GIB, memory={Key.PROCESS_SIZE: f"{process}g"})
    used = {**USED, JobMetric.HEAP_MEMORY_USED: heap * GIB, JobMetric.MANAGED_MEMORY_USED: managed}

    for maximize in (False, True):
        found = _tuned(_using(used), settings, replace(OPTIONS, maximize_managed_memory=maximize))
        assert found.total_bytes <= process * GIB
        assert _pools_with(found, settings).total == found.total_bytes


@pytest.mark.parametrize("metric", USED)
def test_an_unknown_use_gives_no_settings(metric: JobMetric) -> None:
    """Taken as 0 it would starve the TaskManagers; the reference takes it so."""
    unknown = _using({**USED, metric: float("nan")})

    found = tuned_memory(RESCALE, unknown, SETTINGS, OPTIONS, sound=True)

    assert found == Untuned(reason=f"{metric} is unknown")
    assert isinstance(tuned_memory(RESCALE, unknown, SETTINGS, OPTIONS, sound=False), Tuned)


def test_settings_that_flink_would_refuse_are_not_given() -> None:
    """A metaspace that takes all of the process leaves Flink nothing; the reference would recommend it."""
    greedy = _using({**USED, JobMetric.METASPACE_MEMORY_USED: 100 * GIB})

    assert isinstance(tuned_memory(RESCALE, greedy, SETTINGS, OPTIONS, sound=True), Untuned)
    assert isinstance(tuned_memory(RESCALE, greedy, SETTINGS, OPTIONS, sound=False), Tuned)


@pytest.mark.parametrize("sound", [True, False])
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (replace(SETTINGS, task_manager_memory_bytes=None), "the memory of a TaskManager is unknown"),
        (replace(SETTINGS, memory={}), "no total memory is set"),
        (replace(SETTINGS, memory={Key.PROCESS_SIZE: "300m"}), "process.size has only"),
        (replace(SETTINGS, memory={Key.PROCESS_SIZE: "8g", Key.BUFFERS_PER_CHANNEL: "two"}), "two"),
    ],
)
def test_without_a_valid_memory_configuration_there_is_nothing_to_tune(
    settings: EngineSettings, reason: str, *, sound: bool
) -> None:
    """The reason says what is wrong."""
    found = tuned_memory(RESCALE, _using(), settings, OPTIONS, sound=sound)

    assert isinstance(found, Untuned)
    assert reason in found.reason


@pytest.mark.parametrize(("enabled", "kind"), [(True, EventType.NORMAL), (False, EventType.DEBUG)])
def test_a_recommendation_that_nobody_asked_for_is_for_the_log_alone(kind: EventType, *, enabled: bool) -> None:
    """In units that people read; the settings themselves are in the fields."""
    tuned = _tuned()
    notice = recommendation(tuned, AutoscalerOptions(memory_tuning_enabled=enabled))

    assert (notice.reason, notice.key) == (EventReason.CONFIGURATION_RECOMMENDATION, "MemoryTuning")
    assert notice.type is kind
    assert notice.message.startswith(f"a TaskManager of {memory_size(tuned.total_bytes)} (network ")
    assert "managed 0.0%" in notice.message
    assert ("disabled" in notice.message) is not enabled
    assert "bytes" not in notice.message
    assert notice.fields["taskmanager.memory.process.size"] == f"{tuned.total_bytes} bytes"
    assert "taskmanager.memory.flink.size" in str(notice.fields["removed"])
