"""A secret that gets into clusters is sent there, and is found nowhere else, whatever fails and whoever quotes it."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

from headgate.cli import app
from headgate.engines.flink.client import FlinkClient
from headgate.errors import HeadgateError
from headgate.options.service import ClusterOptions
from headgate.testing.fake_flink import FakeFlink
from headgate.testing.fake_job import FakeJob, chain
from headgate.testing.faults import Fault, FaultKind
from headgate.testing.process import HeadgateProcess

PLANTED = {
    "variable": "planted-in-a-variable-7Qx",
    "file": "planted-in-a-file-8Ry",
    "literal": "planted-in-the-config-9Sz",
    "token": "planted-as-a-token-0Tw",
    "password": "planted-as-a-password-1Uv",
}
PLANTED["encoded"] = b64encode(f"user:{PLANTED['password']}".encode()).decode()
VERBOSE = {"PYTHONASYNCIODEBUG": "1", "PYTHONDEVMODE": "1", "PLANTED": PLANTED["variable"]}
JOBS = ("fine", "quoting", "refusing", "garbled")
PATIENCE = timedelta(minutes=5)


def jobs() -> Iterator[FakeJob]:
    """Make jobs that all need more than they have."""
    return (chain(job_id=f"{n + 1:032x}", name=name, vertices=3, rate=1_500) for n, name in enumerate(JOBS))


def leaks(text: str) -> list[str]:
    """Name the planted secrets that a text holds."""
    return [name for name, secret in PLANTED.items() if secret in text]


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """Write the files that hold secrets."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "file").write_text(PLANTED["file"] + "\n", encoding="utf-8")
    (folder / "token").write_text(PLANTED["token"] + "\n", encoding="utf-8")
    return folder


def way_in(url: str, secrets: Path) -> Mapping[str, object]:
    """Give a cluster every kind of secret but a password."""
    headers = {
        "X-Variable": "${env:PLANTED}",
        "X-File": f"${{file:{secrets / 'file'}}}",
        "X-Literal": PLANTED["literal"],
    }
    return {"name": "lab", "url": url, "headers": headers, "token-file": str(secrets / "token")}


def with_password(url: str) -> Mapping[str, object]:
    """Give a cluster a password in its address."""
    return {"name": "walled", "url": url.replace("//", f"//user:{PLANTED['password']}@")}


def plant_faults(server: FakeFlink, *names: str) -> None:
    """Let answers quote the secrets that this server is sent, as a proxy does that prints the request."""
    quoted = "bad request: " + ", ".join(PLANTED[name] for name in names)
    quoting, refusing, garbled = (list(server.jobs)[JOBS.index(name)] for name in JOBS[1:])
    server.plant(Fault(path=f"/jobs/{quoting}", text=quoted))
    server.plant(Fault(path=f"/jobs/{refusing}/resource-requirements", status=400, text=quoted))
    server.plant(Fault(path=f"/jobs/{garbled}", kind=FaultKind.GARBLE))
    server.plant(Fault(path="/overview", status=401, text=quoted))


def files(folder: Path) -> Iterator[Path]:
    """Walk through what the service wrote; its configuration is the user's own."""
    return (path for path in folder.rglob("*") if path.is_file() and path.name != "headgate.yaml")


def command(*arguments: str) -> str:
    """Run a command and give all that it prints."""
    return CliRunner().invoke(app, arguments, env=VERBOSE).output


def has_kept_and_told(service: HeadgateProcess) -> bool:
    """Tell whether there is something to search: samples in the log, errors in the events."""
    kept = (service.config.parent / "samples" / "samples").rglob("*.parquet")
    return any(kept) and has_failed(service)


def has_failed(service: HeadgateProcess) -> bool:
    """Tell whether every job that cannot be read was told of."""
    failed = {line["job"] for line in service.lines("AutoscalerError") if "job" in line}
    return failed >= {f"{cluster}/{job}" for cluster in ("lab", "walled") for job in ("quoting", "garbled")}


def has_acted(service: HeadgateProcess) -> bool:
    """Tell whether all that can happen has: rescaled, refused with a text, failed."""
    reached = {line["job"] for line in service.lines("RescaleReached")}
    refused = {line["job"] for line in service.lines("RescaleNotReached")}
    return has_failed(service) and reached == {"lab/fine", "walled/fine"} and refused >= {"lab/refusing"}


@pytest.mark.parametrize(("pipeline", "is_enough"), [("in-process", has_acted), ("spark", has_kept_and_told)])
async def test_the_service_tells_and_keeps_no_secret(
    pipeline: str, is_enough: Callable[[HeadgateProcess], bool], tmp_path: Path, secrets: Path
) -> None:
    """
    Secrets in headers, token and password; answers that quote them; then every file and output is searched.

    Bytes of all files, the decoded Parquet rows, what the service and the commands print.
    """
    folder = tmp_path / "service"
    folder.mkdir()
    async with FakeFlink(jobs(), wall_clock=True) as lab, FakeFlink(jobs(), wall_clock=True) as walled:
        plant_faults(lab, "variable", "file", "literal", "token")
        plant_faults(walled, "password", "encoded")
        options = {
            "clusters": [way_in(lab.url, secrets), with_password(walled.url)],
            "mode": "act",
            "pipeline": pipeline,
            "collect.interval": "0.5 s",
            "decide.interval": "1 s",
            "job.autoscaler": {"metrics.window": "3 s", "stabilization.interval": "0 s"},
        }
        with HeadgateProcess(options, folder, environment=VERBOSE) as service:
            await asyncio.to_thread(service.until, lambda: is_enough(service), limit=PATIENCE)

    sent = " ".join(value for each in (*lab.requests, *walled.requests) for value in each.headers.values())
    assert set(leaks(sent)) == PLANTED.keys() - {"password"}  # which is sent encoded

    assert "***" in service.said
    found = {path.name: held for path in files(folder) if (held := leaks(path.read_bytes().decode("latin-1")))}
    assert found == {}
    rows = [str(pq.read_table(path).to_pylist()) for path in files(folder) if path.suffix == ".parquet"]
    assert any("/fine" in row for row in rows)
    assert leaks("".join(rows)) == []

    for job in (f"{cluster}/{name}" for cluster in ("lab", "walled") for name in JOBS):
        explained = command("explain", job, "--config", str(service.config))
        as_json = command("explain", job, "--config", str(service.config), "--json")
        assert job in explained
        assert leaks(explained + as_json) == []


def test_commands_show_no_secret(tmp_path: Path, secrets: Path) -> None:
    """`config check` masks what is written out and names what is referred to."""
    config = tmp_path / "headgate.yaml"
    clusters = [way_in("http://127.0.0.1:1", secrets), with_password("http://127.0.0.1:1")]
    config.write_text(yaml.safe_dump({"clusters": clusters}), encoding="utf-8")
    shown = command("config", "check", "--config", str(config))
    assert "no faults" in shown
    assert "${env:PLANTED}" in shown
    assert "http://***@127.0.0.1:1" in shown
    assert leaks(shown) == []


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize("kind", list(FaultKind))
async def test_a_failed_call_quotes_no_secret(
    kind: FaultKind, method: str, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the server quotes them back: not in the text, not in the cause, not in the representation."""
    monkeypatch.setenv("PLANTED", PLANTED["variable"])
    async with FakeFlink() as server:
        server.plant(Fault(kind=kind, text=" ".join(PLANTED[name] for name in PLANTED if name != "encoded")))
        lab = way_in(server.url, secrets)
        headers = lab["headers"]
        assert isinstance(headers, dict)
        options = ClusterOptions(
            name="lab",
            url=server.url,
            headers={**headers, "X-Password": PLANTED["password"]},
            token_file=secrets / "token",
            request_timeout=timedelta(seconds=1),
        )
        async with FlinkClient(options) as client:
            call = (
                client.get("/overview", lambda answer: answer["missing"]) if method == "GET" else client.put("/x", {})
            )
            if kind is FaultKind.GARBLE and method == "PUT":
                await call
                return
            with pytest.raises(HeadgateError) as failed:
                await call
    error: BaseException | None = failed.value
    while error is not None:
        assert leaks(f"{error} {error!r}") == []
        error = error.__cause__
