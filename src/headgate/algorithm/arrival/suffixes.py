"""Sums over stretches from each column to the end, so that whatever lies between two columns is one difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from headgate.algorithm.arrival.stretches import Stretches
from headgate.algorithm.rates import MILLIS
from headgate.algorithm.stats import Floats

Number = TypeVar("Number", np.float64, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suffixes:
    """Of n sources, (n, k + 1); in the last column stands what is left at the end, nothing."""

    took_s: Floats
    came: Floats
    """Records."""

    @classmethod
    def of(cls, stretches: Stretches) -> Suffixes:
        """Add up whole numbers."""
        return cls(took_s=_sums(stretches.took_ms) / MILLIS, came=_sums(stretches.came) / MILLIS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """What a line through stretches needs beside `Suffixes`, (n, k + 1); ages are seconds before the end."""

    took_age: Floats
    """Of seconds times their age."""
    took_age_squared: Floats
    came_age: Floats
    """Of records times their age."""
    came_rate: Floats
    """Of records times the rate at which they came."""

    @classmethod
    def of(cls, sums: Suffixes) -> Moments:
        """Take each stretch at its middle."""
        took_s, came = -np.diff(sums.took_s, axis=1), -np.diff(sums.came, axis=1)
        age = (sums.took_s[:, 1:] + sums.took_s[:, :-1]) / 2
        rate = np.divide(came, took_s, out=np.zeros_like(came), where=took_s > 0)
        return cls(
            took_age=_sums(took_s * age),
            took_age_squared=_sums(took_s * age**2),
            came_age=_sums(came * age),
            came_rate=_sums(came * rate),
        )


def _sums(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Add up one after the other from the right: the same to the bit, however long another source's past is."""
    summed: npt.NDArray[Number] = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
    return np.hstack([summed, np.zeros((len(values), 1), dtype=summed.dtype)])
