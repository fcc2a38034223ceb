"""Submission, where there is no cluster; the rest is told with a real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.demo.submit import cancel_job, submit_job
from headgate.engines.flink.local.loopback import HOST, free_ports
from headgate.errors import UnreachableError


def test_nobody_there(tmp_path: Path) -> None:
    """The error is one of ours and names the address."""
    jar = tmp_path / "job.jar"
    jar.touch()
    url = f"http://{HOST}:{free_ports(1)[0]}"
    with pytest.raises(UnreachableError, match=f"POST {url}/jars/upload: no answer"):
        submit_job(url, jar, entry_class="Main", arguments=())
    with pytest.raises(UnreachableError, match=f"PATCH {url}/jobs/0.mode=cancel: no answer"):
        cancel_job(url, "0")


def test_free_ports_differ() -> None:
    """Several are asked for at once because one alone might be given twice."""
    assert len(set(free_ports(20))) == 20
