"""`headgate pause`, `resume`, `rollback` and `set`: from the words on the command line to the orders in the store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import pytest
from typer.testing import CliRunner, Result

from headgate.algorithm.decide import decide
from headgate.cli import app
from headgate.model.identity import JobKey
from headgate.model.orders import Orders, StandingOrders
from headgate.model.state import JobState
from headgate.options.autoscaler import AutoscalerOptions
from headgate.samplelog.writer import SampleLog
from headgate.stores.sql import SqlStateStore
from headgate.testing.builders import ORDERS, chain, evaluated, sample

TARGET = "job.autoscaler.utilization.target"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write the service's file, and a decision for the one job that is known."""
    path = tmp_path / "headgate.yaml"
    path.write_text(
        f"clusters: [{{name: prod, url: 'http://127.0.0.1:1'}}]\n"
        f"state-store: sqlite:///{tmp_path}/headgate.db\nlog.path: {tmp_path}/log\n"
        "jobs: [{match: 'prod/*', job.autoscaler.vertex.min-parallelism: 4}]\n"
    )
    graph = chain({"source": 2, "agg": 2})
    made = decide(sample(graph), evaluated(graph, {}), AutoscalerOptions(), datetime.now(UTC), JobState())
    SampleLog(tmp_path / "log").append_decisions([made])
    return path


@pytest.fixture
def store(config: Path) -> Iterator[SqlStateStore]:
    """Open the service's store beside the commands."""
    with closing(SqlStateStore(f"sqlite:///{config.parent}/headgate.db")) as store:
        yield store


def call(config: Path, *words: str) -> Result:
    """Run `headgate`."""
    return CliRunner().invoke(app, [*words, "--config", str(config)])


def told(config: Path, *words: str) -> str:
    """Run `headgate` with success, and give what it says."""
    result = call(config, *words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_pause_says_who_and_why_and_is_taken_back(config: Path, store: SqlStateStore) -> None:
    """By the job's bare name, too."""
    said = told(config, "pause", "orders", "--why", "latency is up")
    assert said.startswith("prod/orders is paused by ")
    assert said.endswith(" UTC: latency is up\n")
    assert "@" in str(store.orders().pause_of(ORDERS))
    assert told(config, "resume", "prod/orders") == "prod/orders is not paused\n"
    assert store.orders() == StandingOrders()


def test_resuming_one_job_does_not_hide_that_all_are_paused(config: Path) -> None:
    """What still holds is said."""
    told(config, "pause", "orders")
    assert "all jobs are paused by " in told(config, "pause", "--all")
    assert told(config, "resume", "orders").startswith("all jobs are paused by ")
    assert told(config, "resume", "--all") == "no job is paused\n"


def test_a_machine_is_told_what_holds(config: Path) -> None:
    """Of the job, what is ordered for all included."""
    told(config, "set", "--all", "utilization.target=0.5")
    held = json.loads(told(config, "pause", "orders", "--why", "INC-731", "--json"))
    assert (held["pause"]["why"], held["options"]) == ("INC-731", {TARGET: "0.5"})
    assert json.loads(told(config, "set", "--all", "--show", "--json"))["pause"] is None


def test_a_job_that_nobody_knows_is_refused_with_near_names(config: Path, store: SqlStateStore) -> None:
    """Unless it is insisted on, by its whole key."""
    refused = call(config, "pause", "order")
    assert (refused.exit_code, "did you mean prod/orders?" in refused.stderr) == (1, True)
    assert "prod/later is paused by " in told(config, "pause", "prod/later", "--force")
    assert call(config, "pause", "later", "--force").exit_code == 2
    assert [str(job) for job in store.orders().jobs] == ["prod/later"]


def test_a_name_and_a_reason_do_nothing_to_the_terminal(config: Path) -> None:
    """Whoever submits a job chooses its name, and a reason is seen by everybody."""
    hostile = "prod/\x1b[2J\nall is well"
    said = told(config, "pause", hostile, "--force", "--why", "\x1b]0;x\x07")
    said += told(config, "pause", "--all") + told(config, "rollback", hostile, "--force")
    assert "\x1b" not in said
    assert "\\x1b[2J\\nall is well" in said


def test_a_job_that_the_store_remembers_is_known_without_the_log(config: Path, store: SqlStateStore) -> None:
    """As on a machine that has nothing but the service's file."""
    remembered = JobKey("prod", "a/b")
    store.save(remembered, JobState(), 0)
    assert told(config, "pause", "prod/a/b").startswith("prod/a/b is paused by ")
    assert told(config, "resume", "a/b") == "prod/a/b is not paused\n"


def test_a_name_that_another_cluster_may_have_is_not_taken_for_one_job(config: Path, store: SqlStateStore) -> None:
    """Also where nothing was heard of the other one for long: the wrong job must not be paused."""
    store.save(JobKey("backup", "orders"), JobState(), 0)
    refused = call(config, "pause", "orders")
    assert (refused.exit_code, "write one of backup/orders, prod/orders" in refused.stderr) == (1, True)
    assert store.orders() == StandingOrders()


@pytest.mark.parametrize("words", [("pause",), ("pause", "orders", "--all"), ("set",), ("set", "orders")])
def test_a_call_that_says_too_little_or_too_much_is_wrong(config: Path, words: tuple[str, ...]) -> None:
    """Nothing is ordered by guessing."""
    assert call(config, *words).exit_code == 2


def test_a_store_in_memory_has_no_orders(config: Path) -> None:
    """Nobody else would see them."""
    config.write_text(config.read_text().replace("state-store: sqlite", "state-store: memory #"))
    refused = call(config, "pause", "--all")
    assert (refused.exit_code, "Hint: give a database URL" in refused.stderr) == (2, True)


def test_options_are_set_shown_and_unset(config: Path, store: SqlStateStore) -> None:
    """Under their declared keys, however they are written; who has set them stands beside them."""
    said = told(config, "set", "orders", "target.utilization=0.5", "scaling.enabled = true")
    assert f"{TARGET}=0.5  (set by " in said
    assert store.orders().options_of(ORDERS) == {TARGET: "0.5", "job.autoscaler.scaling.enabled": "true"}
    assert told(config, "set", "orders", "--show") == said
    left = told(config, "set", "orders", "--unset", "scaling.enabled")
    assert left == said.splitlines(keepends=True)[-1]
    told(config, "set", "orders", "--unset", TARGET)
    assert store.orders() == StandingOrders()


def test_those_of_all_jobs_are_shown_with_those_of_one(config: Path, store: SqlStateStore) -> None:
    """The job's own before everybody's."""
    told(config, "set", "--all", "utilization.target=0.5")
    told(config, "set", "orders", "utilization.target=0.6")
    assert f"{TARGET}=0.6" in told(config, "set", "orders", "--show")
    assert store.orders().fleet.options == {TARGET: "0.5"}


def test_all_faults_are_told_and_nothing_is_set(config: Path, store: SqlStateStore) -> None:
    """Values, options that there are not, and what does not go together with the file."""
    wrong = call(config, "set", "orders", "utilisation.target=0.5", "log.path=/tmp", "nothing")
    assert wrong.exit_code == 2
    for part in ("did you mean autoscaler.utilization.target", "log.path", "'nothing' sets nothing"):
        assert part in wrong.stderr
    together = call(config, "set", "orders", "vertex.max-parallelism=3", "metrics.window=long")
    assert together.exit_code == 2
    assert "headgate set: job.autoscaler.metrics.window: found 'long'" in together.stderr
    assert store.orders() == StandingOrders()


def test_the_file_is_part_of_the_check(config: Path) -> None:
    """At least 4 there, so at most 3 cannot be."""
    assert call(config, "set", "orders", "vertex.max-parallelism=3").exit_code == 2
    assert call(config, "set", "--all", "vertex.max-parallelism=3").exit_code == 2
    assert call(config, "set", "orders", "vertex.max-parallelism=5").exit_code == 0


def test_an_option_that_an_upgrade_has_removed_can_be_unset(config: Path, store: SqlStateStore) -> None:
    """By the key that is shown."""
    store.change_orders(ORDERS, lambda _: Orders(options={"job.autoscaler.gone": "1"}))
    told(config, "set", "orders", "--unset", "job.autoscaler.gone")
    assert store.orders() == StandingOrders()


def test_a_rollback_is_ordered_and_awaited(config: Path, store: SqlStateStore) -> None:
    """Until whoever looks after the job has taken it up."""

    def take_up() -> None:
        with closing(SqlStateStore(f"sqlite:///{config.parent}/headgate.db")) as other:
            while not other.orders().jobs:
                waited.wait(0.02)
            other.change_orders(ORDERS, lambda _: Orders())

    waited, service = Flag(), Thread(target=take_up)
    store.migrate()
    service.start()
    said = told(config, "rollback", "orders", "--why", "latency is up", "--wait", "60")
    service.join()
    assert "ordered to take the last rescale of prod/orders back, by " in said
    assert "latency is up\ntaken up: see `headgate explain prod/orders`" in said


def test_an_order_that_nobody_takes_up_is_said_to_wait(config: Path, store: SqlStateStore) -> None:
    """It stays in the store."""
    waited = call(config, "rollback", "orders", "--wait", "0.1")
    assert (waited.exit_code, "does `headgate run` look after it?" in waited.stderr) == (1, True)
    assert store.orders().jobs[ORDERS].rollback
