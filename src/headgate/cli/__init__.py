"""The command line: one file a command, no logic. A command parses, calls, and shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import stamina
import typer

from headgate import __version__
from headgate.cli.on_demand import MARKUP, OnDemand, Place

_FIRST, _OPERATING = "The first five minutes", "Operating"
_INCIDENTS, _STUDYING = "Incidents", "Studying"


class _Commands(OnDemand):
    # In the order in which they are needed.
    places: ClassVar[Mapping[str, Place]] = {
        "demo": Place(_FIRST, "headgate.cli.demo", "demo"),
        "init": Place(_FIRST, "headgate.cli.init", "init"),
        "doctor": Place(_FIRST, "headgate.cli.doctor", "doctor"),
        "advise": Place(_FIRST, "headgate.cli.advise", "advise"),
        "run": Place(_FIRST, "headgate.cli.run", "run"),
        "jobs": Place(_OPERATING, "headgate.cli.jobs", "jobs"),
        "explain": Place(_OPERATING, "headgate.cli.explain", "explain"),
        "history": Place(_OPERATING, "headgate.cli.history", "history"),
        "events": Place(_OPERATING, "headgate.cli.events", "events"),
        "config": Place(_OPERATING, "headgate.cli.config", "app"),
        "submit": Place(_OPERATING, "headgate.cli.submit", "submit"),
        "pause": Place(_INCIDENTS, "headgate.cli.pause", "pause"),
        "rollback": Place(_INCIDENTS, "headgate.cli.rollback", "rollback"),
        "set": Place(_INCIDENTS, "headgate.cli.set", "set_options"),
        "resume": Place(_INCIDENTS, "headgate.cli.pause", "resume"),
        "state": Place(_INCIDENTS, "headgate.cli.state", "app"),
        "simulate": Place(_STUDYING, "headgate.cli.simulate", "simulate"),
        "replay": Place(_STUDYING, "headgate.cli.replay", "replay"),
        "measure-rescale": Place(_STUDYING, "headgate.cli.measure_rescale", "measure_rescale"),
        "preflight": Place(_STUDYING, "headgate.cli.preflight", "preflight"),
    }


app = typer.Typer(
    name="headgate",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    cls=_Commands,
    rich_markup_mode=MARKUP,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""
    An autoscaler for streaming jobs that explains itself.

    Start with `headgate advise http://HOST:8081`: it looks at a Flink cluster for half a minute and says what it would
    do, and why. It changes nothing. Then `headgate init http://HOST:8081` writes a first file, `headgate doctor` says
    what is to be put right, `headgate run` begins. `headgate demo` shows the whole on a cluster of its own.
    """,
)


def _version(value: bool) -> None:  # noqa: FBT001 - typer hands it over by position
    if value:
        typer.echo(f"headgate {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that all commands share."""


def main() -> None:
    """Run the command line; the exit status is 0, 1 for a failure, 2 for a wrong call or configuration."""
    # A call that is tried again is no news, least of all on standard output; one that fails for good is an event.
    stamina.instrumentation.set_on_retry_hooks(())
    app()
