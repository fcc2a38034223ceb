"""References to secrets: `${env:NAME}` and `${file:PATH}`, which stand where the secret itself must not."""

from __future__ import annotations

import re

_REFERENCE = re.compile(r"\$\{(env|file):[^}]+\}")


def refuse_plain(of: str, **secrets: str) -> None:
    """
    Refuse secrets that are written plainly.

    Raises:
        ValueError: one of them is neither empty nor a reference; `of` says whose it is.
    """
    for key, secret in secrets.items():
        if secret and not _REFERENCE.fullmatch(secret):
            message = f"{key} of {of} is written plainly. Hint: write ${{env:NAME}}"
            raise ValueError(message)
