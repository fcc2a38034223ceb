"""Headgate inside of a PySpark application: `headgate.attach` begins it; here is what its author writes with."""

from __future__ import annotations

from headgate.engines.spark.attached.start_settings import QueryFactory, StartSettings

__all__ = ["QueryFactory", "StartSettings"]
