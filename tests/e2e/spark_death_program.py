"""Evaluates, kills Spark's JVM, evaluates twice more, and prints what each evaluation gave as one JSON list."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
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


def kill_java() -> None:
    """Kill every Java process that this one started; the workers of Spark's Python end by themselves then."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "java" in child.name():
                child.kill()
                child.wait()


def main(directory: Path) -> None:
    """Tell the story on standard output."""
    SampleLog(directory).append([sample(chain({"source": 1}), tick=at(30))])
    evaluator = RevivingEvaluator(
        open_session=lambda: open_session("local[1]", java_home=find_java().home),
        evaluator_over=lambda session: SparkEvaluator(session, directory, collect_interval=timedelta(seconds=10)),
    )
    before = evaluated(evaluator)
    kill_java()
    answers = [before, evaluated(evaluator), evaluated(evaluator)]
    evaluator.close()
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
