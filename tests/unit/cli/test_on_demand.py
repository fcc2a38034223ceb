"""What the command line loads, and when."""

from __future__ import annotations

import subprocess
import sys

from typer.testing import CliRunner

from headgate.cli import app


def test_a_command_loads_what_it_needs() -> None:
    """The service's engines are nothing that a pause waits for."""
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "headgate", "pause", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "headgate.cli.orders" in found.stderr
    assert "headgate.wiring" not in found.stderr


def test_all_commands_are_listed_with_what_they_do() -> None:
    """In the order in which they are needed, under their headings."""
    help_text = CliRunner().invoke(app, ["--help"]).stdout
    panels = help_text[help_text.index("─ The first five minutes") :]
    order = ["demo  ", "doctor  ", "─ Operating", "jobs  ", "─ Incidents", "pause  ", "─ Studying", "replay  "]
    places = [panels.index(each) for each in order]
    assert places == sorted(places)
    assert "List the jobs that the service looks after" in help_text


def test_a_misspelt_command_is_answered_with_a_near_one() -> None:
    """As for jobs."""
    told = CliRunner().invoke(app, ["jbos"])
    assert told.exit_code == 2
    assert "Did you mean 'jobs'" in told.output
