"""What comes out of a run: charts, JSON, and the command's own words."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import typer
from typer.testing import CliRunner

from headgate.cli.simulate import simulate as command
from headgate.simulate import Run, Scenario, constant, job, simulate, vertex
from headgate.simulate.picture import panels
from headgate.simulate.report import report_json
from headgate.simulate.svg import svg

SCENARIO = """
duration: 12 min
jobs:
  - name: a <b>
    vertices:
      - {name: source, curve.rate: 100000, load.rate: 1000}
      - {name: count, curve.rate: 150}
failures: [{what: metrics, at: 11 min, duration: 1 min}]
job.autoscaler: {metrics.window: 2 min, stabilization.interval: 30 s}
"""


@pytest.fixture(scope="module")
def run() -> Run:
    """Run a few minutes."""
    pipe = job("pipe", vertex("source", 1000, load=constant(100)), vertex("count", 50, parallelism=2))
    return simulate(Scenario(jobs=(pipe,), duration=timedelta(minutes=5)))


@pytest.fixture
def app() -> typer.Typer:
    """Wrap the command."""
    app = typer.Typer()
    app.command()(command)
    return app


def test_panels_have_as_many_points_as_asked_for_at_most(run: Run) -> None:
    """Load, lag, parallelism and busy share, each vertex a line of the last two."""
    drawn = panels(run.job, columns=7)
    assert [len(panel.lines) for panel in drawn] == [2, 1, 2, 2]
    assert all(len(line.points) <= 7 for panel in drawn for line in panel.lines)
    assert drawn[2].lines[1].points[-1] == (300, 2)


def test_the_chart_is_an_svg_with_a_line_for_each_quantity(run: Run) -> None:
    """It parses, and whatever a job is called stays text."""
    root = ET.fromstring(svg(panels(run.job, columns=50), title="<job>", duration_s=300))  # noqa: S314 - ours
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names.count("polyline") == 7
    assert root.findtext("{*}text") == "<job>"


def test_the_report_holds_everything(run: Run) -> None:
    """As JSON that anybody reads."""
    report = json.loads(report_json(run))
    pipe = report["jobs"]["pipe"]
    assert len(pipe["frames"]) == 30
    assert len(pipe["decisions"]) == 10
    assert pipe["summary"]["peak_lag"] >= 0
    assert report["events"][0]["reason"] == "JobAppeared"


def test_the_command_shows_rescales_with_reasons_and_writes_files(tmp_path: Path, app: typer.Typer) -> None:
    """A table of what it cost comes last."""
    scenario, chart, report = (tmp_path / name for name in ("s.yaml", "c.svg", "r.json"))
    scenario.write_text(SCENARIO, encoding="utf-8")
    result = CliRunner().invoke(app, [str(scenario), "--chart", str(chart), "--json", str(report)])
    assert result.exit_code == 0
    assert "rescale, 10 s down: count 1 -> " in result.output
    assert "true rate" in result.output
    assert "AutoscalerError: the metrics of simulated/a <b> cannot be had" in result.output
    assert "slot hours" in result.output
    assert chart.exists()
    assert json.loads(report.read_text(encoding="utf-8"))["duration_s"] == 720


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "seed"], "expected KEY=VALUE"),
        (["--set", "job.autoscaler.no=1"], "unknown option"),
        (["--duration", "soon"], "expected a duration"),
        (["--chart", "a.png"], "charts are written as .svg"),
    ],
)
def test_a_wrong_call_is_told_before_anything_runs(
    tmp_path: Path, app: typer.Typer, arguments: list[str], told: str
) -> None:
    """With exit status 2."""
    scenario = tmp_path / "s.yaml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    result = CliRunner().invoke(app, [str(scenario), *arguments])
    assert result.exit_code == 2
    assert told in " ".join(result.output.replace("│", " ").split())
