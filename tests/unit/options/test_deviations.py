"""The page about deviations tells of each one, with the cases it changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from headgate.options.deviations import Deviation

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "deviations.md").read_text(encoding="utf-8")
CASES = yaml.safe_load((ROOT / "tests" / "golden" / "deviations.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("deviation", Deviation)
def test_each_deviation_is_explained(deviation: Deviation) -> None:
    """Its section names the cases that it changes, all of them and no others."""
    section = PAGE.partition(f"### `{deviation}`\n")[2].partition("\n### ")[0]
    named = section.partition("*Cases:*")[2].partition("*Test")[0]

    assert section
    assert {name for name in named.split("`") if "-" in name} == set(CASES.get(str(deviation), {"cases": ()})["cases"])


def test_the_page_tells_of_nothing_else() -> None:
    """A rule that is gone leaves no section behind."""
    named = {line.strip("# `\n") for line in PAGE.splitlines() if line.startswith("### `")}

    assert named == {str(deviation) for deviation in Deviation}


def test_every_named_test_exists() -> None:
    """A reader finds the proof."""
    paths = {word.strip("`,.()") for word in PAGE.split() if word.strip("`,.()").startswith("tests/")}

    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
