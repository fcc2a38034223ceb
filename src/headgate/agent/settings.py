"""What is set for an agent, from weak to strong: Spark's defaults, the session's `spark.headgate.*`, what is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.config.describing import written
from headgate.config.names import canonical
from headgate.config.origins import Findings, Items, Leaf, Origin, Section
from headgate.config.plugins import catalog_of, check_names, tables_in
from headgate.config.validation import FaultyError, build
from headgate.engines.spark.attached.start_settings import PREFIX as QUERY_PREFIX
from headgate.errors import ConfigError
from headgate.options.agent import AgentOptions
from headgate.options.declaration import PREFIX
from headgate.options.micro_batch import DEFAULTS
from headgate.plugins.catalog import Catalog

SPARK_PREFIX = "spark.headgate."
"""Before an option's key in the session's configuration."""
_SESSION = "the session's configuration"
_GIVEN = "the options given to attach"
_NO_OPTION = (
    "a setting of a query is no option of the session: decisions change it. Hint: set it where the query is started, "
    "and hand its factory to Agent.manage"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options in force, and what they may name."""

    options: AgentOptions
    catalog: Catalog
    warnings: tuple[str, ...]


def read_settings(session: Mapping[str, str], given: Mapping[str, Any]) -> Settings:
    """
    Lay what is given over what the session says, and both over Spark's defaults.

    Args:
        session: its whole configuration; what does not begin with `spark.headgate.` is left aside.
        given: texts, or values of Python, by the options' keys; None resets an option to its default.

    Raises:
        ConfigError: every fault in both, each with its place.
    """
    findings = Findings()
    given = _by_text(given, findings)
    sections = [_defaults(), _of_session(session, findings), _section(_GIVEN, given)]
    named = [canonical(AgentOptions, section, findings) for section in sections]
    merged = Section(
        settings={key: setting for section in named for key, setting in section.settings.items()},
        origin=Origin(source=_GIVEN),
    )
    catalog = catalog_of(tables_in(merged))
    check_names(merged, catalog, findings, prefix=PREFIX)
    try:
        options = build(AgentOptions, merged, findings)
    except FaultyError as error:
        raise ConfigError(findings.faults) from error
    if findings.faults:
        raise ConfigError(findings.faults)
    return Settings(options=options, catalog=catalog, warnings=findings.warnings)


def _by_text(given: Mapping[Any, Any], findings: Findings) -> Mapping[str, Any]:
    """Leave out what is no key; each is a fault."""
    for key in given:
        if not isinstance(key, str):
            findings.fault(Origin(source=_GIVEN, key=repr(key)), "no text. Hint: write the option's key")
    return {key: value for key, value in given.items() if isinstance(key, str)}


def _defaults() -> Section:
    return _section("the defaults of Spark applications", {PREFIX + key: text for key, text in DEFAULTS.items()})


def _of_session(session: Mapping[str, str], findings: Findings) -> Section:
    ours = {key: text for key, text in session.items() if key.startswith(SPARK_PREFIX)}
    for key in [key for key in ours if key.startswith(QUERY_PREFIX)]:
        del ours[key]
        findings.fault(Origin(source=_SESSION, key=key), _NO_OPTION)
    settings: dict[str, Leaf | Items] = {
        key.removeprefix(SPARK_PREFIX): Leaf(text=text, origin=Origin(source=_SESSION, key=key))
        for key, text in ours.items()
    }
    return Section(settings=settings, origin=Origin(source=_SESSION))


def _section(source: str, given: Mapping[str, Any]) -> Section:
    settings = {key: _setting(value, Origin(source=source, key=key)) for key, value in given.items()}
    return Section(settings=settings, origin=Origin(source=source))


def _setting(value: Any, origin: Origin) -> Leaf | Items:
    if isinstance(value, list | tuple):
        return Items(items=tuple(Leaf(text=written(each), origin=origin) for each in value), origin=origin)
    return Leaf(text=None if value is None else written(value), origin=origin)
