"""Work that takes time but no processor: many executors can be busy at once on a small machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from headgate.engines.spark.source.collecting import collect_quickly

if TYPE_CHECKING:
    from pyarrow import RecordBatch

Work = Callable[["Iterator[RecordBatch]"], "Iterator[RecordBatch]"]


def sleep_per_row(row_ms: float) -> Work:
    """
    Return a function for `DataFrame.mapInArrow` that takes so many milliseconds a row and passes the rows on.

    Args:
        row_ms: of one core; 0 or more.
    """

    def work(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        collect_quickly()
        for batch in batches:
            time.sleep(batch.num_rows * row_ms / 1000)
            yield batch

    return work
