"""An application without work that asks for executors whenever a file in its directory names another number."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from headgate.engines.spark.attached.lever import open_lever


def main(directory: Path) -> None:
    """Ask until the number is 0."""
    session = SparkSession.builder.appName("asking").getOrCreate()
    lever = open_lever(session)
    with asyncio.Runner() as runner:
        while count := int((directory / "executors").read_text(encoding="utf-8")):
            runner.run(lever.request(count))
            time.sleep(0.5)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
