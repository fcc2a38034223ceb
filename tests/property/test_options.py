"""Options as text and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.config import load
from headgate.config.describing import written
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import LEGACY_PREFIX, PREFIX, Options, declarations
from headgate.options.reactive import ReactiveOptions
from headgate.options.rollback import RollbackOptions
from headgate.options.units import format_duration, parse_duration
from headgate.testing.strategies import durations, options

WITH_A_MEANING: dict[str, Any] = {
    "excluded_periods": ("9:30-17:00 @ Europe/Berlin", "* * * ? * 2,5"),
    "excluded_periods_time_zone": "Asia/Tokyo",
    "custom_evaluators": (),
    "custom_executors": (),
    "rollback": RollbackOptions(pause=timedelta(minutes=5)),
    "reactive": ReactiveOptions(policy="proportional"),
    "collector": "flink-rest",
    "evaluator": "ds2",
    "realizer": "resource-requirements",
    "signals": (),
}
"""Texts that must name something, which a drawn one does not."""
CLUSTERS = {"HEADGATE_CLUSTERS": "[{name: local, url: 'http://127.0.0.1:8081'}]"}


def leaves(of: Options, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value with its key, those of nested groups included."""
    for declaration in declarations(type(of)):
        value = getattr(of, declaration.name)
        if declaration.group:
            yield from leaves(value, f"{prefix}{declaration.key}.")
        else:
            yield prefix + declaration.key, value


def texts(of: AutoscalerOptions, prefix: str) -> dict[str, str]:
    """Write the options as a user would set them."""
    values = dict(leaves(of))
    separated = {key: ";".join(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return {prefix + key: written(value) for key, value in separated.items() if value is not None}


@given(options(AutoscalerOptions), st.sampled_from([PREFIX, LEGACY_PREFIX]))
def test_options_written_as_text_are_read_as_they_were(drawn: AutoscalerOptions, prefix: str) -> None:
    """Whatever can be held can be set, under either prefix, to the last bit; and all that is set is known to be."""
    meant = replace(drawn, **WITH_A_MEANING)
    given_keys = sorted(key.removeprefix(prefix) for key in texts(meant, prefix))
    assert load(None, CLUSTERS, texts(meant, prefix)).options.autoscaler == replace(meant, keys_set=tuple(given_keys))


@given(durations())
def test_durations_written_as_text_are_read_as_they_were(duration: timedelta) -> None:
    """To the microsecond, however long."""
    assert parse_duration(format_duration(duration)) == duration
