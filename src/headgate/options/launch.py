"""What a job is started from, declared by the operator; a job's own configuration can never set it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from headgate.model.redeploy import Launch
from headgate.options.bounds import Interval
from headgate.options.declaration import Options, option
from headgate.options.units import PositiveDuration


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions(Options):
    """
    A job's launch spec: what Flink must be given to start the job again, which it does not tell of a running one.

    Raises:
        ValueError: something is set, but no jar.
    """

    jar: str | None = option("jar", None)
    """A local file, which is uploaded, or the name or id of a jar that the cluster has; unset: no launch spec."""

    entry_class: str | None = option("entry-class", None)
    """Class whose `main` builds the job; unset: the one that the jar's manifest names."""

    args: tuple[str, ...] = option("args", (), separators="\n", secret=True)
    """Arguments of that `main`, a list; may hold references to secrets."""

    configuration: Mapping[str, str] = option("configuration", default_factory=dict, secret=True)
    """The job's Flink configuration, by Flink's own keys; may hold references to secrets."""

    savepoint_directory: str | None = option("savepoint-directory", None)
    """Where savepoints go; unset: the cluster's `execution.checkpointing.savepoint-dir`."""

    parallelism: Annotated[int, Interval(ge=1)] | None = option("parallelism", None)
    """With which the job was first started, for operators without one of their own; unset: the cluster's default."""

    savepoint_limit: PositiveDuration = option("savepoint-limit", timedelta(minutes=10))
    """
    With `start-limit`, how long a redeploy may take before that is told. A savepoint that was begun is waited for all
    the same: whenever it is ready the job ends.
    """

    start_limit: PositiveDuration = option("start-limit", timedelta(minutes=5))
    """By when all tasks of a started job must run, else it is taken back to how it ran before."""

    def __post_init__(self) -> None:
        """Refuse a spec that names no program."""
        if self.jar is None and (self.entry_class or self.args or self.configuration or self.parallelism):
            message = "launch has no jar. Hint: `launch.jar` names a local file, or a jar that the cluster has"
            raise ValueError(message)

    @property
    def spec(self) -> Launch | None:
        """The launch spec; None where none is declared."""
        if self.jar is None:
            return None
        return Launch(
            jar=self.jar,
            entry_class=self.entry_class,
            args=self.args,
            configuration=self.configuration,
            savepoint_directory=self.savepoint_directory,
            parallelism=self.parallelism,
            savepoint_limit=self.savepoint_limit,
            start_limit=self.start_limit,
        )
