"""
Headgate as an archive for Spark's workers, whose Python need not have it.

The reduction of the live cycle is Spark's own code and runs no Python on the workers. What does is a replay, and
collecting for fleets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pyspark.sql import SparkSession

_PACKAGE = Path(__file__).parents[1]
_TOLD = ("METADATA", "entry_points.txt")
"""What a plugin's name is looked up in."""


def ship(session: SparkSession) -> None:
    """
    Let the workers of a session import this very Headgate; again for the same session is no work.

    Raises:
        Py4JError: Spark does not take the archive.
        OSError: it cannot be written.
    """
    context = session.sparkContext
    archive = write_archive(Path(context._temp_dir))  # noqa: SLF001 - lasts as long as late workers may ask for it
    if archive.name not in (context._python_includes or ()):  # noqa: SLF001 - PySpark would put it on our own path once more
        context.addPyFile(str(archive))


def write_archive(folder: Path) -> Path:
    """
    Write the package into a zip below a folder, named by what is in it; one that stands there already is that.

    Raises:
        OSError: it cannot be written.
    """
    parts = dict(_parts())
    digest = hashlib.sha256(b"".join(name.encode() + content for name, content in parts.items()))
    archive = folder / f"headgate-{digest.hexdigest()[:12]}.zip"
    if not archive.exists():
        with ZipFile(archive, "w", ZIP_DEFLATED) as whole:
            for name, content in parts.items():
                whole.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return archive


def _parts() -> Iterator[tuple[str, bytes]]:
    for file in sorted(_PACKAGE.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield str(Path(_PACKAGE.name) / file.relative_to(_PACKAGE)), file.read_bytes()
    yield from _distribution()


def _distribution() -> Iterator[tuple[str, bytes]]:
    """Give what tells that the package is installed; nothing where it is only on the path."""
    try:
        installed = distribution(_PACKAGE.name)
    except PackageNotFoundError:
        return
    for name in _TOLD:
        text = installed.read_text(name)
        if text is not None:
            yield f"{_PACKAGE.name}-{installed.version}.dist-info/{name}", text.encode()
