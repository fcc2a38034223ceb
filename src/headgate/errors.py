"""
The exception tree. The second level says what the control loop should do about it.

    HeadgateError
    ├── TransientError          try again later, nothing is wrong with the job or the options
    │   ├── UnreachableError    no answer: refused, timed out, a 5xx
    │   ├── ConflictError       somebody else changed the same thing first
    │   └── PluginError         somebody's plugin failed; its job goes without it this time
    │       └── MisconfiguredPluginError   it is unknown, or does not want its parameters
    ├── PermanentError          will not go away by itself; reported once, the job is left alone
    │   ├── NotFoundError       the thing that was named does not exist (any more)
    │   ├── UnsupportedError    this engine, or this way of running it, cannot be scaled
    │   └── RefusedError        the engine understood and said no
    │       └── OvertakenError  somebody else has changed by now what was to be changed: it is theirs
    └── ConfigError             every fault of a configuration, reported together
"""

from __future__ import annotations

from collections.abc import Sequence


class HeadgateError(Exception):
    """The root: catch it to catch everything that Headgate raises on purpose."""


class TransientError(HeadgateError):
    """Try again later: nothing is known to be wrong with the job or with the options."""


class UnreachableError(TransientError):
    """A remote side gave no usable answer: connection refused, time limit exceeded, a 5xx."""


class ConflictError(TransientError):
    """Somebody else changed the same thing first; load it again and decide anew."""


class PluginError(TransientError):
    """
    A plugin raised, hung, died or gave what makes no sense.

    Attributes:
        plugin: the name under which options name it.
        distribution: who wrote it.
        what: what it did.
    """

    def __init__(self, plugin: str, distribution: str, what: str) -> None:
        """Keep the parts; the text holds them all."""
        self.plugin = plugin
        self.distribution = distribution
        self.what = what
        super().__init__(f"plugin {plugin} of {distribution} {what}")


class MisconfiguredPluginError(PluginError):
    """Nothing has its name, or it does not want its parameters: the options must change."""


class PermanentError(HeadgateError):
    """Waiting does not help; it is reported and the job is left alone."""


class NotFoundError(PermanentError):
    """The job, vertex or resource that was named does not exist (any more)."""


class UnsupportedError(PermanentError):
    """The engine, its version or the way it runs is none that can be scaled."""


class RefusedError(PermanentError):
    """The engine understood the request and said no, for example a parallelism above the maximum."""


class OvertakenError(RefusedError):
    """Somebody else has changed by now what was to be changed: it is theirs, and is left alone."""


class ConfigError(HeadgateError):
    """
    A configuration is faulty.

    Attributes:
        faults: every fault found, each with its place and what was expected.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        """Keep all faults; the text lists them one a line."""
        self.faults = tuple(faults)
        count = len(self.faults)
        heading = f"{count} fault{'s' if count != 1 else ''} in the configuration:"
        super().__init__("\n  ".join([heading, *self.faults]))
