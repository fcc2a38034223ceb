"""What the doctor says of jobs: a sound one, and those that cannot be changed, cannot grow, or do not tell enough."""

from __future__ import annotations

import re
from datetime import timedelta

import yaml

from headgate.doctor.findings import Verdict
from headgate.doctor.looks.job import look_at_checkpoints
from headgate.engines.flink.client import FlinkClient
from headgate.model.identity import JobKey
from headgate.model.measures import JobStatus
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.kafka import KafkaClusterOptions
from headgate.options.reactive import ExecutionMode
from headgate.options.service import Mode
from headgate.ports import JobContext
from headgate.testing.examined import Patient
from headgate.testing.faults import Fault

TEN_MINUTES = "(10 min|60[0-9] s)"
"""As they are told a moment later."""


async def test_of_a_sound_cluster_every_finding_is_good_and_says_what_was_seen(patient: Patient) -> None:
    """Numbers stand in it, and nobody is told to do anything but to name the brokers."""
    found = dict(await patient.examined(mode=Mode.ACT))
    lag = found.pop(("local/orders", "lag of Source: source"))
    assert {each.verdict for each in found.values()} == {Verdict.OK}
    assert not any(each.remedy for each in found.values())
    assert found["local/orders", "checkpoints"].seen == "every 10 s; 44 completed, 1 failed"
    assert found["local/orders", "headroom"].seen == "every vertex can grow; Source: source least, from 1 to 128"
    assert lag.seen.endswith("pendingRecords: 0 now; largest fetch lately: 8 KiB")
    assert found["local/orders", "partitions of Source: source"].seen == "8, read by 1"


async def test_looking_touches_nothing(patient: Patient) -> None:
    """Every request is a GET, and no file is made."""
    await patient.examined()
    assert {each.method for each in patient.server.requests} == {"GET"}
    directory = patient.options.log.directory
    assert directory is not None
    assert not directory.exists()
    assert not list(directory.parent.iterdir())


async def test_without_checkpoints_nothing_can_be_changed_safely(patient: Patient) -> None:
    """Advice is possible all the same, so it is a warning until Headgate is to act."""
    patient.job.checkpoint_interval_ms = None
    advised = await patient.finding("checkpoints")
    acted = await patient.finding("checkpoints", mode=Mode.ACT)
    assert (advised.verdict, acted.verdict) == (Verdict.WARNING, Verdict.FAILURE)
    assert acted.seen == "they are off"
    assert "execution.checkpointing.interval" in acted.remedy


async def test_checkpoints_that_are_not_completed_are_as_bad_as_none(patient: Patient) -> None:
    """A rescale would wait for the next one in vain."""
    long_ago = patient.server.now_ms - 10 * 60_000
    patient.job.running_since_ms = long_ago
    patient.checkpoint(completed=44, failed=9, last_ms=long_ago)
    stuck = await patient.finding("checkpoints")
    patient.checkpoint(completed=0, failed=9, last_ms=None)
    never = await patient.finding("checkpoints")
    assert (stuck.verdict, never.verdict) == (Verdict.WARNING, Verdict.WARNING)
    assert re.fullmatch(f"every 10 s; 44 completed, 9 failed; {TEN_MINUTES} since the last one", stuck.seen)
    assert re.search(f" {TEN_MINUTES} since the job's start, and none was completed$", never.seen)


async def test_a_job_that_has_just_started_need_not_have_completed_one(patient: Patient) -> None:
    """Nothing is overdue yet."""
    patient.checkpoint(completed=0, failed=0, last_ms=None)
    assert (await patient.finding("checkpoints")).verdict is Verdict.OK


async def test_the_default_scheduler_allows_advice_alone(patient: Patient) -> None:
    """Both ways out are named: another scheduler, or another realizer."""
    patient.job.scheduler = "Default"
    advised = await patient.finding("how it is changed")
    acted = await patient.finding("how it is changed", mode=Mode.ACT)
    assert (advised.verdict, acted.verdict) == (Verdict.WARNING, Verdict.FAILURE)
    assert "jobmanager.scheduler: adaptive" in acted.remedy
    assert "savepoint-redeploy" in acted.remedy


async def test_what_nobody_is_to_change_fails_nothing(patient: Patient) -> None:
    """A job may keep itself from being scaled, or from being looked after, in a service that acts."""
    patient.job.scheduler, patient.job.checkpoint_interval_ms = "Default", None
    advised = await patient.examined(mode=Mode.ACT, wants=AutoscalerOptions(scaling_enabled=False))
    assert advised["local/orders", "how it is changed"].verdict is Verdict.WARNING
    assert advised["local/orders", "checkpoints"].verdict is Verdict.WARNING
    left_alone = await patient.examined(mode=Mode.ACT, wants=AutoscalerOptions(enabled=False))
    assert {check for about, check in left_alone if about == "local/orders"} == {"state"}


async def test_a_job_that_is_replaced_needs_no_scheduler_but_a_launch(patient: Patient) -> None:
    """Without one only what came by `headgate submit` can be started again."""
    patient.job.scheduler = "Default"
    found = await patient.finding("how it is changed", wants=AutoscalerOptions(realizer="savepoint-redeploy"))
    assert found.verdict is Verdict.WARNING
    assert "headgate submit" in found.remedy


async def test_a_vertex_at_its_bound_cannot_grow(patient: Patient) -> None:
    """It is said whether the program or an option bounds it."""
    stage = patient.job.vertices[1]
    stage.parallelism = stage.max_parallelism = 4
    by_program = await patient.finding("headroom")
    stage.max_parallelism = 128
    by_option = await patient.finding("headroom", wants=AutoscalerOptions(max_parallelism=4))
    assert by_program.seen == "stage-1 runs at 4, and its max parallelism 4 allows no more"
    assert "setMaxParallelism()" in by_program.remedy
    assert by_option.seen == "stage-1 runs at 4, and vertex.max-parallelism 4 allows no more"
    assert {by_program.verdict, by_option.verdict} == {Verdict.WARNING}


async def test_a_source_without_pending_records_hides_that_it_is_behind(patient: Patient) -> None:
    """Kafka's connector registers it late; of another one somebody else must tell."""
    source = patient.job.vertices[0]
    source.has_lag = False
    kafka = await patient.finding("lag of Source: source")
    source.partitions = source.fetch_bytes = None
    other = await patient.finding("lag of Source: source")
    assert (kafka.verdict, other.verdict) == (Verdict.WARNING, Verdict.WARNING)
    assert kafka.seen == "reads Kafka; its brokers are not known; it has no pendingRecords yet"
    assert "external metric" in other.remedy


async def test_large_fetches_of_kafka_hide_what_waits(patient: Patient) -> None:
    """With default sizes the gauge stays at 0 while thousands wait; the two settings that help are named."""
    patient.job.vertices[0].fetch_bytes = 2**20
    large = await patient.finding("lag of Source: source")
    patient.job.vertices[0].fetch_bytes = None
    unknown = await patient.finding("lag of Source: source")
    assert (large.verdict, unknown.verdict) == (Verdict.WARNING, Verdict.WARNING)
    assert large.seen.endswith("pendingRecords: 0 now; largest fetch lately: 1,024 KiB")
    assert unknown.seen.endswith("pendingRecords: 0 now; largest fetch lately: unknown")
    assert "max.partition.fetch.bytes" in large.remedy
    assert "fetch.max.bytes" in large.remedy


async def test_a_source_that_reads_all_its_partitions_cannot_grow(patient: Patient) -> None:
    """Further subtasks would have nothing to read."""
    patient.job.vertices[0].parallelism = 8
    found = await patient.finding("partitions of Source: source")
    assert (found.verdict, found.seen) == (Verdict.WARNING, "8, read by 8")


async def test_a_vertex_that_does_not_tell_how_busy_it_is_is_named(patient: Patient) -> None:
    """A legacy source reports NaN."""
    patient.job.vertices[0].has_busy_time = False
    found = await patient.finding("busy time")
    assert (found.verdict, found.seen) == (Verdict.WARNING, "Source: source cannot tell it")


async def test_a_job_in_one_chain_scales_as_one(patient: Patient) -> None:
    """Source and work have one parallelism then."""
    del patient.job.vertices[1:]
    assert (await patient.finding("chaining")).verdict is Verdict.WARNING


async def test_reactive_mode_is_judged_by_the_rules_of_preflight(patient: Patient) -> None:
    """What it is not fit for is a failure with the same words."""
    patient.job.checkpoint_interval_ms = None
    found = await patient.finding("reactive mode", wants=AutoscalerOptions(execution_mode=ExecutionMode.REACTIVE))
    assert found.verdict is Verdict.FAILURE
    assert found.seen == "checkpoints are off: it would begin anew at each change"
    assert found.remedy == "set execution.checkpointing.interval"


async def test_intervals_that_do_not_fit_the_cluster_are_told_with_both_numbers(patient: Patient) -> None:
    """Samples oftener than Flink fetches metrics are the same samples, and few of them are no load."""
    patient.server.config["metrics.fetcher.update-interval"] = "30000"
    often = await patient.finding("pace")
    assert (often.verdict, often.seen) == (
        Verdict.WARNING,
        "samples every 10 s, but Flink fetches metrics every 30 s",
    )
    patient.server.config["metrics.fetcher.update-interval"] = "10000"
    short = await patient.finding("pace", wants=AutoscalerOptions(metrics_window=timedelta(seconds=30)))
    assert (short.verdict, short.seen) == (Verdict.WARNING, "a window of 30 s holds 3 samples")


async def test_a_cluster_that_puts_changes_off_is_told_with_what_it_waits_for(patient: Patient) -> None:
    """Its cooldown, or its next checkpoint."""
    patient.server.config["jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling"] = "1 h"
    cool = await patient.finding("pace")
    assert cool.seen == "the cluster's cooldown of 1 h is longer than stabilization and window, 20 min"
    del patient.server.config["jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling"]
    patient.job.checkpoint_interval_ms = 1_800_000
    rare = await patient.finding("pace")
    assert rare.seen == "a checkpoint every 30 min, a window of 15 min"
    assert {cool.verdict, rare.verdict} == {Verdict.WARNING}


async def test_a_job_that_vanishes_while_it_is_looked_at_is_one_warning(patient: Patient) -> None:
    """The rest of the cluster is examined all the same."""
    patient.server.plant(Fault(path=f"/jobs/{patient.job.job_id}", status=404, text="Job not found"))
    found = await patient.examined()
    assert found["local/orders", "state"].verdict is Verdict.WARNING
    assert "Job not found" in found["local/orders", "state"].seen
    assert {check for about, check in found if about == "local/orders"} == {"state"}
    assert found["local", "free slots"].verdict is Verdict.OK


async def test_metrics_that_are_not_answered_leave_the_rest_known(patient: Patient) -> None:
    """One path that fails is one warning."""
    patient.server.plant(Fault(path="*/subtasks/metrics", status=500))
    found = await patient.examined()
    assert found["local/orders", "lag of Source: source"].verdict is Verdict.WARNING
    assert found["local/orders", "checkpoints"].verdict is Verdict.OK


async def test_what_a_job_says_wrongly_of_itself_is_told(patient: Patient) -> None:
    """Its own configuration is somebody else's than Headgate's."""
    patient.server.recorded[f"/jobs/{patient.job.job_id}/config"] = {
        "execution-config": {"user-config": {"job.autoscaler.vertex.max-parallelism": "many"}}
    }
    found = await patient.finding("its own options")
    assert found.verdict is Verdict.WARNING


async def test_a_job_that_does_not_run_yet_is_told_to_be_waited_for(patient: Patient) -> None:
    """Its tasks are not all there."""
    patient.job.tasks_missing = 1
    assert (await patient.finding("state")).seen == "STARTING"


async def test_a_job_that_vanishes_has_not_switched_its_checkpoints_off(patient: Patient) -> None:
    """Flink answers the same status to both."""
    job = patient.job.job_id
    context = JobContext(key=JobKey("local", "gone"), job_id=job, options=AutoscalerOptions(), status=JobStatus.RUNNING)
    async with FlinkClient(patient.options.clusters[0]) as client:
        patient.server.vanish(job)
        assert await look_at_checkpoints(client, context) is None


async def test_a_job_that_never_ran_is_not_overdue(patient: Patient) -> None:
    """It waits for slots; Flink writes the epoch for the time since when it runs."""
    patient.job.running_since_ms = 0
    patient.checkpoint(completed=0, failed=0, last_ms=None)
    assert (await patient.finding("checkpoints")).seen == "every 10 s; 0 completed, 0 failed"


async def test_brokers_that_are_declared_know_what_waits(patient: Patient) -> None:
    """Then nothing of the connector matters; brokers that do not answer are said, with what comes of it."""
    nowhere = KafkaClusterOptions(name="main", url="127.0.0.1:9", timeout=timedelta(milliseconds=200))
    lag = (await patient.examined(kafka_clusters=(nowhere,)))["local/orders", "lag of Source: source"]

    assert lag.verdict is Verdict.WARNING
    assert lag.seen.startswith("Kafka cluster main: ")
    assert "kafka-clusters" in lag.remedy


async def test_brokers_that_are_not_known_are_said_first_however_small_fetches_are(patient: Patient) -> None:
    """Those of a source that is not behind are always small; the line that mends it needs only the addresses."""
    lag = await patient.finding("lag of Source: source")

    assert lag.verdict is Verdict.WARNING
    assert lag.seen.startswith("reads Kafka; its brokers are not known; pendingRecords: 0 now")
    line = re.findall("`(kafka-clusters: .*?)`", lag.remedy)[0]
    declared = yaml.safe_load(line)["kafka-clusters"]
    assert declared == [{"name": "main", "url": "broker-1:9092,broker-2:9092", "match": "local/orders"}]


async def test_brokers_that_are_declared_are_known_before_anything_was_read(patient: Patient) -> None:
    """A source tells its topics with their first records; what was declared need not be declared again."""
    source = patient.job.vertices[0]
    source.partitions, source.assigned, source.has_lag = None, [8.0], False
    nowhere = KafkaClusterOptions(name="main", url="127.0.0.1:9", timeout=timedelta(milliseconds=200))
    lag = (await patient.examined(kafka_clusters=(nowhere,)))["local/orders", "lag of Source: source"]

    assert lag.seen == "it has no pendingRecords"
    assert "first record" in lag.remedy
