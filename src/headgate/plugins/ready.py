"""A plugin that is ready to be asked, with the names that people know it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headgate.errors import HeadgateError, PluginError
from headgate.plugins.concealing import concealed, discreet


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A plugin that is ready to be asked."""

    name: str
    """As the options call it."""
    distribution: str
    port: Any
    """Implements the port of its kind."""
    priority: int = 0
    secrets: tuple[str, ...] = ()
    """What must not be told of it."""

    def failure(self, error: Exception) -> PluginError:
        """Give what it raised as what it is: this plugin's failure."""
        if isinstance(error, PluginError):
            return error
        return self.fault(f"raised {type(error).__name__}: {error}")

    def masked(self, error: HeadgateError) -> HeadgateError:
        """Give what it raised in Headgate's own words, without its secrets."""
        return discreet(error, self.secrets)

    def nonsense(self, why: object) -> PluginError:
        """Say that what it gave makes no sense."""
        return self.fault(f"gave what makes no sense: {why}")

    def fault(self, what: str) -> PluginError:
        """Say what it did, without its secrets."""
        return PluginError(self.name, self.distribution, concealed(what, self.secrets))
