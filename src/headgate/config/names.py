"""Every spelling of every option: aliases, old names and prefixes are turned into the one key that is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from headgate.config.flatten import items_of
from headgate.config.origins import Findings, Items, Leaf, Section
from headgate.config.sources import ENVIRONMENT
from headgate.config.trees import Listing, ParseError
from headgate.options.declaration import Declaration, Options, declarations, table_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """One way to write an option's key."""

    key: str
    """The key as declared, with those of the groups around it."""
    declaration: Declaration
    weakness: int = 0
    """0 for the declared key, most for those apart; where an option is set under several, the smallest wins."""
    is_old: bool = False
    is_apart: bool = False
    """Whether it is the whole key, whatever group the option stands in."""


def spellings(options: type[Options]) -> Mapping[str, Spelling]:
    """Give every spelling of the options of a class and of the groups in it, the groups' own keys included."""
    group: Any = options  # a class of our own is hashable, which mypy does not see
    return _spellings(group)


def canonical(options: type[Options], section: Section, findings: Findings) -> Section:
    """
    Rename the settings of a section to the declared keys.

    Args:
        options: what the section sets.
        section: as it was written.
        findings: takes a fault for each unknown key, and a warning for each old one.
    """
    known = spellings(options)
    chosen: dict[str, tuple[int, Leaf | Items]] = {}
    for written, setting in section.settings.items():
        found = find(known, written)
        if found is None:
            _report_unknown(known, written, setting, findings)
            continue
        if found.is_old:
            findings.warn(setting.origin, f"an old name. Hint: write {found.key}")
        rank = found.weakness
        if found.key not in chosen or rank < chosen[found.key][0]:
            chosen[found.key] = rank, _canonical_items(found.declaration, setting, findings)
    return replace(section, settings={key: setting for key, (_, setting) in chosen.items()})


@cache
def _spellings(options: Any) -> Mapping[str, Spelling]:
    return dict(_spell(options))


def _spell(options: type[Options]) -> Iterator[tuple[str, Spelling]]:
    for declaration in declarations(options):
        own = (declaration.key, *declaration.aliases, *declaration.deprecated)
        inner = spellings(declaration.group) if declaration.group else {}
        for weakness, name in enumerate(own):
            is_old = name in declaration.deprecated
            yield (
                name,
                Spelling(key=declaration.key, declaration=declaration, weakness=weakness, is_old=is_old),
            )
            for below, spelling in inner.items():
                moved = replace(
                    spelling,
                    key=f"{declaration.key}.{spelling.key}",
                    # An old name under the declared prefix is weaker than the new one under another prefix.
                    weakness=spelling.weakness * len(own) + weakness,
                    is_old=spelling.is_old or is_old,
                )
                yield (below if spelling.is_apart else f"{name}.{below}"), moved
                if spelling.is_apart and below == spelling.declaration.key:
                    yield f"{name}.{below}", replace(moved, weakness=weakness, is_apart=False)
        # Last: one that is called the same inside its section and apart from it is known as both further up.
        for weakness, name in enumerate(declaration.apart, start=len(own)):
            yield name, Spelling(key=declaration.key, declaration=declaration, weakness=weakness, is_apart=True)


def find(known: Mapping[str, Spelling], written: str) -> Spelling | None:
    """Find what a key means, also one that the user chose in a table."""
    if written in known:
        return known[written]
    for name, spelling in known.items():
        prefix = table_prefix(name)
        if spelling.declaration.is_table and written.startswith(prefix):
            return replace(spelling, key=table_prefix(spelling.key) + written.removeprefix(prefix))
    # a variable has our name already: HEADGATE_PARITY
    return known.get(f"headgate.{written}")


def _canonical_items(declaration: Declaration, setting: Leaf | Items, findings: Findings) -> Leaf | Items:
    """Rename inside a list of groups; where it comes as one text, read that text as YAML first."""
    group = declaration.listed_group
    if group is None:
        return setting
    items = _items_in(setting, findings) if isinstance(setting, Leaf) else setting
    if isinstance(items, Leaf):
        return items
    renamed = [canonical(group, item, findings) if isinstance(item, Section) else item for item in items.items]
    return replace(items, items=tuple(renamed))


def _items_in(leaf: Leaf, findings: Findings) -> Leaf | Items:
    from headgate.config.yaml_trees import parse_yaml  # noqa: PLC0415 - an attached agent has no lists of groups

    try:
        tree = parse_yaml(leaf.text or "")
    except ParseError:
        return leaf
    return items_of(tree, leaf.origin, findings) if isinstance(tree, Listing) else leaf


def _report_unknown(known: Mapping[str, Spelling], written: str, setting: Leaf | Items, findings: Findings) -> None:
    near = _nearest(known, written)
    hint = f". Hint: did you mean {' or '.join(near)}?" if near else ""
    if not setting.origin.source.startswith(ENVIRONMENT):
        findings.fault(setting.origin, f"unknown option{hint}")
    elif near:
        # A variable with our prefix need not be an option: a secret may have such a name.
        findings.warn(setting.origin, f"not an option{hint}")


def _nearest(known: Mapping[str, Spelling], written: str) -> tuple[str, ...]:
    """Give the keys that may have been meant; a section's prefix, which all inside share, is not compared."""
    sections = [f"{name}." for name, spelling in known.items() if spelling.declaration.group]
    section = max((name for name in sections if written.startswith(name)), key=len, default="")
    inside = {name.removeprefix(section): known[name].key for name in known if name.startswith(section)}
    near = get_close_matches(written.removeprefix(section), inside)
    return tuple(dict.fromkeys(inside[name] for name in near))
