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
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""
    An autoscaler for streaming jobs that explains itself.

    Start with `headgate advise http://HOST:8081`: it looks at a Flink cluster for half a minute and says what it
    would do, and why. It changes nothing. `headgate init http://HOST:8081` writes a first file, `headgate doctor` says
    what is to be put right, `headgate run` begins. `headgate demo` shows the whole on a cluster of its own.
    """,
)
app.command("init")(init.init)
app.command("doctor")(doctor.doctor)
app.command("advise")(advise.advise)
app.command("run")(run.run)
app.command("explain")(explain.explain)
app.command("jobs")(jobs.jobs)
app.command("history")(history.history)
app.command("pause")(pause.pause)
app.command("resume")(pause.resume)
app.command("rollback")(rollback.rollback)
app.command("set")(set_options)
app.command("submit")(submit.submit)
app.command("events")(events.events)
app.command("preflight")(preflight.preflight)
app.command("replay")(replay.replay)
app.command("simulate")(simulate.simulate)
app.command("demo")(demo.demo)
app.command("measure-rescale")(measure_rescale.measure_rescale)
app.add_typer(config.app, name="config")
app.add_typer(state.app, name="state")


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
