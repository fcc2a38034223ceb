"""The page of the benchmarks: each benchmark owns the part between its marks, made from its raw results."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "benchmarks.md"


def with_part(page: str, part: str, *, begin: str, end: str) -> str:
    """
    Put the part between its marks.

    Raises:
        ValueError: the page lacks a mark.
    """
    before, _, rest = page.partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        message = f"the page lacks the marks {begin} and {end}"
        raise ValueError(message)
    return f"{before}{begin}\n{part}{end}{after}"
