"""The archive that workers import Headgate from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from headgate.pipeline.shipping import write_archive


def test_the_archive_holds_the_whole_package(tmp_path: Path) -> None:
    """With what is no code, and with what tells of plugins; nothing that was compiled here."""
    names = ZipFile(write_archive(tmp_path)).namelist()
    assert {"headgate/__init__.py", "headgate/pipeline/log4j2.properties"} <= set(names)
    assert any(name.endswith(".dist-info/entry_points.txt") for name in names)
    assert not any(name.endswith(".pyc") for name in names)


def test_the_same_package_is_the_same_archive(tmp_path: Path) -> None:
    """Its name tells what is in it, and it is written once."""
    first = write_archive(tmp_path)
    written_ns = first.stat().st_mtime_ns
    assert write_archive(tmp_path) == first
    assert first.stat().st_mtime_ns == written_ns


def test_headgate_can_be_imported_from_it(tmp_path: Path) -> None:
    """Where nothing else is on the path but the standard library."""
    program = "import sys; sys.path = [p for p in sys.path if 'site-packages' not in p] + sys.argv[1:]; "
    program += "from headgate.model.identity import JobKey; import headgate; print(headgate.__file__)"
    command = [sys.executable, "-I", "-S", "-c", program, str(write_archive(tmp_path))]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.startswith(str(tmp_path))
