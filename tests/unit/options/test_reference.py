"""The reference page says what the declarations say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "scripts" / "generate_reference.py"


def test_the_reference_page_is_up_to_date() -> None:
    """A changed option without a changed page fails here, with the command to run."""
    check = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout + check.stderr
