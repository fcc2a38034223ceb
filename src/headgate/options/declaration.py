"""How an option is declared, a dataclass field with its key and its meaning in the string below it; and read back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

PREFIX = "job.autoscaler."
LEGACY_PREFIX = "kubernetes.operator.job.autoscaler."
"""Where the reference autoscaler's options also stand; the key without it wins."""
ENABLED = "enabled"
"""The key of the switch of a whole group: while it is off, no value of the group is held against its bounds."""
PLACEHOLDER = ".<name>"
"""At the end of a table's key where an option of its own stands at the key without it."""


class Options:
    """
    Base of every group of options: strict about unknown keys, field docstrings kept for the reference.

    The class variable is read by the validation library at the edge; options themselves import none.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "extra": "forbid",
        "use_attribute_docstrings": True,
        "arbitrary_types_allowed": True,
    }


def option(
    key: str,
    default: Any = dataclasses.MISSING,
    *,
    default_factory: Callable[[], Any] | None = None,
    aliases: Sequence[str] = (),
    deprecated: Sequence[str] = (),
    apart: str | Sequence[str] = (),
    checked_when: str | None = None,
    separators: str = ";,",
    secret: bool = False,
) -> Any:
    """
    Declare a field that is set by a dotted `key`, relative to its section.

    Args:
        key: the key as the user writes it, for example `utilization.target`.
        default: the value when nothing is set; none means that the option is required.
        default_factory: makes the default, for containers.
        aliases: other keys that are as good; where both are set, `key` wins.
        deprecated: older keys still read, with a warning; `key` and the aliases win.
        apart: the whole keys under which the option is better known than inside its section, the first before others.
        checked_when: the key of the switch beside it without which any value in the right form will do.
        separators: between the values of a list that is written as one text; Flink's own is the semicolon.
        secret: the value may hold a secret, written as a reference or plainly; it is never shown as it is.
    """
    metadata = {
        "key": key,
        "aliases": tuple(aliases),
        "deprecated": tuple(deprecated),
        "apart": (apart,) if isinstance(apart, str) else tuple(apart),
        "checked_when": checked_when,
        "separators": separators,
        "secret": secret,
    }
    if default_factory is not None:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One declared option, as `option` and the field's annotation make it."""

    name: str
    """The field's name."""
    key: str
    annotation: Any
    aliases: tuple[str, ...]
    deprecated: tuple[str, ...]
    apart: tuple[str, ...]
    checked_when: str | None
    separators: str
    secret: bool
    required: bool
    default: Any
    """`dataclasses.MISSING` where there is none, or where it is a container."""

    @property
    def group(self) -> type[Options] | None:
        """The class of a nested group of options, None for a value."""
        return _options_class(self.annotation)

    @property
    def listed_group(self) -> type[Options] | None:
        """The class of the entries if this is a list of groups."""
        arguments = get_args(self.annotation)
        return _options_class(arguments[0]) if get_origin(self.annotation) is tuple else None

    @property
    def is_table(self) -> bool:
        """Whether the user chooses the keys below this one."""
        return get_origin(self.annotation) is Mapping

    @property
    def table_prefix(self) -> str:
        """What stands before the keys that the user chooses, if this is a table."""
        return table_prefix(self.key)


def table_prefix(key: str) -> str:
    """Give what stands before the user's own keys in a table: `a.` for `a` and for `a.<name>`."""
    return f"{key.removesuffix(PLACEHOLDER)}."


def declarations(options: type[Options]) -> tuple[Declaration, ...]:
    """Give the options declared by a class, in the order in which they stand."""
    group: Any = options  # a class of our own is hashable, which mypy does not see
    return _read(group)


@cache
def _read(options: Any) -> tuple[Declaration, ...]:
    hints = get_type_hints(options, include_extras=True)
    return tuple(
        Declaration(
            name=field.name,
            annotation=hints[field.name],
            default=field.default,
            required=field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
            **field.metadata,
        )
        for field in dataclasses.fields(options)
        if field.metadata
    )


def paths(options: type[Options]) -> Mapping[str, str]:
    """Give by its whole key the attribute of each value of a group, `rollback.target` for one in a group inside it."""
    group: Any = options  # as in `declarations`
    return _paths(group)


@cache
def _paths(options: Any) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for declaration in declarations(options):
        inner = paths(declaration.group) if declaration.group else {}
        found |= {f"{declaration.key}.{key}": f"{declaration.name}.{path}" for key, path in inner.items()}
        if not declaration.group:
            found[declaration.key] = declaration.name
    return found


def _options_class(annotation: Any) -> type[Options] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, Options) else None
