"""Options as text and back."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from headgate.config import load
from headgate.config.describing import written
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import LEGACY_PREFIX, PREFIX, declarations
from headgate.options.units import format_duration, parse_duration
from headgate.testing.strategies import durations, options

CLUSTERS = {"HEADGATE_CLUSTERS": "[{name: local, url: 'http://127.0.0.1:8081'}]"}


def texts(of: AutoscalerOptions, prefix: str) -> dict[str, str]:
    """Write the options as a user would set them."""
    values = {declaration.key: getattr(of, declaration.name) for declaration in declarations(AutoscalerOptions)}
    return {prefix + key: written(value) for key, value in values.items() if value is not None}


@given(options(AutoscalerOptions), st.sampled_from([PREFIX, LEGACY_PREFIX]))
def test_options_written_as_text_are_read_as_they_were(drawn: AutoscalerOptions, prefix: str) -> None:
    """Whatever can be held can be set, under either prefix, to the last bit."""
    assert load(None, CLUSTERS, texts(drawn, prefix)).options.autoscaler == drawn


@given(durations())
def test_durations_written_as_text_are_read_as_they_were(duration: timedelta) -> None:
    """To the microsecond, however long."""
    assert parse_duration(format_duration(duration)) == duration
