"""
Evaluates, kills Spark's JVM and evaluates twice more, then freezes it and evaluates twice at once.

Prints what each evaluation gave as one JSON list.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import psutil

from headgate.engines.flink.local.java import find_java
from headgate.errors import UnreachableError
from headgate.model.metrics import NotReady
from headgate.options.autoscaler import AutoscalerOptions
from headgate.pipeline.live import SparkEvaluator
from headgate.pipeline.revival import RevivingEvaluator
from headgate.pipeline.session import open_session
from headgate.ports import Candidate, FleetEvaluator
from headgate.samplelog.writer import SampleLog
from headgate.testing.builders import ORDERS, at, chain, sample


def evaluated(evaluator: FleetEvaluator) -> str:
    """Evaluate one job and tell the kind of answer."""
    one = sample(chain({"source": 1}), tick=at(30))
    candidate = Candidate(sample=one, options=AutoscalerOptions(), window_from=at(0))
    try:
        answer = evaluator.evaluate([candidate], at(30))[ORDERS]
    except UnreachableError:
        return "unreachable"
    return answer.reason if isinstance(answer, NotReady) else "evaluated"


def java() -> Sequence[psutil.Process]:
    """Return every Java process that this one started."""
    return [child for child in psutil.Process().children(recursive=True) if "java" in child.name()]


def kill_java() -> None:
    """Kill them; the workers of Spark's Python end by themselves then."""
    for process in java():
        process.kill()
        process.wait()


def main(directory: Path) -> None:
    """Tell the story on standard output."""
    SampleLog(directory).append([sample(chain({"source": 1}), tick=at(30))])
    evaluator = RevivingEvaluator(
        open_session=lambda: open_session("local[1]", java_home=find_java().home),
        evaluator_over=lambda session: SparkEvaluator(session, directory, collect_interval=timedelta(seconds=10)),
        patience=timedelta(seconds=2),
    )
    before = evaluated(evaluator)
    kill_java()
    answers = [before, evaluated(evaluator), evaluated(evaluator)]
    for process in java():
        process.suspend()
    with ThreadPoolExecutor(2) as threads:
        answers += sorted(threads.map(evaluated, [evaluator, evaluator]))
    evaluator.close()
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
