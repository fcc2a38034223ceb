"""Trees into sections: nested and dotted keys are the same thing, and no key may stand twice."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.config.origins import Findings, Items, Leaf, Origin, Section
from headgate.config.trees import Listing, Scalar, Table, Tree


def flatten(table: Table, origin: Origin, findings: Findings) -> Section:
    """
    Dissolve the tables inside a table into dotted keys.

    Args:
        table: what was read.
        origin: its place; its key is the prefix under which faults name what is inside.
        findings: takes a fault for each key that stands twice and each list inside a list.
    """
    settings: dict[str, Leaf | Items] = {}
    for key, tree in _walk(table, ""):
        place = Origin(source=origin.source, line=tree.line, key=f"{origin.key}.{key}".lstrip("."))
        if key in settings:
            findings.fault(place, f"stands twice, first at {settings[key].origin}")
            continue
        settings[key] = _setting(tree, place, findings)
    return Section(settings=settings, origin=origin)


def _walk(table: Table, prefix: str) -> Iterator[tuple[str, Scalar | Listing]]:
    for key, tree in table.entries:
        if isinstance(tree, Table):
            yield from _walk(tree, f"{prefix}{key}.")
        else:
            yield prefix + key, tree


def _setting(tree: Scalar | Listing, origin: Origin, findings: Findings) -> Leaf | Items:
    if isinstance(tree, Scalar):
        return Leaf(text=tree.text, origin=origin)
    return items_of(tree, origin, findings)


def items_of(listing: Listing, origin: Origin, findings: Findings) -> Items:
    """Turn a list of values or tables into one of leaves and sections."""
    items = [_item(tree, origin, index, findings) for index, tree in enumerate(listing.items)]
    return Items(items=tuple(item for item in items if item), origin=origin)


def _item(tree: Tree, parent: Origin, index: int, findings: Findings) -> Leaf | Section | None:
    origin = Origin(source=parent.source, line=tree.line or parent.line, key=f"{parent.key}[{index}]")
    match tree:
        case Scalar():
            return Leaf(text=tree.text, origin=origin)
        case Table():
            return flatten(tree, origin, findings)
        case Listing():
            findings.fault(origin, "a list inside a list is not expected")
            return None
