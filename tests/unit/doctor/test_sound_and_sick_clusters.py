"""What the doctor says of clusters: who does not answer, lets nobody in, has no room, or another time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.doctor.checks.cluster import unreached
from headgate.doctor.findings import Verdict
from headgate.errors import UnreachableError
from headgate.options.prometheus import PrometheusOptions
from headgate.options.service import ClusterOptions
from headgate.options.spark import SparkOptions
from headgate.testing.examined import Patient
from headgate.testing.fake_answers import job_details
from headgate.testing.fake_web import FakeWeb, WebAnswer
from headgate.testing.faults import Fault, FaultKind


async def test_no_free_slot_leaves_no_room_to_grow(patient: Patient) -> None:
    """How many there are stands in it."""
    patient.server.slots = 1
    found = (await patient.examined())["local", "free slots"]
    assert (found.verdict, found.seen) == (Verdict.WARNING, "0 of 1 free; TaskManagers: 1")


async def test_workers_that_come_on_demand_need_no_free_slot(patient: Patient) -> None:
    """Flink itself starts them on Kubernetes."""
    patient.server.slots = 1
    patient.server.config["execution.target"] = "kubernetes-application"
    assert (await patient.examined())["local", "free slots"].verdict is Verdict.OK


@pytest.mark.parametrize(("status", "remedy"), [(401, "give credentials"), (403, "widen their rights")])
async def test_missing_and_insufficient_credentials_are_told_apart(patient: Patient, status: int, remedy: str) -> None:
    """One needs other credentials, the other needs rights."""
    patient.server.plant(Fault(status=status, text="no"))
    found = await patient.examined()
    credentials = found["local", "credentials"]
    assert credentials.verdict is Verdict.FAILURE
    assert str(status) in credentials.seen
    assert remedy in credentials.remedy
    assert not any(about == "local/orders" for about, _ in found)


async def test_a_cluster_that_is_down_fails_and_the_others_are_examined(patient: Patient) -> None:
    """Where nobody listens is told."""
    down = ClusterOptions(name="down", url="http://127.0.0.1:9")
    found = await patient.examined(clusters=(*patient.options.clusters, down))
    assert found["down", "reachable"].verdict is Verdict.FAILURE
    assert "no connection to 127.0.0.1:9" in found["down", "reachable"].seen
    assert found["local", "reachable"].verdict is Verdict.OK
    assert found["local/orders", "checkpoints"].verdict is Verdict.OK


async def test_a_secret_that_is_not_there_is_that_cluster_s_failure(patient: Patient) -> None:
    """The variable is named."""
    locked = ClusterOptions(name="locked", url=patient.server.url, headers={"X-Key": "${env:HEADGATE_NOWHERE}"})
    found = await patient.examined(clusters=(locked,))
    assert "HEADGATE_NOWHERE" in found["locked", "reachable"].seen


def test_a_certificate_that_nobody_knows_needs_a_file_of_those_that_are_known() -> None:
    """It is no question of whether the cluster runs."""
    found = unreached(UnreachableError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate"), flink=True)
    assert (found.check, found.verdict) == ("TLS", Verdict.FAILURE)
    assert "ca-file" in found.remedy


async def test_something_else_than_flink_is_no_flink(patient: Patient) -> None:
    """An answer without sense is a failure like none."""
    async with FakeWeb(WebAnswer(text="[]")) as web:
        found = await patient.examined(clusters=(ClusterOptions(name="other", url=web.url),))
    assert "not understood" in found["other", "reachable"].seen


async def test_an_old_flink_is_told_by_its_version(patient: Patient) -> None:
    """Nothing changes in place before 1.18."""
    overview = {"taskmanagers": 1, "slots-total": 8, "slots-available": 4}
    patient.server.recorded["/overview"] = {**overview, "flink-version": "1.17.2"}
    assert (await patient.examined())["local", "version"].seen == "Flink 1.17.2"
    patient.server.recorded["/overview"] = {**overview, "flink-version": "1.18.0"}
    assert ("local", "version") not in await patient.examined()


async def test_a_clock_that_is_off_is_told_with_how_much(patient: Patient) -> None:
    """An hour is more than any window."""
    details = job_details(patient.job)
    patient.server.recorded[f"/jobs/{patient.job.job_id}"] = {**details, "now": details["now"] + 3_600_000}
    found = (await patient.examined())["local", "clock"]
    assert found.verdict is Verdict.WARNING
    assert "ahead of ours" in found.seen
    assert found.remedy == "keep both machines on NTP"


async def test_a_cluster_without_jobs_is_a_warning(patient: Patient) -> None:
    """There is nothing wrong with it, and nothing to do."""
    patient.server.vanish(patient.job.job_id)
    assert (await patient.examined())["local", "jobs"].seen == "no job runs there"


async def test_a_job_list_that_is_forbidden_is_a_failure(patient: Patient) -> None:
    """The cluster answers, and shows nothing."""
    patient.server.plant(Fault(path="/jobs/overview", status=403))
    found = await patient.examined()
    assert found["local", "jobs"].verdict is Verdict.FAILURE
    assert found["local", "reachable"].verdict is Verdict.OK


async def test_settings_that_are_kept_secret_are_a_warning(patient: Patient) -> None:
    """Flink's defaults are assumed then."""
    patient.server.plant(Fault(path="/jobmanager/config", status=403))
    found = await patient.examined()
    assert found["local", "settings"].verdict is Verdict.WARNING
    assert found["local/orders", "how it is changed"].verdict is Verdict.OK


async def test_a_reset_connection_crashes_nothing(patient: Patient) -> None:
    """Whatever breaks, something is said."""
    patient.server.plant(Fault(kind=FaultKind.RESET))
    assert (await patient.examined())["local", "reachable"].verdict is Verdict.FAILURE


async def test_a_prometheus_that_does_not_answer_is_its_cluster_s_failure(patient: Patient) -> None:
    """The metrics of its jobs are read there."""
    scraped = replace(patient.options.clusters[0], prometheus=PrometheusOptions(url="http://127.0.0.1:9"))
    found = await patient.examined(clusters=(scraped,))
    assert found["local", "Prometheus"].verdict is Verdict.FAILURE


async def test_other_kinds_of_clusters_are_asked_whether_they_answer(patient: Patient) -> None:
    """A Spark master that is away is a failure beside the Flink clusters' findings."""
    spark = (SparkOptions(name="lake", master="http://127.0.0.1:9"),)
    found = await patient.examined(spark=spark)
    assert found["lake", "reachable"].verdict is Verdict.FAILURE
    assert "JobManager" not in found["lake", "reachable"].remedy
    assert found["local", "reachable"].verdict is Verdict.OK


async def test_in_reactive_mode_no_slot_is_ever_free(patient: Patient) -> None:
    """That is how it should be."""
    patient.server.slots = 1
    patient.server.config["scheduler-mode"] = "reactive"
    found = (await patient.examined())["local", "free slots"]
    assert (found.verdict, found.seen[:9]) == (Verdict.OK, "0 of 1 fr")
