"""Text that names a row and is compared byte by byte in every database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Dialect, String
from sqlalchemy.dialects.mysql import VARBINARY
from sqlalchemy.types import TypeDecorator, TypeEngine

_MYSQL = {"mysql", "mariadb"}
_BYTES_A_CHARACTER = 4


class KeyText(TypeDecorator[str]):
    """
    Text of a given length, exact in case, accents and spaces at the end.

    MySQL's own text takes `Orders`, `orders` and `orders ` for one key, hence bytes there.
    """

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the column's type: in MySQL the bytes of UTF-8."""
        length = self.impl_instance.length  # type: ignore[attr-defined]  # the declared `impl`, a String
        if dialect.name in _MYSQL:
            return dialect.type_descriptor(VARBINARY(length * _BYTES_A_CHARACTER))
        return dialect.type_descriptor(String(length))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Write the text."""
        return value.encode() if value is not None and dialect.name in _MYSQL else value

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the seam's
        """Read the text."""
        return value.decode() if isinstance(value, bytes) else value
