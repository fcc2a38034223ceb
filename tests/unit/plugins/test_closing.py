"""Closing the host while its plugins are asked in other threads: no process is left, and nobody is waited for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

from headgate.errors import PluginError
from headgate.plugins.catalog import Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.testing.builders import context
from headgate.testing.conformance import material

Hosting = Callable[..., PluginHost]

CODE = """
from pathlib import Path

class Endless:
    priority = 1

    def __init__(self, parameters):
        self.begun = Path(parameters.get("begun", ""))

    def decide(self, ctx, decision, change):
        self.begun.write_text("begun")
        while True:
            pass

    def is_applicable(self, question):
        return True

    def align(self, question):
        return 1
"""


@pytest.fixture(autouse=True)
def _strangers(installed: Callable[..., None]) -> None:
    installed("strangers", {"headgate.decision_plugins": {"endless": "Endless"}}, CODE)
    installed("others", {"headgate.alignment_modes": {"odd": "Endless"}}, CODE)


def test_no_process_is_started_past_closing(hosting: Hosting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a call that has begun to start one, nor for a distribution that is asked for the first time."""
    host, start, started = hosting(), subprocess.Popen, list[tuple[Any, Thread]]()

    def closed_meanwhile(*arguments: Any, **options: Any) -> Any:
        closing = Thread(target=host.close)
        closing.start()
        closing.join(0.2)  # it ends at once, or waits for this very call
        started.append((start(*arguments, **options), closing))
        return started[-1][0]

    monkeypatch.setattr(subprocess, "Popen", closed_meanwhile)
    for kind, name in ((Kind.DECISION_PLUGIN, "endless"), (Kind.ALIGNMENT_MODE, "odd")):
        with pytest.raises(PluginError, match="Headgate is stopping"):
            host.ready(kind, name)

    ((process, closing),) = started
    closing.join(30)
    assert not psutil.pid_exists(process.pid)


def test_closing_waits_for_no_answer(hosting: Hosting, tmp_path: Path) -> None:
    """Whoever waits for one is told why there is none; it is no failure of the plugin."""
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    host = hosting(Tables(executors={"mine.class": "endless", "mine.begun": str(begun)}), deadline="60 s")
    plugin = host.ready(Kind.DECISION_PLUGIN, "mine")
    decision, change = material.rescale()
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(plugin.port.decide, context(), decision, change)
        begun.read_text()
        host.close()
        assert host.workers("strangers") == ()
        with pytest.raises(PluginError, match="Headgate is stopping"):
            answer.result()
