"""Python workers of the load source do not look at all that they have imported after each task."""

from __future__ import annotations

import subprocess
import sys

WORKER = """
import gc
import headgate.engines.spark.source.load
from headgate.engines.spark.source.collecting import collect_quickly
gc.collect()
before = len(gc.get_objects(generation=2))
collect_quickly()
print(before, gc.get_freeze_count(), len(gc.get_objects(generation=2)))
"""


def test_what_was_imported_is_not_looked_at_again() -> None:
    """Of tens of thousands of old objects a collection sees none."""
    worker = subprocess.run([sys.executable, "-c", WORKER], stdout=subprocess.PIPE, text=True, check=True)
    before, spared, left = map(int, worker.stdout.split())
    assert before > 10_000
    assert spared >= before
    assert left < 100
