"""What a local cluster is run with: a Java, a Flink, and archives of loaded classes that make it start sooner."""

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
class FlinkRuntime:
    """A Java and a Flink that run together."""

    java: Java
    home: Path
    """Flink's directory."""
    archives: ClassArchives | None = None

    def archive_options(self, main_class: str) -> tuple[str, ...]:
        """Return what the JVM of a main class is told about archives."""
        return self.archives.options(main_class) if self.archives else ()
