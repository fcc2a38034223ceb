"""Python workers of the load source do not look at all that they have imported after each task."""

from __future__ import annotations

import gc

from headgate.engines.spark.source.collecting import collect_quickly


def test_what_was_imported_is_not_looked_at_again() -> None:
    """Of thousands of old objects a collection sees none, until there are many new ones."""
    gc.collect()
    many = len(gc.get_objects(generation=2))
    assert many > 5000
    collect_quickly()
    try:
        assert gc.get_freeze_count() >= many
        assert len(gc.get_objects(generation=2)) < 5000
    finally:
        gc.unfreeze()
