"""A Python that has some installed distributions and what they need, and nothing else: such as Spark's workers have."""

from __future__ import annotations

import re
import sys
import venv
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def make_bare_python(folder: Path, *names: str) -> Path:
    """
    Make a virtual environment below a folder out of links to what is installed here, and give its interpreter.

    Args:
        folder: which is made.
        names: of distributions that are installed; what they require comes with them.

    Raises:
        PackageNotFoundError: one of these is not installed.
    """
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for top, place in _parts(names):
        (packages / top).symlink_to(place)
    return folder / "bin" / "python"


def _parts(names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Give what these distributions and all that they need consist of, each by its name in `site-packages`."""
    wanted, seen = {_plain(name): distribution(name) for name in names}, set[str]()
    while wanted:
        name, one = wanted.popitem()
        seen.add(name)
        wanted |= {name: found for name, found in _required(one) if name not in seen}
        tops = {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}
        yield from ((top, Path(str(one.locate_file(top)))) for top in sorted(tops))


def _required(one: Distribution) -> Iterator[tuple[str, Distribution]]:
    for each in one.requires or ():
        found = _NAME.match(each)
        if found and "extra ==" not in each:
            # Some are for other machines than this one.
            with suppress(PackageNotFoundError):
                yield _plain(found[0]), distribution(found[0])


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
