"""What is noted about the machine beside the runs."""

from __future__ import annotations

import os
import platform
from datetime import datetime

from headgate.engines.flink.local.java import Java


def load_average() -> float:
    """Return how many processes wanted to run, on average over a minute."""
    return os.getloadavg()[0]


def describe_machine(flink: str, java: Java | None, *, now: datetime) -> str:
    """Return one line about where the following rows come from; it names no machine."""
    memory_gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    parts = [
        f"{now:%Y-%m-%d %H:%M} UTC",
        f"{os.cpu_count()} cores",
        f"{memory_gib:.0f} GiB",
        platform.system(),
        f"Flink {flink}",
        *([f"Java {java.major}"] if java else []),
    ]
    return "measured on: " + ", ".join(parts)
