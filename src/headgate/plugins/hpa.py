"""The evaluator with the policy of the 2021 paper, as a plugin; the rules are `algorithm.hpa`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from headgate.algorithm.hpa.evaluation import evaluate
from headgate.algorithm.hpa.settings import Scope, Settings
from headgate.model.metrics import EvaluatedMetrics, NotReady
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.units import parse_duration
from headgate.ports import CollectedMetrics


class HpaMetricEvaluator:
    """
    A `ports.MetricEvaluator`: a job gets the parallelism that a horizontal pod autoscaler would give it.

    It keeps nothing between two calls: what was recommended earlier follows from the samples. Its target is the job's
    `utilization.target`.
    """

    def __init__(self, parameters: Mapping[str, str] = {}, /) -> None:
        """
        Read the parameters, all of which have defaults.

        `scope` (`job` or `vertex`), `window`, `lag.minimum` (records), `scale-up.tolerance`, `scale-down.tolerance`
        (shares), `scale-up.stabilization-window`, `scale-down.stabilization-window` (durations).

        Raises:
            ValueError: one is unknown or is not what it should be; all faults together, a line each.
        """
        self._settings = settings_of(parameters)

    def evaluate(
        self, conf: AutoscalerOptions, collected: CollectedMetrics, _restart_time: timedelta, /
    ) -> EvaluatedMetrics | NotReady:
        """
        Give the job's metrics; how long a rescale takes is nothing that the policy knows of.

        Raises:
            ValueError: the job's metric window is too short for the policy, or its utilization target is 0.
        """
        return evaluate(collected.topology, collected.samples, conf, self._settings)


def settings_of(parameters: Mapping[str, str]) -> Settings:
    """
    Read the settings.

    Raises:
        ValueError: faults, a line each.
    """
    faults = [
        f"unknown parameter {name}. Hint: there is {', '.join(PARAMETERS)}"
        for name in sorted(parameters.keys() - PARAMETERS.keys())
    ]
    read = dict[str, Any]()
    for name in parameters.keys() & PARAMETERS.keys():
        try:
            read[name.replace(".", "_").replace("-", "_")] = PARAMETERS[name](parameters[name].strip())
        except ValueError as error:
            faults.append(f"parameter {name}: {error}")
    if faults:
        raise ValueError("\n".join(sorted(faults)))
    return Settings(**read)


def _scope(text: str) -> Scope:
    if text not in set(Scope):
        message = f"{text!r} is no scope. Hint: there is {', '.join(Scope)}"
        raise ValueError(message)
    return Scope(text)


def _window(text: str) -> timedelta:
    window = parse_duration(text)
    if not window:
        message = f"{text!r} must be above zero"
        raise ValueError(message)
    return window


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        message = f"{text!r} is no number of 0 or more"
        raise ValueError(message)
    return number


PARAMETERS: Mapping[str, Callable[[str], Any]] = {
    "scope": _scope,
    "window": _window,
    "lag.minimum": _number,
    "scale-up.tolerance": _number,
    "scale-down.tolerance": _number,
    "scale-up.stabilization-window": parse_duration,
    "scale-down.stabilization-window": parse_duration,
}
"""What reads each parameter; its name is that of the setting."""
