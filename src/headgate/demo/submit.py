"""Submits jobs to a Flink cluster's REST interface, and cancels them; all that the demo needs of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from uuid import uuid4

from headgate.engines.flink.local.loopback import call_json
from headgate.errors import RefusedError, UnreachableError


def submit_job(url: str, jar: Path, *, entry_class: str, arguments: Sequence[str], parallelism: int = 1) -> str:
    """
    Upload a jar and run it; return the job's id. The job may not be running yet.

    Args:
        url: the cluster's REST address, without a slash at the end.
        jar: uploaded anew at every call.
        entry_class: full name of the class whose `main` builds the job.
        arguments: of that `main`.
        parallelism: of every operator that does not set its own.

    Raises:
        UnreachableError: the cluster does not answer.
        RefusedError: it does, with an error; the text holds its words.
    """
    jar_id = upload_jar(url, jar)
    order = {"entryClass": entry_class, "programArgsList": list(arguments), "parallelism": parallelism}
    started = _call(f"{url}/jars/{jar_id}/run", json.dumps(order).encode(), "application/json")
    return str(started["jobid"])


def upload_jar(url: str, jar: Path) -> str:
    """
    Give a cluster a jar, and return the id under which it can be run.

    Raises:
        UnreachableError: the cluster does not answer.
        RefusedError: it does, with an error.
    """
    boundary = uuid4().hex
    uploaded = _call(f"{url}/jars/upload", _multipart(jar, boundary), f"multipart/form-data; boundary={boundary}")
    return Path(uploaded["filename"]).name


def cancel_job(url: str, job_id: str) -> None:
    """
    Ask for a job's cancellation, without waiting for its end.

    Raises:
        UnreachableError: the cluster does not answer.
        RefusedError: it does, with an error, for example for an unknown job.
    """
    _call(f"{url}/jobs/{job_id}?mode=cancel", None, "application/json", method="PATCH")


def _call(url: str, body: bytes | None, content_type: str, *, method: str = "POST") -> Any:
    try:
        return call_json(url, method=method, body=body, headers={"Content-Type": content_type})
    except HTTPError as error:
        msg = f"{method} {url} was refused: {error.read().decode(errors='replace')}"
        raise RefusedError(msg) from error
    except OSError as error:
        msg = f"{method} {url}: no answer: {error}"
        raise UnreachableError(msg) from error


def _multipart(jar: Path, boundary: str) -> bytes:
    heading = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="jarfile"; filename="{jar.name}"\r\n'
        "Content-Type: application/x-java-archive\r\n\r\n"
    )
    return heading.encode() + jar.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
