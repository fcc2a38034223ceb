"""The command line: one file a command, no logic. A command parses, calls, and shows."""

from __future__ import annotations

from typing import Annotated

import stamina
import typer

from headgate import __version__
from headgate.cli import (
    advise,
    config,
    demo,
    doctor,
    events,
    explain,
    history,
    init,
    jobs,
    measure_rescale,
    pause,
    preflight,
    replay,
    rollback,
    run,
    simulate,
    state,
    submit,
)
from headgate.cli.set import set_options

app = typer.Typer(
    name="headgate",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # else the line breaks of docstrings stay in help, whatever the terminal's width
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""
    An autoscaler for streaming jobs that explains itself.

    Start with `headgate advise http://HOST:8081`: it looks at a Flink cluster for half a minute and says what it would
    do, and why. It changes nothing. Then `headgate init http://HOST:8081` writes a first file, `headgate doctor` says
    what is to be put right, `headgate run` begins. `headgate demo` shows the whole on a cluster of its own.
    """,
)
# In the order in which they are needed.
_FIRST, _OPERATING = "The first five minutes", "Operating"
_INCIDENTS, _STUDYING = "Incidents", "Studying"
app.command("demo", rich_help_panel=_FIRST)(demo.demo)
app.command("init", rich_help_panel=_FIRST)(init.init)
app.command("doctor", rich_help_panel=_FIRST)(doctor.doctor)
app.command("advise", rich_help_panel=_FIRST)(advise.advise)
app.command("run", rich_help_panel=_FIRST)(run.run)
app.command("jobs", rich_help_panel=_OPERATING)(jobs.jobs)
app.command("explain", rich_help_panel=_OPERATING)(explain.explain)
app.command("history", rich_help_panel=_OPERATING)(history.history)
app.command("events", rich_help_panel=_OPERATING)(events.events)
app.add_typer(config.app, name="config", rich_help_panel=_OPERATING)
app.command("submit", rich_help_panel=_OPERATING)(submit.submit)
app.command("pause", rich_help_panel=_INCIDENTS)(pause.pause)
app.command("rollback", rich_help_panel=_INCIDENTS)(rollback.rollback)
app.command("set", rich_help_panel=_INCIDENTS)(set_options)
app.command("resume", rich_help_panel=_INCIDENTS)(pause.resume)
app.add_typer(state.app, name="state", rich_help_panel=_INCIDENTS)
app.command("simulate", rich_help_panel=_STUDYING)(simulate.simulate)
app.command("replay", rich_help_panel=_STUDYING)(replay.replay)
app.command("measure-rescale", rich_help_panel=_STUDYING)(measure_rescale.measure_rescale)
app.command("preflight", rich_help_panel=_STUDYING)(preflight.preflight)


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
