"""Whether the plugins that options name are there. Nothing of a plugin is imported for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from headgate.config.origins import Findings, Items, Leaf, Origin, Section
from headgate.config.secrets import resolve
from headgate.options.declaration import ENABLED, PREFIX
from headgate.options.service import ServiceOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.registry import Registry, UnknownPluginError

INSTANCES = "headgate.plugins."
_EVALUATORS = f"{PREFIX}metrics.custom-evaluator."
_EXECUTORS = f"{PREFIX}scaling.custom-executor."
_ALIGNMENT = "scaling.parallelism-alignment.mode"
_ALIGNMENTS = f"{PREFIX}{_ALIGNMENT}."

_NAMED = {
    "metrics.collector.class": Kind.METRIC_COLLECTOR,
    "metric.evaluator.class": Kind.METRIC_EVALUATOR,
    "scaling.realizer.class": Kind.SCALING_REALIZER,
    "metrics.custom-evaluators": Kind.EVALUATOR_PLUGIN,
    "scaling.custom-executors": Kind.DECISION_PLUGIN,
    "rollback.checkers": Kind.UNRECOVERABLE_ERROR_CHECKER,
    "reactive.policy": Kind.SCALING_POLICY,
}
"""The options of a job that name plugins."""
_JOB_LISTS = "job-lists"
_PROVIDER = "workers.provider"
_INSTALLED = Registry()


def check_plugins(section: Section, findings: Findings) -> None:
    """Note what the service's own configuration declares of nothing, or names and is not there."""
    catalog = catalog_of(tables_in(section))
    for name, fault in catalog.faults():
        findings.fault(_place(f"{INSTANCES}{name}", section), fault)
    check_names(section, catalog, findings, prefix=PREFIX)
    for listed in _names(section.settings.get(_JOB_LISTS)):
        if unknown := _fault(catalog, Kind.JOB_LIST, listed):
            findings.fault(section.origin_of(_JOB_LISTS), f"found {listed!r}, but {unknown}")
    _check_providers(section, catalog, findings)
    for entry in _entries("jobs", section):
        check_names(entry, catalog, findings, prefix="autoscaler.")


def _check_providers(section: Section, catalog: Catalog, findings: Findings) -> None:
    """Note each provider that is not there, or that would change the workers of an earlier cluster too."""
    users: dict[object, str] = {}
    for cluster in (*_entries("clusters", section), *_entries("spark-clusters", section)):
        for provider in _names(cluster.settings.get(_PROVIDER)):
            name = ", ".join(_names(cluster.settings.get("name")))
            fault = _fault(catalog, Kind.RESOURCE_PROVIDER, provider) or _shared(catalog, provider, name, users)
            if fault:
                findings.fault(cluster.origin_of(_PROVIDER), f"found {provider!r}, but {fault}")


def _shared(catalog: Catalog, provider: str, name: str, users: dict[object, str]) -> str | None:
    """Tell whether an earlier cluster has this provider, or one that differs in nothing but its name."""
    choice = catalog.find(Kind.RESOURCE_PROVIDER, provider)
    meaning = choice.plugin, frozenset(choice.parameters.items())
    if meaning not in users:
        users[meaning] = name
        return None
    return (
        f"its workers are those of cluster {users[meaning]} already, with which {name} would be at odds "
        "about how many there should be. Hint: declare a provider for each, with parameters of its own"
    )


def _entries(key: str, section: Section) -> Iterator[Section]:
    listed = section.settings.get(key)
    yield from (each for each in (listed.items if isinstance(listed, Items) else ()) if isinstance(each, Section))


def unmakeable(options: ServiceOptions, origins: Mapping[str, Origin]) -> tuple[str, ...]:
    """
    Make each declared instance once, and name those that do not want their parameters, with their places.

    That imports the plugins and starts their worker processes; they are ended again.
    """
    host = PluginHost(catalog_of(Tables.of(options)), options.plugins, resolve=resolve)
    try:
        return tuple(_placed(kind, name, fault, origins) for kind, name, fault in host.faults())
    finally:
        host.close()


def _placed(kind: Kind, name: str, fault: str, origins: Mapping[str, Origin]) -> str:
    own = {Kind.EVALUATOR_PLUGIN: _EVALUATORS, Kind.DECISION_PLUGIN: _EXECUTORS, Kind.ALIGNMENT_MODE: _ALIGNMENTS}
    keys = [f"{prefix}{name}.class" for prefix in (own.get(kind, INSTANCES), INSTANCES)]
    key = next((key for key in keys if key in origins), keys[0])
    return ": ".join([*([str(origins[key])] if key in origins else []), key.removesuffix(".class"), fault])


def tables_in(section: Section) -> Tables:
    """Give the instances that the service's own configuration declares."""
    return Tables(
        general=_table(INSTANCES, section),
        evaluators=_table(_EVALUATORS, section),
        executors=_table(_EXECUTORS, section),
        alignments=_table(_ALIGNMENTS, section),
    )


def catalog_of(tables: Tables) -> Catalog:
    """Give what may be named: the plugins that are installed, and these instances of them."""
    return Catalog(_INSTALLED, tables)


def check_names(section: Section, catalog: Catalog, findings: Findings, *, prefix: str) -> None:
    """
    Note each name of a plugin that means nothing, in a section whose autoscaler options have a prefix.

    An unknown alignment mode is a warning, as the reference aligns as by default then.
    """
    if _is_off(section.settings.get(f"{prefix}{ENABLED}")):
        return
    _warn_of_alignment(section, catalog, findings, key=f"{prefix}{_ALIGNMENT}")
    for key, kind in _NAMED.items():
        setting = section.settings.get(f"{prefix}{key}")
        for name in _names(setting):
            if fault := _fault(catalog, kind, name):
                findings.fault(section.origin_of(f"{prefix}{key}"), f"found {name!r}, but {fault}")


def _warn_of_alignment(section: Section, catalog: Catalog, findings: Findings, *, key: str) -> None:
    for name in _names(section.settings.get(key)):
        known = catalog.names(Kind.ALIGNMENT_MODE)
        if name.upper() not in known and name not in known:
            text = f"found {name!r}, which is none of {', '.join(known)}: BALANCED holds"
            findings.warn(section.origin_of(key), text)


def _fault(catalog: Catalog, kind: Kind, name: str) -> str | None:
    try:
        catalog.find(kind, name)
    except UnknownPluginError as error:
        return str(error)
    return None


def _names(setting: Leaf | Items | None) -> Iterator[str]:
    match setting:
        case Leaf(text=str(text)):
            yield from (name.strip() for name in re.split("[;,]", text) if name.strip())
        case Items(items=items):
            yield from (item.text for item in items if isinstance(item, Leaf) and item.text)


def _table(prefix: str, section: Section) -> dict[str, str]:
    return {
        key.removeprefix(prefix): setting.text
        for key, setting in section.settings.items()
        if key.startswith(prefix) and isinstance(setting, Leaf) and setting.text is not None
    }


def _place(prefix: str, section: Section) -> Origin:
    """Give the place of an instance: that of its class, else of its first parameter."""
    inside = [key for key in section.settings if key.startswith(f"{prefix}.")]
    return section.origin_of(f"{prefix}.class" if f"{prefix}.class" in inside or not inside else inside[0])


def _is_off(switch: Leaf | Items | None) -> bool:
    return isinstance(switch, Leaf) and (switch.text or "").strip().lower() in {"false", "no", "off", "0"}
