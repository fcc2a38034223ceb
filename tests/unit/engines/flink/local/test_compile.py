"""Jars from Java sources, told with a script in the place of the compiler."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from headgate.engines.flink.local.compile import Program, compiled_jar
from headgate.engines.flink.local.java import Java
from headgate.errors import PermanentError

JAVAC = """#!/bin/sh
echo called >> "{calls}"
while [ "$1" != -d ]; do shift; done
mkdir "$2/lab" && echo compiled > "$2/lab/Main.class"
"""


@pytest.fixture
def java(tmp_path: Path) -> Java:
    """Return a Java whose compiler writes one class file and notes its calls."""
    home = tmp_path / "java"
    javac = home / "bin" / "javac"
    javac.parent.mkdir(parents=True)
    javac.write_text(JAVAC.format(calls=tmp_path / "calls"))
    javac.chmod(0o755)
    return Java(home=home, executable=home / "bin" / "java", major=17, origin="test")


@pytest.fixture
def flink_home(tmp_path: Path) -> Path:
    """Return a Flink that is a jar's name and nothing else."""
    lib = tmp_path / "flink" / "lib"
    lib.mkdir(parents=True)
    (lib / "flink-dist-2.3.0.jar").touch()
    return lib.parent


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Return a program of one source, with a cache of its own."""
    monkeypatch.setenv("HEADGATE_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "Main.java"
    source.write_text("class Main {}")
    return Program(name="lab", main_class="lab.Main", sources=(source,))


def test_the_jar_names_its_main_class(java: Java, flink_home: Path, program: Program) -> None:
    """It holds the classes under their packages, and a manifest; nothing else stays in the cache."""
    jar = compiled_jar(program, java=java, flink_home=flink_home)
    with ZipFile(jar) as archive:
        assert set(archive.namelist()) == {"META-INF/MANIFEST.MF", "lab/Main.class"}
        assert b"Main-Class: lab.Main\r\n" in archive.read("META-INF/MANIFEST.MF")
    assert [path.name for path in jar.parent.iterdir()] == ["lab.jar"]


def test_only_a_change_is_compiled_again(tmp_path: Path, java: Java, flink_home: Path, program: Program) -> None:
    """The same sources give the same jar; other sources, or another Flink, give another."""
    first = compiled_jar(program, java=java, flink_home=flink_home)
    assert compiled_jar(program, java=java, flink_home=flink_home) == first
    assert (tmp_path / "calls").read_text().count("called") == 1

    (flink_home / "lib" / "flink-dist-2.3.0.jar").rename(flink_home / "lib" / "flink-dist-2.2.1.jar")
    for_other_flink = compiled_jar(program, java=java, flink_home=flink_home)
    program.sources[0].write_text("class Main { int changed; }")
    assert len({first, for_other_flink, compiled_jar(program, java=java, flink_home=flink_home)}) == 3


def test_the_compilers_words_are_told(java: Java, flink_home: Path, program: Program) -> None:
    """What the compiler complains about is in the error."""
    (java.home / "bin" / "javac").write_text("#!/bin/sh\necho 'Main.java:1: what is this' >&2; exit 1\n")
    with pytest.raises(PermanentError, match=r"Main\.java:1: what is this"):
        compiled_jar(program, java=java, flink_home=flink_home)


def test_no_compiler_anywhere(java: Java, flink_home: Path, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without javac and without Maven the error says what is missing and what to install."""
    (java.home / "bin" / "javac").unlink()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PermanentError, match=r"no Java compiler: .* Hint: install a JDK"):
        compiled_jar(program, java=java, flink_home=flink_home)


def test_a_directory_without_flink(java: Java, tmp_path: Path, program: Program) -> None:
    """A half-unpacked distribution is named, not silently compiled against."""
    with pytest.raises(PermanentError, match="no Flink in"):
        compiled_jar(program, java=java, flink_home=tmp_path)
