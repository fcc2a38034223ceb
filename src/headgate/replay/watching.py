"""How far the stages of a Spark session are, told again and again while a replay waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

_EVERY_S = 0.5


@contextmanager
def watched(session: SparkSession, tell: Callable[[int, int], None]) -> Iterator[None]:
    """Tell how many tasks of the stages under way are done, and how many there are."""
    over = Event()
    watcher = Thread(target=_watch, args=(session, tell, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(session: SparkSession, tell: Callable[[int, int], None], over: Event) -> None:
    tracker = session.sparkContext.statusTracker()
    while not over.wait(_EVERY_S):
        with suppress(Py4JError):  # what cannot be told now is told later
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            known = [stage for stage in stages if stage]
            tell(sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known))
