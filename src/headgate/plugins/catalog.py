"""What a name in the options means: an instance that the operator declared, or a registered plugin as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from headgate.options.service import ServiceOptions
from headgate.plugins.kinds import Kind
from headgate.plugins.registry import Registered, Registry, UnknownPluginError

CLASS = "class"
"""The key of an instance that names what it is one of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A plugin as it was chosen: what makes it, and with which parameters."""

    name: str
    """As the options call it."""
    plugin: Registered
    parameters: Mapping[str, str] = field(default_factory=dict)
    """As they are written; secrets are not resolved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The operator's declarations of instances, keys `<name>.class` and `<name>.<parameter>`."""

    general: Mapping[str, str] = field(default_factory=dict)
    evaluators: Mapping[str, str] = field(default_factory=dict)
    executors: Mapping[str, str] = field(default_factory=dict)
    alignments: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, options: ServiceOptions) -> Self:
        """Take them from the options."""
        return cls(
            general=options.plugin_instances,
            evaluators=options.custom_evaluators,
            executors=options.custom_executors,
            alignments=options.custom_alignments,
        )

    def for_kind(self, kind: Kind) -> Mapping[str, Mapping[str, str]]:
        """Give the instances that may be of a kind, by name; those of its own table hide the general ones."""
        return {**instances(self.general), **instances(self._own(kind))}

    def _own(self, kind: Kind) -> Mapping[str, str]:
        own = {
            Kind.EVALUATOR_PLUGIN: self.evaluators,
            Kind.DECISION_PLUGIN: self.executors,
            Kind.ALIGNMENT_MODE: self.alignments,
        }
        return own.get(kind, {})


def instances(table: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
    """Give the settings of each instance; its name ends at the first dot."""
    found: dict[str, dict[str, str]] = {}
    for key, text in table.items():
        name, _, setting = key.partition(".")
        found.setdefault(name, {})[setting] = text
    return found


class Catalog:
    """All that options may name."""

    def __init__(self, registry: Registry, tables: Tables) -> None:
        """Look names up in the tables first, then in the registry."""
        self._registry = registry
        self._tables = tables

    def find(self, kind: Kind, name: str) -> Choice:
        """
        Tell what a name means.

        Raises:
            UnknownPluginError: nothing, or an instance of something unknown.
        """
        declared = self._tables.for_kind(kind).get(name)
        if declared is None:
            return Choice(name=name, plugin=self._registered(kind, name))
        parameters = {key: text for key, text in declared.items() if key != CLASS}
        return Choice(name=name, plugin=self._class_of(kind, name, declared), parameters=parameters)

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Give all names that are known for a kind, the instances of its own table included."""
        declared = (name for name, choice in self._declared(kind) if choice)
        return tuple(sorted({*self._registry.names(kind), *declared}))

    def is_built_in(self, kind: Kind, name: str) -> bool:
        """Tell whether a name means a plugin of Headgate's own; False for one that means nothing."""
        try:
            return self.find(kind, name).plugin.is_ours
        except UnknownPluginError:
            return False

    def declared(self) -> Iterator[tuple[Kind, str]]:
        """Yield every instance, with the kind of the table that it stands in or of what it is one of."""
        for kind in Kind:
            yield from ((kind, name) for name, choice in self._declared(kind) if choice)

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield each instance of the general table that is an instance of nothing, with what is wrong."""
        for name, settings in instances(self._tables.general).items():
            known = [kind for kind in Kind if settings.get(CLASS) in self._registry.names(kind)]
            if not known:
                yield name, _faulty_class(name, settings, "plugin of any kind")

    def _declared(self, kind: Kind) -> Iterator[tuple[str, bool]]:
        for name, settings in self._tables.for_kind(kind).items():
            yield name, settings.get(CLASS) in self._registry.names(kind)

    def _registered(self, kind: Kind, name: str) -> Registered:
        try:
            return self._registry.find(kind, name)
        except UnknownPluginError as error:
            if name in self._registry.names(kind):
                raise
            known = ", ".join(self.names(kind)) or "none"
            message = f"no {kind.noun} {name!r} is registered or declared. Hint: there is {known}"
            raise UnknownPluginError(message) from error

    def _class_of(self, kind: Kind, name: str, declared: Mapping[str, str]) -> Registered:
        if CLASS not in declared:
            raise UnknownPluginError(_faulty_class(name, declared, kind.noun))
        return self._registry.find(kind, declared[CLASS])


def _faulty_class(name: str, settings: Mapping[str, str], what: str) -> str:
    if CLASS in settings:
        return f"no {what} {settings[CLASS]!r} is registered, of which {name!r} would be an instance"
    return f"instance {name!r} has no class. Hint: write {name}.class, the name of a registered plugin"
