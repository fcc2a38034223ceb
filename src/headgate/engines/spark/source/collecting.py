"""Python workers that have little to do between two tasks."""

from __future__ import annotations

import gc

_FEW = 5000
"""Objects that a garbage collection looks at in no time."""
_MOST = 200_000
"""What was frozen is never collected: where more than libraries gathers, it is left to the collection."""
_OLD = 2
"""The generation of what has outlived two collections, such as modules."""


def collect_quickly() -> None:
    """
    Spare what this process has imported from garbage collection.

    PySpark collects after each task. With the usual libraries loaded that takes 40 to 70 ms of a core, more than most
    tasks of this source, and nothing that was imported is ever garbage.
    """
    if len(gc.get_objects(generation=_OLD)) > _FEW and gc.get_freeze_count() < _MOST:
        gc.freeze()
