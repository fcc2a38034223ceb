"""Flink's Prometheus reporter on the loopback: the stock one listens on every address and cannot be told otherwise."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

from headgate.engines.flink.local.compile import Program, compiled_jar
from headgate.engines.flink.local.runtime import FlinkRuntime

_FACTORY = "org.apache.flink.metrics.prometheus.LoopbackReporterFactory"
_SERVICE = "META-INF/services/org.apache.flink.metrics.reporter.MetricReporterFactory"


def reporting(runtime: FlinkRuntime, directory: Path) -> FlinkRuntime:
    """Give the same Flink with the reporter as its one plugin; `directory` is empty and keeps it."""
    libraries, plugin = directory / "lib", directory / "plugins" / "loopback"
    for place in (libraries, plugin):
        place.mkdir(parents=True)
    for jar in (runtime.home / "lib").glob("*.jar"):
        (libraries / jar.name).symlink_to(jar)
    (stock,) = (runtime.home / "plugins" / "metrics-prometheus").glob("*.jar")
    (plugin / stock.name).symlink_to(stock)
    shutil.copyfile(_compiled(runtime, directory / "compiling"), plugin / "loopback.jar")
    with ZipFile(plugin / "loopback.jar", "a") as reporter:
        reporter.writestr(_SERVICE, _FACTORY)
    # the archives of loaded classes hold for the class path that they were recorded with
    return replace(runtime, home=directory, archives=None)


def reporting_settings(targets: Path) -> Mapping[str, str]:
    """Give Flink's settings for it: each process writes its address to a file in a directory."""
    return {
        "metrics.reporters": "loopback",
        "metrics.reporter.loopback.factory.class": _FACTORY,
        "metrics.reporter.loopback.targets": str(targets),
    }


def _compiled(runtime: FlinkRuntime, directory: Path) -> Path:
    """Compile with the stock reporter beside Flink's own libraries."""
    libraries = directory / "lib"
    libraries.mkdir(parents=True)
    for jar in (
        *(runtime.home / "lib").glob("*.jar"),
        *(runtime.home / "plugins" / "metrics-prometheus").glob("*.jar"),
    ):
        (libraries / jar.name).symlink_to(jar)
    sources = tuple(Path(__file__).parent.glob("*.java"))
    program = Program(name="loopback-reporter", main_class=_FACTORY, sources=sources)
    return compiled_jar(program, java=runtime.java, flink_home=directory)
