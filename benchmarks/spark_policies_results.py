"""Where the raw runs of the comparison on Spark lie: one file a run, so that a series can go on where it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.spark_load import Load
from benchmarks.spark_optimum import BatchCost
from benchmarks.spark_policies_figures import Run
from benchmarks.spark_policies_setting import CALIBRATED, INTERVAL_S, PARTITIONS, WORKERS

RESULTS = Path(__file__).with_name("results") / "spark_policies"
_ROWS = ("batches", "cores")


@dataclass(frozen=True, slots=True)
class Results:
    """The runs in one folder."""

    folder: Path = RESULTS

    def has(self, name: str, load: Load) -> bool:
        """Tell whether that run was finished under that load."""
        return self._path(name).exists() and self.raw(name)["load"] == asdict(load)

    def write(self, name: str, run: Mapping[str, Any]) -> None:
        """Keep a run: a batch a line, a change of cores a line."""
        self.folder.mkdir(parents=True, exist_ok=True)
        members = (f" {json.dumps(key)}: {_told(value, by_row=key in _ROWS)}" for key, value in run.items())
        unfinished = self.folder / f"{name}.new"
        unfinished.write_text("{\n" + ",\n".join(members) + "\n}\n", encoding="utf-8")
        unfinished.replace(self._path(name))

    def forget(self) -> None:
        """Delete all runs."""
        for name in self.names():
            self._path(name).unlink()

    def raw(self, name: str) -> dict[str, Any]:
        """Give a run as it was written."""
        told: dict[str, Any] = json.loads(self._path(name).read_text(encoding="utf-8"))
        return told

    def run(self, name: str) -> Run:
        """Give a run."""
        return Run.told(self.raw(name))

    def names(self) -> list[str]:
        """Give the names of all runs."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def cost(self) -> BatchCost:
        """Fit what a batch costs to the runs of each size that were made for that."""
        seen = [
            (cores, float(batch.rows), batch.took_s)
            for cores in CALIBRATED
            for batch in self.run(calibration(cores)).batches
        ]
        return BatchCost.fitted(seen, partitions=PARTITIONS, interval_s=INTERVAL_S, most_cores=WORKERS)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def calibration(cores: int) -> str:
    """Name the run that tells what a batch costs on so many cores."""
    return f"calibration-{cores}"


def compared(seed: int, arm: str) -> str:
    """Name a run of the comparison."""
    return f"seed-{seed}-{arm}"


def _told(value: Any, *, by_row: bool) -> str:
    return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]" if by_row else json.dumps(value)
