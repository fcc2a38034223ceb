"""What a simulated job failed of, and when its engine starts it again: after each failure later, as Flink does it."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.engines.simulated.settings import RestartSettings

KEPT = 16
"""How many failures the engine tells of, Flink's `web.exception-history-size`."""

_FORGIVEN_S = 3600.0
"""After so long without a failure the first delay holds again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """One failure of a job."""

    at_s: float
    text: str


class Retries:
    """
    The failures of all submissions of one job.

    Attributes:
        setbacks: all of them, oldest first.
        failed_s: when the one happened after which the job waits to be started again; None while it waits for nothing.
    """

    def __init__(self, settings: RestartSettings) -> None:
        """Begin without any."""
        self.setbacks: list[Setback] = []
        self.failed_s: float | None = None
        self._settings = settings
        self._in_a_row = 0
        self._submitted_with = 0

    def note(self, now_s: float, text: str) -> None:
        """Remember a failure after which the job is started again at once."""
        self.setbacks.append(Setback(at_s=now_s, text=text))

    def fail(self, now_s: float, text: str) -> None:
        """Remember a failure, and wait longer than after the one before."""
        recent = bool(self.setbacks) and now_s - self.setbacks[-1].at_s < _FORGIVEN_S
        self._in_a_row = self._in_a_row + 1 if recent else 1
        self.failed_s = now_s
        self.note(now_s, text)

    def is_due(self, now_s: float) -> bool:
        """Tell whether the wait after the last failure is over."""
        return self.failed_s is not None and now_s >= self.failed_s + self._settings.retry_delay_s(self._in_a_row)

    def end(self) -> None:
        """Wait no longer: the job is started."""
        self.failed_s = None

    def forget(self) -> None:
        """Begin anew with another submission, of whose failures the engine knows nothing yet."""
        self._submitted_with, self._in_a_row = len(self.setbacks), 0

    def known(self) -> tuple[Setback, ...]:
        """Return what the engine tells of the present submission."""
        return tuple(self.setbacks[self._submitted_with :][-KEPT:])
