"""
The keys of the reference's standalone process, `autoscaler.standalone.*`, put into Headgate's where it has the like.

They are weaker than Headgate's own keys, wherever those are set; each is told with the key that replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.config.origins import Findings, Items, Leaf, Origin, Section

PREFIX = "autoscaler.standalone."
_OLDER = {
    "scalingInterval": "control-loop.interval",
    "flinkClusterHost": "fetcher.flink-cluster.host",
    "flinkClusterPort": "fetcher.flink-cluster.port",
}
_INTERVAL, _PARALLELISM = "control-loop.interval", "control-loop.parallelism"
_HOST, _PORT = "fetcher.flink-cluster.host", "fetcher.flink-cluster.port"
_STORE, _EVENTS, _TTL = "state-store.type", "event-handler.type", "jdbc.event-handler.ttl"
_URL, _USER, _PASSWORD = "jdbc.url", "jdbc.username", "jdbc.password-env-variable"
_HINTS = {
    _INTERVAL: "write decide.interval",
    _PARALLELISM: "leave it out, Headgate needs no number of workers",
    _HOST: "write clusters",
    _PORT: "write clusters",
    _STORE: "write state-store",
    _EVENTS: "write events.handlers",
    _URL: "write state-store",
    _USER: "write state-store",
    _PASSWORD: "write state-store, with ${env:NAME} in its URL",
    _TTL: "write events.retention",
}
_FOR_EVER = "3650 d"
_JDBC = re.compile(r"jdbc:(?P<kind>postgresql|mysql)://(?P<where>[^?;]*)(?P<parameters>[?;].*)?", re.DOTALL)

Settings = Mapping[str, Leaf]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Sections of Headgate's keys, and the standalone process's settings that stood among them."""

    sections: tuple[Section, ...]
    standalone: Settings
    """By key without prefix, of the strongest source."""


def split_off(sections: Sequence[Section], findings: Findings) -> Split:
    """Take the standalone process's settings out of all sources, and warn of each."""
    standalone: dict[str, Leaf] = {}
    for section in sections:
        found = {_name(key): setting for key, setting in section.settings.items() if _name(key) in _HINTS}
        for name, setting in found.items():
            findings.warn(setting.origin, f"an old name. Hint: {_HINTS[name]}")
        standalone |= {name: setting for name, setting in found.items() if isinstance(setting, Leaf)}
    rest = tuple(_without(section) for section in sections)
    return Split(sections=rest, standalone=standalone)


def taken_over(standalone: Settings, findings: Findings) -> Mapping[str, Leaf | Items]:
    """Give the settings under Headgate's keys; what has no counterpart is a fault where leaving it out would matter."""
    taken: dict[str, Leaf | Items] = {}
    if _INTERVAL in standalone:
        taken["decide.interval"] = standalone[_INTERVAL]
    if _HOST in standalone or _PORT in standalone:
        taken["clusters"] = _cluster(standalone)
    taken |= _events(standalone, findings)
    store = _STORES.get(_text(standalone, _STORE).upper(), _unknown_store)(standalone, findings)
    return taken if store is None else {**taken, "state-store": store}


def _name(key: str) -> str:
    name = key.removeprefix(PREFIX)
    return _OLDER.get(name, name) if name != key else ""


def _without(section: Section) -> Section:
    return replace(
        section, settings={key: value for key, value in section.settings.items() if _name(key) not in _HINTS}
    )


def _text(standalone: Settings, name: str, default: str = "") -> str:
    setting = standalone.get(name)
    return default if setting is None or setting.text is None else setting.text


def _cluster(standalone: Settings) -> Items:
    origin = (standalone.get(_HOST) or standalone[_PORT]).origin
    url = f"http://{_text(standalone, _HOST, 'localhost')}:{_text(standalone, _PORT, '8081')}"
    settings = {"name": Leaf(text="default", origin=origin), "url": Leaf(text=url, origin=origin)}
    return Items(items=(Section(settings=settings, origin=origin),), origin=origin)


def _events(standalone: Settings, findings: Findings) -> Settings:
    taken: dict[str, Leaf] = {}
    if _TTL in standalone:
        never = _text(standalone, _TTL).strip() == "0"
        taken["events.retention"] = replace(standalone[_TTL], text=_FOR_EVER) if never else standalone[_TTL]
    match _text(standalone, _EVENTS).upper():
        case "" | "LOGGING":
            return taken
        case "JDBC":
            url = _database(standalone, standalone[_EVENTS].origin, findings)
            handlers = replace(standalone[_EVENTS], text="sql")
            return {**taken, "events.handlers": handlers, **({"events.sql.url": url} if url else {})}
        case other:
            findings.fault(standalone[_EVENTS].origin, f"found {other!r}, expected one of LOGGING, JDBC")
            return taken


def _no_store(_: Settings, __: Findings) -> Leaf | None:
    return None


def _memory_store(standalone: Settings, _: Findings) -> Leaf | None:
    return replace(standalone[_STORE], text="memory")


def _database_store(standalone: Settings, findings: Findings) -> Leaf | None:
    return _database(standalone, standalone[_STORE].origin, findings)


def _database(standalone: Settings, wanted_at: Origin, findings: Findings) -> Leaf | None:
    if _URL not in standalone:
        findings.fault(wanted_at, f"found JDBC, but {PREFIX}{_URL} is not set")
        return None
    origin = standalone[_URL].origin
    match = _JDBC.fullmatch(_text(standalone, _URL))
    if match is None:
        # The URL is not shown: it may hold a password.
        findings.fault(origin, "not supported, expected jdbc:postgresql://… or jdbc:mysql://… Hint: write state-store")
        return None
    if match["parameters"]:
        findings.warn(origin, "its parameters are left out, as they are those of a Java driver")
    return Leaf(text=f"{match['kind']}://{_login(standalone)}{match['where']}", origin=origin)


def _login(standalone: Settings) -> str:
    user = _text(standalone, _USER)
    return f"{user}:${{env:{_text(standalone, _PASSWORD, 'JDBC_PWD')}}}@" if user else ""


def _unknown_store(standalone: Settings, findings: Findings) -> Leaf | None:
    origin: Origin = standalone[_STORE].origin
    findings.fault(origin, f"found {_text(standalone, _STORE)!r}, expected one of MEMORY, JDBC")
    return None


_STORES: Mapping[str, Callable[[Settings, Findings], Leaf | None]] = {
    "": _no_store,
    "MEMORY": _memory_store,
    "JDBC": _database_store,
}
