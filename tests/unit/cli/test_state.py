"""`headgate state`, from the words on the command line to the rows in the files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.cli import app
from headgate.cli.state import names_in
from headgate.config import load
from headgate.errors import ConfigError
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.stores.reference_state import TABLE
from headgate.stores.sql import SqlStateStore
from headgate.testing.conformance.state_store import full_orders, full_state

ID = "a" * 32
HISTORY = {"b" * 32: {"2025-06-01T10:00:00Z": {"currentParallelism": 1, "newParallelism": 2, "metrics": {}}}}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write the service's file."""
    path = tmp_path / "headgate.yaml"
    path.write_text(
        f"clusters: [{{name: local, url: 'http://127.0.0.1:1'}}]\nstate-store: sqlite:///{tmp_path}/headgate.db\n"
    )
    return path


@pytest.fixture
def reference(tmp_path: Path) -> str:
    """Make a database such as the reference's."""
    path = tmp_path / "reference.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {TABLE} (id INTEGER, job_key TEXT, state_type TEXT, state_value TEXT)")
        row = (1, ID, "scalingHistory", json.dumps(HISTORY))
        connection.execute(f"INSERT INTO {TABLE} VALUES (?, ?, ?, ?)", row)  # noqa: S608 - a constant
    return f"sqlite:///{path}"


def call(*words: str | Path) -> Result:
    """Run `headgate state`."""
    return CliRunner().invoke(app, ["state", *map(str, words)])


def test_ids_are_listed_and_then_taken_by_name(config: Path, reference: str) -> None:
    """The first call says what there is, the second takes it, the third finds nothing left to take."""
    command: Sequence[str | Path] = ("import", "--from", reference, "--config", config)
    listed = call(*command)
    assert f"{ID} -> ?\n  left:  nobody said which job it is" in listed.output
    named = (*command, "--job", f"{ID}=local/orders")
    assert f"{ID} -> local/orders\n  taken: 1 rescales\n" in call(*named).output
    assert f"{ID} -> local/orders\n  left:  1 rescales: taken before\n" in call(*named).output
    shown = call("show", "local/orders", "--config", config)
    assert json.loads(shown.output)["state"]["history"][0]["after"] == {"b" * 32: 2}


def test_names_come_from_a_file_too(config: Path, reference: str, tmp_path: Path) -> None:
    """One line a job."""
    jobs = tmp_path / "jobs"
    jobs.write_text(f"# ours\n\n{ID} = local/orders\n")
    result = call("import", "--from", reference, "--config", config, "--jobs", jobs)
    assert f"{ID} -> local/orders" in result.output


def test_every_line_that_names_no_job_is_told() -> None:
    """All together; a job's name may hold an equals sign."""
    assert names_in(["x=local/a=b"]) == {"x": JobKey("local", "a=b")}
    with pytest.raises(ConfigError) as raised:
        names_in(["x", "=local/a", "x=orders"])
    assert len(raised.value.faults) == 3


def test_a_database_without_the_table_is_no_reference(config: Path, tmp_path: Path) -> None:
    """The wrong database, most likely."""
    result = call("import", "--from", f"sqlite:///{tmp_path}/other.db", "--config", config)
    assert (result.exit_code, "Hint: give the reference's own database" in result.output) == (1, True)


def test_a_url_is_never_shown(config: Path) -> None:
    """It may hold a password in a place where nobody looks for one."""
    result = call("import", "--from", "planted-secret", "--config", config)
    assert (result.exit_code, "--from: not a database URL" in result.output) == (2, True)
    assert "planted-secret" not in result.output


def test_a_database_is_brought_up_to_date_once(config: Path) -> None:
    """And the command says whether there was anything to do."""
    assert [call("migrate", "--config", config).output for _ in range(2)] == [
        "brought up to date\n",
        "up to date already\n",
    ]


def test_what_is_not_known_is_not_shown(config: Path) -> None:
    """A job that was never saved is no empty job."""
    result = call("show", "local/orders", "--config", config)
    assert (result.exit_code, "knows no job 'local/orders'" in result.output) == (1, True)


def test_memory_is_no_store_to_look_into(config: Path) -> None:
    """It ended with the process that had it."""
    config.write_text(config.read_text().split("state-store")[0] + "state-store: memory\n")
    result = call("migrate", "--config", config)
    assert (result.exit_code, "Hint: give a database URL" in result.output) == (2, True)


def keep(config: Path, **gone: int | None) -> SqlStateStore:
    """Keep a state of each job, noted as gone for so many days."""
    store = SqlStateStore(load(config, {}, {}).options.state_store)
    for name, days in gone.items():
        job = JobKey("local", name)
        store.save(job, JobState(), 0)
        if days is not None:
            store.note_gone([job], datetime.now(UTC) - timedelta(days=days))
    return store


def test_what_is_kept_is_listed(config: Path) -> None:
    """With what is known of its absence, and what keeps it from being forgotten."""
    with closing(keep(config, there=None, gone=40)) as store:
        store.save(JobKey("local", "there"), full_state(), 1)
        store.change_orders(JobKey("local", "gone"), lambda _: full_orders())
        since = store.kept()[JobKey("local", "gone")]
    assert call("list", "--config", config).output.splitlines() == [
        f"local/gone  gone since {since:%Y-%m-%d %H:%M:%S} UTC  has orders",
        "local/there  has a change under way or events that wait",
    ]


def test_named_jobs_are_forgotten(config: Path) -> None:
    """Whether they are gone or not; the others stay, and who is not known is told."""
    with closing(keep(config, one=None, two=40, three=None)) as store:
        result = call("forget", "local/one", "local/two", "local/four", "--config", config)
        assert result.output.splitlines()[:2] == ["local/one is forgotten", "local/two is forgotten"]
        assert (result.exit_code, "local/four stays: is not known" in result.output) == (1, True)
        assert set(store.kept()) == {JobKey("local", "three")}


def test_all_that_are_gone_for_long_are_forgotten(config: Path) -> None:
    """Those that are gone for less, and those that are there, stay without a word."""
    with closing(keep(config, old=40, older=50, recent=20, there=None)) as store:
        result = call("forget", "--gone-for", "30 d", "--config", config)
        assert (result.exit_code, result.output) == (0, "local/old is forgotten\nlocal/older is forgotten\n")
        assert store.kept().keys() == {JobKey("local", "recent"), JobKey("local", "there")}
        result = call("forget", "local/recent", "--gone-for", "30 d", "--config", config)
        assert (result.exit_code, "local/recent stays: is not gone for so long" in result.output) == (1, True)


@pytest.mark.parametrize("named", [["local/used"], ["--gone-for", "30 d"]])
def test_a_job_in_use_is_forgotten_only_by_force(config: Path, named: list[str]) -> None:
    """Its intent is lost then, its orders are not."""
    job = JobKey("local", "used")
    with closing(keep(config, used=None)) as store:
        store.save(job, full_state(), 1)
        store.note_gone([job], datetime.now(UTC) - timedelta(days=40))
        store.change_orders(job, lambda _: full_orders())
        result = call("forget", *named, "--config", config)
        why = "local/used stays: has a change under way or events that wait, has orders"
        assert (result.exit_code, why in result.output, store.load(job).version) == (1, True, 2)
        assert call("forget", *named, "--force", "--config", config).output == "local/used is forgotten\n"
        assert (store.load(job).version, store.orders().jobs) == (0, {job: full_orders()})


@pytest.mark.parametrize(
    ("words", "fault"),
    [([], "name jobs, or give --gone-for"), (["--gone-for", "soon"], "--gone-for: 'soon'"), (["orders"], "orders")],
)
def test_it_must_be_clear_what_to_forget(config: Path, words: list[str], fault: str) -> None:
    """Nothing is forgotten by mistake."""
    with closing(keep(config, orders=99)) as store:
        result = call("forget", *words, "--config", config)
        assert (result.exit_code, fault in result.output) == (2, True)
        assert store.kept()
