"""`python -m benchmarks.ds2`: run, print the page's part, and write it where that is asked for."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.ds2.page import BEGIN, END, rendered
from benchmarks.ds2.results import results
from benchmarks.page import PAGE, with_part

SEEDS = tuple(range(10))
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "ds2.json"


def main() -> None:
    """Run the benchmark; the page is always made from the results as JSON holds them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ds2", description="DS2's results, and Headgate's.")
    parser.add_argument("--seed", type=int, action="append", help="of the random queries; may be given several times")
    parser.add_argument("--write-docs", action="store_true", help=f"write {RESULTS.name} and {PAGE.name}")
    parser.add_argument("--render", action="store_true", help="run nothing: take the results that are written already")
    arguments = parser.parse_args()
    text = RESULTS.read_text(encoding="utf-8") if arguments.render else _run(tuple(arguments.seed or SEEDS))
    part = rendered(json.loads(text))
    print(part)
    if arguments.write_docs:
        RESULTS.write_text(text, encoding="utf-8")
        PAGE.write_text(with_part(PAGE.read_text(encoding="utf-8"), part, begin=BEGIN, end=END), encoding="utf-8")


def _run(seeds: tuple[int, ...]) -> str:
    return json.dumps(results(seeds), separators=(",", ":")).replace('},"', '},\n"') + "\n"


if __name__ == "__main__":
    main()
