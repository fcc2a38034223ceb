"""A plugin that is ready to be asked, with the names that people know it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headgate.errors import PluginError
from headgate.plugins.concealing import concealed


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
        what = concealed(f"raised {type(error).__name__}: {error}", self.secrets)
        return PluginError(self.name, self.distribution, what)

    def nonsense(self, why: object) -> PluginError:
        """Say that what it gave makes no sense."""
        return PluginError(self.name, self.distribution, f"gave what makes no sense: {why}")
