"""
What knowing the true lag is worth: `python -m benchmarks.kafka_lag`, 30 minutes.

Headgate by what Kafka's brokers tell, Headgate by the connector's gauge, and a script that knows the load, each on a
broker and a cluster of its own, one after another. A run that is finished is kept: called again, the series goes on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.kafka_lag_run import measured
from benchmarks.kafka_lag_setting import ARMS, told

RESULTS = Path(__file__).with_name("results") / "kafka_lag.json"
Runs = dict[str, Mapping[str, Any]]


def main(
    seeds: str = "1,2,3",
    arms: str = ",".join(ARMS),
    *,
    out: Path = RESULTS,
    logs: Annotated[Path | None, typer.Option(exists=True)] = None,
    anew: bool = False,
) -> None:
    """
    Measure what is not measured yet, and write the results after each run.

    Args:
        seeds: of the loads, with commas between.
        arms: the ways to rescale, with commas between.
        out: takes the results.
        logs: keeps what Headgate said; by default nothing does.
        anew: forget all earlier runs first.
    """
    runs = {} if anew else read(out)
    for seed in map(int, seeds.split(",")):
        for arm in arms.split(","):
            name = f"{arm} {seed}"
            if name in runs:
                continue
            print(f"{datetime.now(UTC):%H:%M:%S} {name}", flush=True)
            runs[name] = measured(arm, seed, logs)
            write(out, runs)


def read(path: Path) -> Runs:
    """
    Read the runs that are there, by way and seed; none if there is no file.

    Raises:
        SystemExit: they were made with another setting.
    """
    if not path.exists():
        return {}
    known = json.loads(path.read_text(encoding="utf-8"))
    if known["setting"] != json.loads(json.dumps(told())):
        message = f"{path} was measured with another setting: move it away, or forget it with --anew"
        raise SystemExit(message)
    runs: Runs = known["runs"]
    return runs


def write(path: Path, runs: Runs) -> None:
    """Write the runs, one a line."""
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(run)}" for name, run in sorted(runs.items()))
    text = f'{{"setting": {json.dumps(told())},\n"runs": {{\n{lines}\n}}}}\n'
    unfinished = path.with_suffix(".new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


if __name__ == "__main__":
    typer.run(main)
