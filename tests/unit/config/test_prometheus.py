"""A cluster's Prometheus as it is declared, what is refused, and which collector then observes its jobs."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from headgate.config import describe, load_config
from headgate.errors import ConfigError, UnreachableError
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.service import ServiceOptions
from headgate.plugins.kinds import Kind
from headgate.ports import JobContext
from headgate.testing.conformance.metric_collector import TICK
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import chain
from headgate.wiring.engines import open_engines
