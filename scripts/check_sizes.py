"""Refuse files above 400 lines and functions above 50: a file is read in one sitting."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_FILE = 400
MAX_FUNCTION = 50
ROOTS = ("src", "tests", "benchmarks", "scripts")


def faults(path: Path) -> Iterator[str]:
    """Name everything in the file that is too long."""
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    if lines > MAX_FILE:
        yield f"{path}: {lines} lines, at most {MAX_FILE}"
    if path.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, at most {MAX_FUNCTION}"


def main() -> int:
    """Check every source file; 1 when something is too long."""
    paths = sorted(path for root in ROOTS for path in Path(root).rglob("*") if path.suffix in {".py", ".java"})
    found = [fault for path in paths for fault in faults(path)]
    print("\n".join(found) or f"sizes: {len(paths)} files, none too long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
