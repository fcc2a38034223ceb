"""
What holds for every unit test: none speaks TLS to anybody, so none reads the certificates that this machine trusts.

A client of a fake server would read them all the same, for longer than the usual test takes.
"""

from __future__ import annotations

import os
from pathlib import Path

NOTHING = Path(os.devnull)
os.environ["SSL_CERT_FILE"] = os.environ["SSL_CERT_DIR"] = str(NOTHING)
