"""Which of the declared signals a job uses: those that are for it, and those that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headgate.config.origins import Findings, Section
from headgate.config.validation import FaultyError
from headgate.model.identity import JobKey
from headgate.model.pattern import fits
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.signals import SignalOptions, undeclared


def with_signals(options: AutoscalerOptions, declared: tuple[SignalOptions, ...], key: JobKey) -> AutoscalerOptions:
    """Give a job's options with the declarations of its signals; the very same options where it has none."""
    used = tuple(each for each in declared if _is_for(each, key) or each.name in options.signals)
    return replace(options, signals_in_force=used) if used or options.signals_in_force else options


def refuse_undeclared(
    options: AutoscalerOptions, declared: Sequence[SignalOptions], section: Section, findings: Findings
) -> None:
    """
    Note each signal that a job names and nobody declared.

    Raises:
        FaultyError: there is one.
    """
    unknown = [name for name in options.signals if name not in {each.name for each in declared}]
    for name in unknown:
        findings.fault(section.origin_of("signals"), undeclared(name, declared))
    if unknown:
        raise FaultyError


def _is_for(signal: SignalOptions, key: JobKey) -> bool:
    return signal.match is not None and fits(str(key), signal.match)
