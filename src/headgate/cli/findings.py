"""How findings look in a terminal: a table for each thing that was looked at, and a line that counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from headgate.cli import console
from headgate.doctor.findings import Finding, Report, Verdict
from headgate.model.printable import printable

_LOOKS = {
    Verdict.OK: ("ok", "green"),
    Verdict.WARNING: ("warning", "yellow"),
    Verdict.FAILURE: ("FAILURE", "bold red"),
}
_MANY = {Verdict.OK: "ok", Verdict.WARNING: "warnings", Verdict.FAILURE: "FAILURES"}


def show(reports: Sequence[Report]) -> None:
    """Print all findings, and how many there are of each kind."""
    for report in reports:
        if report.findings:
            console.out.print(Text(f"\n{printable(report.about)}", style="bold"))
            console.out.print(_table(report.findings), soft_wrap=False)
    counted = Counter(found.verdict for report in reports for found in report.findings)
    parts = [
        f"{number} {_MANY[verdict] if number > 1 else name}"
        for verdict, (name, _) in _LOOKS.items()
        if (number := counted[verdict])
    ]
    console.out.print(f"\n{', '.join(parts)}")


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(min_width=7, no_wrap=True)
    table.add_column(min_width=18, max_width=24)
    table.add_column(ratio=1)
    for found in findings:
        name, style = _LOOKS[found.verdict]
        table.add_row(Text(name, style=style), _plain(found.check), _told(found))
    return table


def _told(found: Finding) -> Group:
    """Give what was seen, and below it why it matters and what to do."""
    further = [_plain(found.why, style="dim")] if found.why else []
    further += [_plain(f"-> {found.remedy}")] if found.remedy else []
    return Group(_plain(found.seen), *further)


def _plain(text: str, *, style: str = "") -> Text:
    """Give a text that is no markup and no order to the terminal: much of it is somebody else's."""
    return Text(printable(text), style=style)
