"""What a local cluster is run with: a Java, a Flink, archives of loaded classes, and its job if it is one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headgate.engines.flink.local.java import Java


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassArchives:
    """A directory with one archive for each main class (Java's application class-data sharing)."""

    directory: Path
    recording: bool = False
    """Whether a JVM writes its archive when it ends, instead of reading it when it starts."""

    def options(self, main_class: str) -> tuple[str, ...]:
        """Return what a JVM is told; nothing where its archive could not be recorded."""
        archive = self.directory / f"{main_class.rpartition('.')[2]}.jsa"
        if self.recording:
            return (f"-XX:ArchiveClassesAtExit={archive}",)
        return (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """The one job of an application cluster, which lives and ends with it."""

    jar: Path
    """On the class path of every process: the cluster loads the job as its own code."""
    entry_class: str
    """Full name of the class whose `main` builds the job."""
    arguments: tuple[str, ...] = ()
    """Of that `main`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlinkRuntime:
    """A Java and a Flink that run together."""

    java: Java
    home: Path
    """Flink's directory."""
    archives: ClassArchives | None = None
    application: Application | None = None
    """Makes the cluster one of this job; without it, it is a session cluster, to which jobs are submitted."""

    def archive_options(self, main_class: str) -> tuple[str, ...]:
        """Return what the JVM of a main class is told about archives."""
        return self.archives.options(main_class) if self.archives else ()
