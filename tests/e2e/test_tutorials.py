"""The tutorials as a newcomer works through them: every command that they show, on a real cluster, in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.transcript import ROOT, Terminal, steps

from headgate.engines.flink.local.loopback import free_ports

pytestmark = pytest.mark.flink

TUTORIALS = ROOT / "docs" / "tutorials"
PAGES = (TUTORIALS / "first-steps.md", TUTORIALS / "operate.md")
"""The second goes on where the first ends."""


def test_a_newcomer_sees_what_the_tutorials_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an empty directory to a rescale that was paused, taken back and resumed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    # Others on this machine may serve their metrics at the usual address.
    monkeypatch.setenv("HEADGATE_METRICS__ADDRESS", f"127.0.0.1:{free_ports(1)[0]}")
    with Terminal() as terminal:
        for page in PAGES:
            for step in steps(page):
                step.play(terminal)
