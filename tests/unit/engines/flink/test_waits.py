"""The waits of Flink's scheduler are read from wherever this Flink tells them, and never guessed wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headgate.engines.flink.waits import waits

SCHEDULER = "jobmanager.adaptive-scheduler"
COOLDOWN = f"{SCHEDULER}.executing.cooldown-after-rescaling"
STABILIZATION = f"{SCHEDULER}.executing.resource-stabilization-timeout"
AT_START = f"{SCHEDULER}.submission.resource-wait-timeout"


def values(config: Mapping[str, str] | None, told: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Give the values by key."""
    return {wait.key: wait.value for wait in waits(config, told)}


def test_what_the_job_tells_of_its_scheduler_holds(recorded: Callable[[str], Any]) -> None:
    """Whatever the cluster's settings say."""
    found = values({COOLDOWN: "7 s"}, recorded("rescales_config_reactive"))
    assert found[COOLDOWN] == "0 s"
    assert found[STABILIZATION] == "1 s"
    assert found[AT_START] == "without limit"
    assert found[f"{SCHEDULER}.rescale-trigger.max-delay"] == "6 s"
    assert found[f"{SCHEDULER}.rescale-trigger.max-checkpoint-failures"] == "2"
    assert found["slot.idle.timeout"] == "50 s"


def test_an_older_flink_is_read_by_its_settings_under_either_name() -> None:
    """Flink 2.0 renamed them."""
    assert values({f"{SCHEDULER}.scaling-interval.min": "7 s"})[COOLDOWN] == "7 s"
    assert values({COOLDOWN: "8000"})[COOLDOWN] == "8 s"
    assert values({STABILIZATION: "soon"})[STABILIZATION] == "soon"


def test_where_nothing_is_set_flinks_defaults_hold() -> None:
    """In reactive mode a job waits for its first worker for ever."""
    assert values(None)[AT_START] == "5 min"
    assert values({"scheduler-mode": "reactive"})[AT_START] == "without limit"
    assert values(None)["heartbeat.timeout"] == "50 s"
    assert values({"web.timeout": "10000"})["web.timeout"] == "10 s"
    assert values(None)[f"{SCHEDULER}.rescale-trigger.max-delay"] == "by the checkpoint interval"


def test_every_wait_says_what_it_means() -> None:
    """A number alone tells nobody anything."""
    assert all(len(wait.means) > 20 for wait in waits(None, None))
