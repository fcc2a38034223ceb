"""`headgate run`: the service."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from headgate import wiring
from headgate.cli import console, logs
from headgate.cli.stopping import Stop
from headgate.config.reload import LiveOptions
from headgate.options.service import Mode


def run(
    config: Annotated[Path, typer.Option("--config", "-c", help="YAML or TOML file.")] = Path("headgate.yaml"),
    *,
    mode: Annotated[Mode | None, typer.Option(help="Overrides `mode` of the file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line, for machines.")] = False,
) -> None:
    """
    Look after jobs until stopped: observe, evaluate, decide, and, with mode `act`, rescale.

    Without `mode: act` nothing is ever changed; the log says for each job what would be done, or why nothing.
    """
    with console.failures():
        flags: Mapping[str, str] = {"mode": mode.value} if mode else {}
        live = LiveOptions(config, os.environ, flags)
        logs.configure(json=json, libraries=live.options.library_log_level)
        for warning in live.warnings:
            logs.warn(warning)
        collect_garbage_rarely()
        asyncio.run(_serve(live))


def collect_garbage_rarely() -> None:
    """
    Look for cyclic garbage after 50,000 new objects, not after 700.

    A cycle makes many small values and hardly any that refer to each other; by default a third of its time would go
    into looking for such among them.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


async def _serve(live: LiveOptions) -> None:
    stop = Stop(lambda: live.options.stop_time_limit)
    stop.listen()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, live.demand)
    logs.announce(live.options)
    log = logs.DecisionLog()
    async with wiring.service(live.options, live=live, on_decisions=log, on_early_decisions=log.early) as runner:
        await runner.run(stop.wanted)
    logs.farewell()
