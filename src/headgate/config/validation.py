"""
Sections with declared keys into typed options. Every fault is noted; none hides another.

A value is checked on its own against its field's annotation, a group once all its own values are good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar, get_origin

from headgate.config.checks import check
from headgate.config.coercion import coerced, within
from headgate.config.origins import Findings, Items, Leaf, Origin, Section
from headgate.errors import HeadgateError
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.declaration import ENABLED, Declaration, Options, declarations, table_prefix
from headgate.options.expectation import bare, expected
from headgate.options.units import MemorySize

OptionsT = TypeVar("OptionsT", bound=Options)

_HINTS = {
    timedelta: ". Hint: write a number and its unit, like '30 s'",
    MemorySize: ". Hint: write a whole number and its unit, like '30 gb'",
}


class FaultyError(HeadgateError):
    """A value or a group could not be made; the findings say why. Never leaves this package."""


class _UnsetError(HeadgateError):
    """An option is not set: its default holds."""


def build(options: type[OptionsT], section: Section, findings: Findings, *, base: OptionsT | None = None) -> OptionsT:
    """
    Make the options that a section sets, the rest as in `base` or at their defaults.

    A faulty group inside it is left as in `base` or at its defaults: it holds only if `findings` has no faults.

    Raises:
        FaultyError: it cannot be made; `findings` says why.
    """
    values: dict[str, Any] = (
        {} if base is None else {each.name: getattr(base, each.name) for each in declarations(options)}
    )
    is_complete = True
    for declaration in _in_force(options, section, base):
        try:
            kept = getattr(base, declaration.name, None)
            values[declaration.name] = _read(declaration, section, findings, base=kept)
        except _UnsetError:
            is_complete &= _may_be_unset(declaration, section, findings, base=base)
        except FaultyError:
            # A faulty group stands aside, so that the faults between its neighbours still show.
            is_complete &= _is_group(declaration) and not declaration.required
    if not check(options, values, section, findings) or not is_complete:
        raise FaultyError
    try:
        if issubclass(options, AutoscalerOptions):
            values["keys_set"] = _keys_set(section, base)
        return options(**values)
    except ValueError as error:
        for fault in str(error).splitlines():
            findings.fault(_concerned(fault, section), fault)
        raise FaultyError from error


def _keys_set(section: Section, base: Options | None) -> tuple[str, ...]:
    before = base.keys_set if isinstance(base, AutoscalerOptions) else ()
    now = (key for key, setting in section.settings.items() if isinstance(setting, Items) or setting.text is not None)
    return tuple(sorted({*before, *now}))


def _in_force(options: type[Options], section: Section, base: Options | None) -> Iterator[Declaration]:
    """Give the declarations of a group, without their bounds where the switch that they depend on is off."""
    declared = declarations(options)
    off = {each.key for each in declared if _is_switch(each) and not _is_on(each, section, base)}
    for declaration in declared:
        if off & {ENABLED, declaration.checked_when}:
            yield replace(declaration, annotation=bare(declaration.annotation)[0])
        else:
            yield declaration


def _is_switch(declaration: Declaration) -> bool:
    return declaration.annotation is bool


def _is_on(switch: Declaration, section: Section, base: Options | None) -> bool:
    kept = switch.default if base is None else getattr(base, switch.name)
    try:
        return bool(_read(switch, section, Findings()))
    except _UnsetError:
        return bool(kept)
    except FaultyError:
        return True


def _read(declaration: Declaration, section: Section, findings: Findings, *, base: Any = None) -> Any:
    setting = section.settings.get(declaration.key)
    if isinstance(setting, Leaf) and setting.text is None:
        raise _UnsetError
    if declaration.group:
        _refuse_value(declaration, section, findings)
        return build(declaration.group, below(declaration.key, section), findings, base=base)
    if declaration.is_table:
        return _read_table(declaration, section, findings)
    if setting is None:
        raise _UnsetError
    if declaration.listed_group:
        return _read_groups(declaration, declaration.listed_group, setting, findings)
    return _read_value(declaration, setting, findings)


def _read_table(declaration: Declaration, section: Section, findings: Findings) -> dict[str, str]:
    _refuse_value(declaration, section, findings)
    table = {}
    for key, setting in below(declaration.key, section).settings.items():
        if isinstance(setting, Items):
            raise _unfit(setting.origin, "a list", "text", findings)
        if setting.text is not None:
            table[key] = setting.text
    return table


def _read_groups(
    declaration: Declaration, group: type[Options], setting: Leaf | Items, findings: Findings
) -> tuple[Options, ...]:
    if isinstance(setting, Leaf):
        raise _unfit(setting.origin, _found(declaration, setting), expected(declaration.annotation), findings)
    made = []
    for item in setting.items:
        try:
            if isinstance(item, Leaf):
                raise _unfit(item.origin, _found(declaration, item), "a section", findings)
            made.append(build(group, item, findings))
        except FaultyError:
            continue
    if setting.items and not made:
        raise FaultyError
    return tuple(made)


def _read_value(declaration: Declaration, setting: Leaf | Items, findings: Findings) -> Any:
    kind, _ = bare(declaration.annotation)
    try:
        return coerced(declaration.annotation, _raw(declaration, kind, setting))
    except ValueError as error:
        wanted = expected(declaration.annotation) + _HINTS.get(kind, "")
        raise _unfit(setting.origin, _found(declaration, setting), wanted, findings) from error


def _raw(declaration: Declaration, kind: Any, setting: Leaf | Items) -> Any:
    if get_origin(kind) is tuple:
        return _texts(setting, declaration.separators)
    if isinstance(setting, Items):
        message = "a list is no value"
        raise ValueError(message)  # noqa: TRY004 - a fault of the configuration, told like the others
    return setting.text or ""


def _texts(setting: Leaf | Items, separators: str) -> list[str | None]:
    if isinstance(setting, Leaf):
        parts = re.split(f"[{separators}]", setting.text or "")
        return [part.strip() for part in parts if part.strip()]
    return [item.text if isinstance(item, Leaf) else None for item in setting.items]


def below(key: str, section: Section) -> Section:
    """Give the settings below a key, with that key cut off."""
    prefix = table_prefix(key)
    inner = {name.removeprefix(prefix): value for name, value in section.settings.items() if name.startswith(prefix)}
    return Section(settings=inner, origin=section.origin)


def _refuse_value(declaration: Declaration, section: Section, findings: Findings) -> None:
    """Refuse a value where only keys below it are expected."""
    setting = section.settings.get(declaration.key)
    if setting is not None:
        wanted = expected(declaration.annotation)
        raise _unfit(setting.origin, _found(declaration, setting), wanted, findings)


def _may_be_unset(declaration: Declaration, section: Section, findings: Findings, *, base: Options | None) -> bool:
    if base is not None:
        value = getattr(base, declaration.name)
        is_still_unset = value is None and declaration.default is None
        return is_still_unset or _may_stay(declaration, value, section, findings)
    if declaration.required and section.is_complete:
        findings.fault(section.origin, f"{declaration.key} is missing, expected {expected(declaration.annotation)}")
    return not declaration.required


def _may_stay(declaration: Declaration, value: Any, section: Section, findings: Findings) -> bool:
    """Check a value of the base again: the section may have turned on the switch that its bounds depend on."""
    try:
        within(declaration.annotation, value)
    except ValueError:
        found = f"{declaration.key}: found {value!r}"
        findings.fault(section.origin, f"{found}, expected {expected(declaration.annotation)}")
        return False
    return True


def _is_group(declaration: Declaration) -> bool:
    return declaration.group is not None or declaration.listed_group is not None


def _unfit(origin: Origin, found: str, wanted: str, findings: Findings) -> FaultyError:
    findings.fault(origin, f"found {found}, expected {wanted}")
    return FaultyError()


def _found(declaration: Declaration, setting: Leaf | Items) -> str:
    if isinstance(setting, Items):
        return "a list"
    return "a text that is not shown" if declaration.secret else repr(setting.text)


def _concerned(message: str, section: Section) -> Origin:
    """Find the places of the settings that a fault between several options names."""
    origins = [
        setting.origin
        for key, setting in section.settings.items()
        if re.search(rf"(?<![\w.-]){re.escape(key)}(?![\w.-])", message)
    ]
    if len(origins) == 1:
        return origins[0]
    return Origin(source=", ".join(dict.fromkeys(map(str, origins)))) if origins else section.origin
