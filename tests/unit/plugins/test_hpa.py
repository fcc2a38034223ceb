"""The `hpa` evaluator as a plugin: its parameters, and where it runs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headgate.algorithm.hpa.settings import Scope, Settings
from headgate.errors import MisconfiguredPluginError
from headgate.options.plugins import PluginOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.hpa import PARAMETERS, HpaMetricEvaluator, settings_of
from headgate.plugins.kinds import Kind
from headgate.plugins.registry import Registry


def test_without_parameters_it_has_the_defaults_of_paper_and_kubernetes() -> None:
    """Plain `hpa` works."""
    assert settings_of({}) == Settings()


def test_every_parameter_is_read() -> None:
    """Into the setting of its name."""
    written = {
        "scope": "vertex",
        "window": "90 s",
        "lag.minimum": "1e4",
        "scale-up.tolerance": "0",
        "scale-down.tolerance": "0.25",
        "scale-up.stabilization-window": "30 s",
        "scale-down.stabilization-window": "0",
    }
    assert written.keys() == PARAMETERS.keys()
    assert settings_of(written) == Settings(
        scope=Scope.VERTEX,
        window=timedelta(seconds=90),
        lag_minimum=10_000.0,
        scale_up_tolerance=0.0,
        scale_down_tolerance=0.25,
        scale_up_stabilization_window=timedelta(seconds=30),
        scale_down_stabilization_window=timedelta(),
    )


def test_all_faults_are_told_together() -> None:
    """A line each, with the name of the parameter and what there is instead."""
    with pytest.raises(ValueError, match="scope") as caught:
        settings_of({"scope": "pod", "window": "0", "lag.minimum": "-1", "scale-up.tolerance": "nan", "target": "1"})
    assert str(caught.value).splitlines() == [
        "parameter lag.minimum: '-1' is no number of 0 or more",
        "parameter scale-up.tolerance: 'nan' is no number of 0 or more",
        "parameter scope: 'pod' is no scope. Hint: there is job, vertex",
        "parameter window: '0' must be above zero",
        f"unknown parameter target. Hint: there is {', '.join(PARAMETERS)}",
    ]


def test_an_instance_with_parameters_is_made_here_and_needs_no_worker() -> None:
    """It is Headgate's own: nothing is started for it."""
    tables = Tables(general={"by-vertex.class": "hpa", "by-vertex.scope": "vertex"})
    host = PluginHost(Catalog(Registry(), tables), PluginOptions())
    try:
        plugin = host.ready(Kind.METRIC_EVALUATOR, "by-vertex")
        assert isinstance(plugin.port, HpaMetricEvaluator)
        assert not host.workers(plugin.distribution)
    finally:
        host.close()


def test_a_faulty_instance_is_told_by_its_name() -> None:
    """Before any job is looked at."""
    tables = Tables(general={"mine.class": "hpa", "mine.window": "soon"})
    host = PluginHost(Catalog(Registry(), tables), PluginOptions())
    try:
        with pytest.raises(MisconfiguredPluginError, match=r"mine.*parameter window: 'soon'"):
            host.ready(Kind.METRIC_EVALUATOR, "mine")
    finally:
        host.close()
