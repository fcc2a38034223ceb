"""The signature of a posted event: who knows the secret can tell that it comes from Headgate, and how old it is."""

from __future__ import annotations

import hmac
from hashlib import sha256

HEADER = "Headgate-Signature"


def sign(body: bytes, secret: str, at_s: int) -> str:
    """
    Give the header's value, `t=SECONDS,v1=HEX`: HMAC-SHA256 over the seconds since 1970, a dot, and the body.

    Args:
        body: as it is sent, byte for byte.
        secret: the key that sender and receiver share.
        at_s: when it is sent; a receiver refuses what is too old.
    """
    return f"t={at_s},v1={_digest(body, secret, at_s)}"


def verify(body: bytes, secret: str, value: str, *, now_s: int, tolerance_s: int = 300) -> bool:
    """Tell whether a header's value belongs to the body and is no older, or newer, than the tolerance."""
    parts = dict(part.partition("=")[::2] for part in value.split(","))
    written = parts.get("t", "")
    if not written.isdecimal() or abs(now_s - int(written)) > tolerance_s:
        return False
    return hmac.compare_digest(parts.get("v1", "").encode(), _digest(body, secret, int(written)).encode())


def _digest(body: bytes, secret: str, at_s: int) -> str:
    return hmac.new(secret.encode(), f"{at_s}.".encode() + body, sha256).hexdigest()
