"""How an option is declared: a dataclass field with its key, and its meaning in the string below it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

PREFIX = "job.autoscaler."
LEGACY_PREFIX = "kubernetes.operator.job.autoscaler."
"""Where the reference autoscaler's options also stand; the key without it wins."""


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
    deprecated: Sequence[str] = (),
) -> Any:
    """
    Declare a field that is set by a dotted `key`, relative to its section.

    Args:
        key: the key as the user writes it, for example `utilization.target`.
        default: the value when nothing is set; none means that the option is required.
        default_factory: makes the default, for containers.
        deprecated: older keys still read, with a warning.
    """
    metadata = {"key": key, "deprecated": tuple(deprecated)}
    if default_factory is not None:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)
