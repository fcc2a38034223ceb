"""The file that `headgate init` writes: whole, valid, careful, and fit for what was seen."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.cli import app
from headgate.config import load
from headgate.doctor.findings import Verdict
from headgate.doctor.naming import address_of, name_clusters, variable_of
from headgate.options.service import Mode, Pipeline
from headgate.testing.examined import Patient
from headgate.testing.faults import Fault


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of the file."""
    return tmp_path / "headgate.yaml"


def read(path: Path) -> str | None:
    """Give what stands in a file; None where there is none."""
    return path.read_text() if path.exists() else None


def write(path: Path, text: str) -> None:
    """Replace what stands in it."""
    path.write_text(text)


async def init(*arguments: object) -> Result:
    """Run the command while the server goes on answering."""
    return await asyncio.to_thread(CliRunner().invoke, app, ["init", *map(str, arguments)])


async def test_the_file_is_whole_valid_and_changes_nothing(patient: Patient, path: Path) -> None:
    """It loads without a warning, and only advises."""
    done = await init(patient.server.url, "--output", path)
    assert done.exit_code == 0, done.output
    loaded = load(path, {}, {})
    assert loaded.warnings == ()
    assert loaded.options.mode is Mode.ADVISE
    assert loaded.options.pipeline is Pipeline.SPARK
    assert [(each.name, each.url) for each in loaded.options.clusters] == [("local", patient.server.url)]
    assert loaded.options.collect_interval == timedelta(seconds=10)
    assert loaded.options.autoscaler.metrics_window == timedelta(minutes=15)
    assert {each.method for each in patient.server.requests} == {"GET"}


async def test_it_teaches_what_to_do_next_and_names_the_jobs(patient: Patient, path: Path) -> None:
    """Its comments lead on, with the job's own key."""
    await init(patient.server.url, "-o", path)
    text = read(path) or ""
    assert text.index("headgate doctor") < text.index("headgate advise") < text.index("headgate run")
    assert "headgate explain local/orders" in text
    assert "RUNNING, 3 vertices at parallelism 1 to 1, a checkpoint every 10 s" in text


async def test_the_jobs_are_options_as_soon_as_they_are_uncommented(patient: Patient, path: Path) -> None:
    """What stands in a comment is no less right."""
    await init(patient.server.url, "-o", path)
    general, _, jobs = (read(path) or "").partition("# jobs:")
    write(path, f"{general}jobs:{jobs.replace('#  ', '  ')}")
    (entry,) = load(path, {}, {}).options.jobs
    assert (entry.match, entry.autoscaler.max_parallelism) == ("local/orders", 64)


async def test_nobody_s_job_name_gets_out_of_its_comment(patient: Patient, path: Path) -> None:
    """Whoever may submit jobs must not write Headgate's options."""
    patient.job.name = 'orders\nmode: act\n"\u2028mode: act'
    await init(patient.server.url, "-o", path)
    assert load(path, {}, {}).options.mode is Mode.ADVISE
    assert "\nmode: act" not in (read(path) or "")


async def test_a_slow_cluster_gets_intervals_that_fit_it(patient: Patient, path: Path) -> None:
    """The doctor has nothing against them."""
    patient.server.config["metrics.fetcher.update-interval"] = "40000"
    patient.server.config["jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling"] = "10 min"
    patient.job.checkpoint_interval_ms = 1_200_000
    await init(patient.server.url, "-o", path)
    options = load(path, {}, {}).options
    assert (options.collect_interval, options.decide_interval) == (timedelta(seconds=40), timedelta(seconds=40))
    assert options.autoscaler.metrics_window == timedelta(minutes=20)
    assert options.autoscaler.stabilization_interval == timedelta(minutes=11)
    found = await patient.examined(
        wants=options.autoscaler, collect_interval=options.collect_interval, decide_interval=options.decide_interval
    )
    assert found["local/orders", "pace"].verdict is Verdict.OK


async def test_a_cluster_that_hardly_ever_checkpoints_does_not_make_headgate_blind(
    patient: Patient, path: Path
) -> None:
    """A window of a day would be of no use to anybody."""
    patient.job.checkpoint_interval_ms = 86_400_000
    await init(patient.server.url, "-o", path)
    assert load(path, {}, {}).options.autoscaler.metrics_window == timedelta(hours=1)


async def test_a_default_scheduler_is_told_where_it_is_to_be_put_right(patient: Patient, path: Path) -> None:
    """Both ways out stand in the file."""
    patient.job.scheduler = "Default"
    await init(patient.server.url, "-o", path)
    text = read(path) or ""
    assert "# On local Headgate can only advise" in text
    assert "# scaling.realizer.class: savepoint-redeploy" in text


async def test_a_file_that_is_there_is_replaced_only_on_demand(patient: Patient, path: Path) -> None:
    """Somebody may have worked on it."""
    write(path, "mine")
    refused = await init(patient.server.url, "-o", path)
    assert (refused.exit_code, read(path)) == (2, "mine")
    assert "--force" in refused.stderr
    assert (await init(patient.server.url, "-o", path, "--force")).exit_code == 0
    assert read(path) != "mine"


async def test_a_dash_writes_to_standard_output(patient: Patient, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """And nothing else there, nor anywhere."""
    monkeypatch.chdir(path.parent)
    done = await init(patient.server.url, "-o", "-")
    assert done.stdout.startswith("# Headgate's options")
    assert read(path) is None


async def test_nothing_is_written_where_an_address_does_not_answer(patient: Patient, path: Path) -> None:
    """The one that does is no consolation."""
    done = await init(patient.server.url, "http://127.0.0.1:9", "-o", path)
    assert done.exit_code == 1
    assert "no connection to 127.0.0.1:9" in done.stderr
    assert read(path) is None


async def test_a_cluster_that_wants_credentials_says_how_to_give_them(patient: Patient, path: Path) -> None:
    """With a token it is looked at, and the file names the token's file."""
    patient.server.plant(Fault(status=401, text="no", times=1))
    refused = await init(patient.server.url, "-o", path)
    assert refused.exit_code == 1
    assert "token-file" in refused.stderr
    write(path.with_name("token"), "geheim")
    done = await init(patient.server.url, "-o", path, "--token-file", path.with_name("token"))
    assert done.exit_code == 0, done.output
    assert load(path, {}, {}).options.clusters[0].token_file == path.with_name("token")
    assert patient.server.requests[-1].headers["Authorization"] == "Bearer geheim"
    assert "geheim" not in (read(path) or "")


async def test_no_address_is_a_wrong_call(path: Path) -> None:
    """It is told before anything is asked."""
    done = await init("localhost:8081", "-o", path)
    assert done.exit_code == 2
    assert "http://localhost:8081" in done.stderr
    assert read(path) is None


def test_clusters_are_called_after_their_hosts_and_never_alike() -> None:
    """The port tells two of one host apart; the same address twice is one cluster."""
    urls = ["http://127.0.0.1:1", "http://localhost:2", "https://flink.example.com/a", "https://flink.example.com/b"]
    named = name_clusters([*urls, urls[0]])
    assert [each.name for each in named] == ["local", "local-2", "flink.example.com", "flink.example.com-https"]


def test_a_password_stays_out_of_the_file() -> None:
    """Its place is the environment."""
    (cluster,) = name_clusters(["http://me:geheim@flink-1:8081"])
    assert address_of(cluster) == "http://me:${env:FLINK_1_PASSWORD}@flink-1:8081"


async def test_a_name_in_any_script_is_written_as_it_is(patient: Patient, path: Path) -> None:
    """So that its entry fits it once it is no comment."""
    patient.job.name = 'bücher 😀 \\ "x"'
    await init(patient.server.url, "-o", path)
    general, _, jobs = (read(path) or "").partition("# jobs:")
    write(path, f"{general}jobs:{jobs.replace('#  ', '  ')}")
    assert load(path, {}, {}).options.jobs[0].match == f"local/{patient.job.name}"


async def test_reactive_mode_is_not_taken_for_changes_in_place(patient: Patient, path: Path) -> None:
    """Flink itself gives a job all slots there."""
    patient.server.config["scheduler-mode"] = "reactive"
    await init(patient.server.url, "-o", path)
    text = read(path) or ""
    assert "# local is in reactive mode" in text
    assert "changes parallelism in place" not in text


def test_a_password_s_variable_is_one_that_a_shell_takes() -> None:
    """It begins with no digit, and has no letter beyond ASCII."""
    named = name_clusters(["http://me:geheim@10.0.0.1:8081", "http://me:geheim@flüsse:8081"])
    assert [variable_of(each) for each in named] == ["_10_0_0_1_PASSWORD", "FL_SSE_PASSWORD"]


async def test_brokers_that_are_not_known_stand_in_it_to_be_filled_in(patient: Patient, path: Path) -> None:
    """The command says it as well; once it is no comment the line is an option."""
    done = await init(patient.server.url, "-o", path)
    assert "local/orders reads Kafka; its brokers are not known" in " ".join(done.stderr.split())
    text = read(path) or ""
    assert '# "local/orders" reads Kafka; its brokers are not known.' in text
    write(path, text.replace("# kafka-clusters:", "kafka-clusters:"))
    (cluster,) = load(path, {}, {}).options.kafka_clusters
    assert (cluster.url, cluster.match) == ("broker-1:9092,broker-2:9092", "local/orders")


async def test_a_job_that_reads_no_kafka_needs_no_brokers(patient: Patient, path: Path) -> None:
    """Nothing is said of them."""
    patient.job.vertices[0].partitions = patient.job.vertices[0].fetch_bytes = None
    done = await init(patient.server.url, "-o", path)
    assert "Kafka" not in done.stderr
    assert "kafka" not in (read(path) or "").lower()
