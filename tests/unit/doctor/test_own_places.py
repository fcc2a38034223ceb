"""What the doctor says of Headgate's own places: its state store, its log, and where it listens."""

from __future__ import annotations

import socket
from pathlib import Path

from headgate.doctor.checks.pace import check_intervals
from headgate.doctor.checks.places import check_places
from headgate.doctor.facts import OwnFacts, PlaceFacts, Tried
from headgate.doctor.findings import Finding, Verdict
from headgate.doctor.looks.places import look_at_places
from headgate.options.service import ClusterOptions, LogOptions, ServiceOptions
from headgate.options.serving import MetricsOptions

CLUSTERS = (ClusterOptions(name="local", url="http://127.0.0.1:9"),)
ROOMY = PlaceFacts(path=Path("log"), exists=True, writable=True, free_bytes=2**40)


def judged(options: ServiceOptions) -> dict[str, Finding]:
    """Look, and judge."""
    return {found.check: found for found in check_places(look_at_places(options))}


def of_log(log: PlaceFacts) -> Finding:
    """Judge a log directory."""
    return next(
        found for found in check_places(OwnFacts(store=Tried(told="x"), log=log)) if found.check == "samples log"
    )


def test_places_that_can_be_made_are_good_and_are_not_made(tmp_path: Path) -> None:
    """A first look leaves nothing behind."""
    found = judged(
        ServiceOptions(
            clusters=CLUSTERS, state_store=f"sqlite:///{tmp_path}/h.db", log=LogOptions(path=str(tmp_path / "a" / "b"))
        )
    )
    assert {found["state store"].verdict, found["samples log"].verdict} == {Verdict.OK}
    assert found["state store"].seen == f"{tmp_path}/h.db will be made"
    assert not list(tmp_path.iterdir())


def test_a_store_whose_directory_is_not_there_is_a_failure(tmp_path: Path) -> None:
    """SQLite makes files, not directories."""
    found = judged(ServiceOptions(clusters=CLUSTERS, state_store=f"sqlite:///{tmp_path}/nowhere/h.db"))
    assert found["state store"].verdict is Verdict.FAILURE
    assert "does not exist" in found["state store"].seen


def test_a_store_that_is_none_or_hides_its_secret_is_a_failure() -> None:
    """What is wrong is told without the password."""
    unknown = judged(ServiceOptions(clusters=CLUSTERS, state_store="nosql://me:geheim@host/x"))["state store"]
    secret = judged(ServiceOptions(clusters=CLUSTERS, state_store="${env:HEADGATE_NOWHERE}"))["state store"]
    assert (unknown.verdict, secret.verdict) == (Verdict.FAILURE, Verdict.FAILURE)
    assert "geheim" not in unknown.seen
    assert "HEADGATE_NOWHERE" in secret.seen


def test_a_store_in_memory_forgets() -> None:
    """That may be wanted, and is worth a word."""
    assert judged(ServiceOptions(clusters=CLUSTERS, state_store="memory"))["state store"].verdict is Verdict.WARNING


def test_a_log_without_room_is_told_before_it_is_full() -> None:
    """Little room is a warning, next to none a failure."""
    little = PlaceFacts(path=Path("log"), exists=True, writable=True, free_bytes=2**29)
    none = PlaceFacts(path=Path("log"), exists=True, writable=True, free_bytes=2**20)
    locked = PlaceFacts(path=Path("log"), exists=False, writable=False, free_bytes=2**40)
    verdicts = [of_log(place).verdict for place in (ROOMY, little, none, locked)]
    assert verdicts == [Verdict.OK, Verdict.WARNING, Verdict.FAILURE, Verdict.FAILURE]
    assert of_log(little).seen == "log can be written; 0.5 GiB free"
    assert of_log(locked).seen == "log cannot be made by this user"


def test_an_address_that_is_taken_may_be_a_headgate_that_runs() -> None:
    """So it is a warning, with both explanations."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        found = judged(ServiceOptions(clusters=CLUSTERS, metrics=MetricsOptions(address=address)))["metrics.address"]
    assert found.verdict is Verdict.WARNING
    assert address in found.seen
    assert "a Headgate that runs already" in found.remedy


def test_deciding_oftener_than_looking_is_pointless() -> None:
    """Both intervals stand in it."""
    usual = ServiceOptions(clusters=CLUSTERS)
    (found,) = check_intervals(ServiceOptions(clusters=CLUSTERS, decide_interval=usual.collect_interval / 2))
    assert (found.verdict, found.seen) == (Verdict.WARNING, "samples every 10 s, decisions every 5 s")
    assert next(iter(check_intervals(usual))).verdict is Verdict.OK


def test_a_place_that_cannot_even_be_looked_for_is_a_failure_like_others(tmp_path: Path) -> None:
    """It may be behind a closed directory, or have a name that no file system takes."""
    nowhere = tmp_path / ("x" * 300)
    found = judged(
        ServiceOptions(
            clusters=CLUSTERS, state_store=f"sqlite:///{nowhere}/h.db", log=LogOptions(path=str(nowhere / "log"))
        )
    )
    assert found["state store"].verdict is Verdict.FAILURE
    assert found["samples log"].seen.startswith(f"{nowhere}/log can be made")
