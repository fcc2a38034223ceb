"""`headgate replay`, from the words on the command line to the report."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from headgate.cli import app
from headgate.simulate import ServiceCurve, SimulatedJob, SimulatedVertex, steps
from headgate.testing.recorded import RecordedService
from headgate.testing.simulated import STEADY, steadily

STRETCH = ("--since", "2026-01-01", "--until", "2026-01-02")
OTHER = ("--options", "utilization.target=0.4")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the file of a service whose log holds a minute and a half of a job that has to grow."""
    folder = tmp_path_factory.mktemp("service")
    source = SimulatedVertex(name="source", curve=ServiceCurve(rate=1000.0), load=steps({0: 500.0, 50: 2000.0}))
    run = steadily(SimulatedJob(name="orders", vertices=(source,)), autoscaler=replace(STEADY))
    RecordedService(scenario=run, root=folder / "log").advance_to(timedelta(seconds=90))
    path = folder / "headgate.yaml"
    path.write_text(
        f"clusters: [{{name: simulated, url: 'http://127.0.0.1:1'}}]\npipeline: in-process\nlog.path: {folder}/log\n"
    )
    return path


def call(config: Path, *words: str | Path) -> Result:
    """Run `headgate replay` over the whole run."""
    return CliRunner().invoke(app, ["replay", "--config", str(config), *STRETCH, *map(str, words)])


def test_a_record_that_comes_out_the_same_satisfies_the_strictest(config: Path) -> None:
    """Nothing differs: the exit status is 0 with `--strict` too."""
    result = call(config, "--strict")

    assert result.exit_code == 0, result.output
    assert "9 decisions of 1 jobs decided again" in result.output
    assert "equal: 9" in result.output


def test_differences_are_a_result_and_no_failure(config: Path) -> None:
    """Only `--strict` makes one of them."""
    result = call(config, *OTHER)

    assert result.exit_code == 0
    assert "simulated/orders at" in result.output
    assert "+     1 -> " in result.output
    assert call(config, *OTHER, "--strict").exit_code == 1


def test_machines_get_the_report_as_json_and_everything_in_a_directory(config: Path, tmp_path: Path) -> None:
    """Both hold the same counts."""
    result = call(config, *OTHER, "--json", "--out", tmp_path / "out")

    report = json.loads(result.stdout)
    assert (report["decisions"], report["different"]) == (9, 1)
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == report
    assert sum(pq.read_table(tmp_path / "out" / "verdicts.parquet")["count"].to_pylist()) == 9


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("--options", "utilization.target"), 2, "expected KEY=VALUE"),
        (("--options", "utilisation.target=0.4"), 2, "did you mean"),
        (("--job", "nobody"), 1, "holds no decision of 'nobody'"),
        (("--until", "soon"), 2, "soon"),
    ],
)
def test_what_cannot_be_asked_is_told(config: Path, words: tuple[str, ...], status: int, told: str) -> None:
    """A wrong call is 2, a stretch without decisions is 1."""
    result = call(config, *words)

    assert result.exit_code == status
    assert told in result.output
