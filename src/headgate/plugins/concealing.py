"""Keeping what a plugin was given in confidence out of what is told of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from headgate import errors
from headgate.errors import ConfigError, HeadgateError, PluginError

_MASK = "***"
_SHORTEST = 4
"""Masking shorter texts would riddle a message with stars and protect nothing."""


def concealed(text: str, secrets: Iterable[str]) -> str:
    """Mask each of the secrets in a text, the longest first."""
    for secret in sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text


def discreet(error: HeadgateError, secrets: Collection[str]) -> HeadgateError:
    """Give an error without the secrets; the very same where it holds none, else one of Headgate's own class."""
    text = concealed(str(error), secrets)
    if text == str(error):
        return error
    # somebody's subclass may want other arguments than a text
    ours = next(each for each in type(error).__mro__ if each.__module__ == errors.__name__)
    if isinstance(error, PluginError):
        masked: HeadgateError = ours(error.plugin, error.distribution, concealed(error.what, secrets))
    elif isinstance(error, ConfigError):
        masked = ConfigError([concealed(fault, secrets) for fault in error.faults])
    else:
        masked = ours(text)
    return masked
