"""
Headgate as shipped on real Flink: `python -m benchmarks.shipped`, a run of four to fifteen minutes each.

Nothing is set but ten seconds of stabilization and a maximum. A run that is finished is kept: called again, the series
goes on where it ended.
"""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.reaction_flink_figures import Step
from benchmarks.reaction_flink_results import Name, Results
from benchmarks.reaction_flink_run import AHEAD, Machinery, Scene, circumstances, set_up
from benchmarks.reaction_flink_setting import SETTING
from benchmarks.shipped_setting import ARMS, COURSES, Course, told
from headgate.testing.process import HeadgateProcess

RESULTS = Path(__file__).with_name("results") / "shipped.json"


def main(
    courses: str = ",".join(COURSES),
    arms: str = ",".join(ARMS),
    repeats: int = 5,
    *,
    out: Path = RESULTS,
    logs: Annotated[Path | None, typer.Option(exists=True)] = None,
    anew: bool = False,
) -> None:
    """
    Measure what is not measured yet, and write the results after each run.

    Args:
        courses: of the load, with commas between.
        arms: how Headgate is run, with commas between.
        repeats: of each.
        out: takes the results.
        logs: keeps what Headgate said; by default nothing does.
        anew: forget all earlier runs of these first.
    """
    chosen, ways = courses.split(","), arms.split(",")
    results = Results.opened(
        out, setting=told(), forget=lambda name: anew and name.cluster in chosen and name.arm in ways
    )
    wanted = [Name(course, arm, number + 1) for number in range(repeats) for course in chosen for arm in ways]
    machinery = Machinery.found(logs)
    results.complete(wanted, partial(followed, machinery))


def followed(machinery: Machinery, name: Name) -> dict[str, Any]:
    """Let the load of a job take its course, and give what was seen."""
    course, arm = COURSES[name.cluster], ARMS[name.arm]
    folder = "-".join([*name.cluster.split(), *name.arm.replace(",", "").split(), str(name.repeat)])
    with set_up(machinery, arm.settings, folder) as scene:
        began, before = datetime.now(UTC), os.getloadavg()[0]
        scene.set_load(course.per_s(-1.0))
        time.sleep(SETTING.warm_up_s)
        with HeadgateProcess(arm.headgate(scene.url), scene.folder):
            time.sleep(arm.lead_s)
            since = scene.set_load(course.per_s(0.0))
            driver = threading.Thread(target=_drive, args=(scene, course, since))
            driver.start()
            looks = scene.job.follow(since, lambda seen: seen[-1].at_s >= course.length_s)
            driver.join()
    return circumstances(began, before, {name.cluster: Step(per_s=course.per_s(0.0), looks=looks).told})


def _drive(scene: Scene, course: Course, since: datetime) -> None:
    for at_s, per_s in course.changes[1:]:
        time.sleep(max(0.0, at_s - AHEAD.total_seconds() - (datetime.now(UTC) - since).total_seconds()))
        scene.set_load(per_s)


if __name__ == "__main__":
    typer.run(main)
