"""How the JVMs of a Flink cluster are started directly, without Flink's shell scripts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headgate.engines.flink.local.distribution import classpath
from headgate.engines.flink.local.runtime import Application, FlinkRuntime

_EXPORTED = ("java.rmi/sun.rmi.registry", "java.security.jgss/sun.security.krb5")
_OPENED = (
    "java.lang",
    "java.net",
    "java.io",
    "java.nio",
    "sun.nio.ch",
    "java.lang.reflect",
    "java.text",
    "java.time",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.concurrent.locks",
)

# The JVMs are many, small and short-lived: an optimizing compiler would never earn back what it takes.
FAST_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")

LOG4J = """\
rootLogger.level = INFO
rootLogger.appenderRef.file.ref = file
appender.file.name = file
appender.file.type = File
appender.file.fileName = ${sys:log.file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %-5p %-60c %x - %m%n
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jvm:
    """One process of the cluster."""

    name: str
    main_class: str
    options: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    tuning: tuple[str, ...] = FAST_START
    """How the JVM itself works: its garbage collector, its compilers."""


def job_manager(name: str, application: Application | None = None) -> Jvm:
    """Return the JobManager of a session cluster, or of an application's."""
    options = ("-Xmx448m",)
    if application is None:
        main_class = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
        return Jvm(name=name, main_class=main_class, options=options)
    main_class = "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"
    arguments = ("--job-classname", application.entry_class, *application.arguments)
    return Jvm(name=name, main_class=main_class, options=options, arguments=arguments)


def task_manager(name: str, options: tuple[str, ...] = ()) -> Jvm:
    """Return a TaskManager; its options are those of its memory, see `settings.memory_options`."""
    return Jvm(
        name=name,
        main_class="org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
        options=options,
        arguments=("-D", f"taskmanager.resource-id={name}"),
    )


def command(jvm: Jvm, runtime: FlinkRuntime, directory: Path) -> list[str]:
    """Return the words that start a process whose `conf` and `log` are in a directory."""
    return [
        str(runtime.java.executable),
        *jvm.options,
        *jvm.tuning,
        *runtime.archive_options(jvm.main_class),
        *(f"--add-exports={package}=ALL-UNNAMED" for package in _EXPORTED),
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        f"-Djava.io.tmpdir={directory / 'tmp'}",
        f"-Dlog.file={directory / 'log' / jvm.name}.log",
        f"-Dlog4j.configurationFile={(directory / 'conf' / 'log4j.properties').as_uri()}",
        "-cp",
        _classpath(runtime),
        jvm.main_class,
        "--configDir",
        str(directory / "conf"),
        *jvm.arguments,
    ]


def _classpath(runtime: FlinkRuntime) -> str:
    # Flink's own jars come first: the archives of loaded classes hold for a class path that begins with them.
    own = [str(runtime.application.jar)] if runtime.application else []
    return ":".join([classpath(runtime.home), *own])
