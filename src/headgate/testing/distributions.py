"""Throw-away distributions: what `importlib.metadata` finds in a folder on the path, without a package manager."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent


def write_distribution(folder: Path, name: str, points: Mapping[str, Mapping[str, str]], code: str) -> None:
    """
    Write a distribution of one module.

    Args:
        folder: is, or will be, on the path.
        name: of the distribution; the module is called so too, hyphens as underscores.
        points: by entry point group, names and what they name in the module: `{"group": {"name": "Class"}}`.
        code: of the module.
    """
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(dedent(code), encoding="utf-8")
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = [line for group, names in points.items() for line in _section(group, module, names)]
    (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def _section(group: str, module: str, names: Mapping[str, str]) -> list[str]:
    return [f"[{group}]", *(f"{name} = {module}:{attribute}" for name, attribute in names.items())]
