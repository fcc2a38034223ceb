"""References to secrets, and texts without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.config.secrets import Secret, redact, references, resolve


def test_references_are_resolved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Variables and files, several in one text; a file's last line end is no part of the secret."""
    monkeypatch.setenv("HEADGATE_TEST_USER", "ada")
    (tmp_path / "password").write_text("s3cret\n")
    text = f"http://${{env:HEADGATE_TEST_USER}}:${{file:{tmp_path}/password}}@host"
    assert resolve(text) == "http://ada:s3cret@host"
    assert references(text) == ("${env:HEADGATE_TEST_USER}", f"${{file:{tmp_path}/password}}")


def test_text_without_references_stays() -> None:
    """Also one that looks nearly like one."""
    assert resolve("a $b {c} ${d}") == "a $b {c} ${d}"


@pytest.mark.parametrize(
    ("text", "said"),
    [("${env:HEADGATE_NOT_SET}", "HEADGATE_NOT_SET is not set"), ("${file:/nowhere/at/all}", "/nowhere/at/all cannot")],
)
def test_what_is_missing_is_named(text: str, said: str) -> None:
    """With the reference as it was written."""
    with pytest.raises(ValueError, match=said):
        resolve(text)


def test_secrets_are_masked_wherever_they_stand() -> None:
    """One that holds another is masked as a whole; an empty one masks nothing."""
    assert redact("key=abcdef, abc", ["abcd", "abcdef", ""]) == "key=***, abc"


def test_a_secret_does_not_show_itself() -> None:
    """Neither printed nor in a data structure."""
    secret = Secret("s3cret")
    assert f"{secret} {[secret]}" == "*** [***]"
    assert secret.reveal() == "s3cret"
    assert secret == Secret("s3cret")
