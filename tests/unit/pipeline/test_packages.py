"""What Spark is told to fetch: what the options need, and nothing that is brought already."""

from __future__ import annotations

import pytest

from headgate.errors import UnreachableError
from headgate.options.samples import KafkaOptions, SampleOrigin, SamplesOptions
from headgate.options.service import ClusterOptions, LogOptions, ServiceOptions
from headgate.pipeline.packages import session_settings

CLUSTERS = (ClusterOptions(name="prod", url="http://127.0.0.1:8081"),)
THROUGH_KAFKA = SamplesOptions(origin=SampleOrigin.KAFKA, kafka=KafkaOptions(bootstrap_servers="127.0.0.1:9092"))
IN_A_BUCKET = LogOptions(path="s3a://bucket/log", endpoint="http://127.0.0.1:9000")


def test_nothing_is_fetched_for_a_log_in_a_directory() -> None:
    """Spark has all that it needs."""
    own = {"spark.driver.memory": "1g"}
    assert session_settings(ServiceOptions(clusters=CLUSTERS, spark_settings=own)) == own


def test_each_need_is_fetched_and_a_store_of_ones_own_is_named() -> None:
    """Kafka's connector, and what reads buckets in the version of Spark's Hadoop."""
    settings = session_settings(ServiceOptions(clusters=CLUSTERS, samples=THROUGH_KAFKA, log=IN_A_BUCKET))
    kafka, hadoop = settings["spark.jars.packages"].split(",")
    assert "spark-sql-kafka" in kafka
    assert hadoop.startswith("org.apache.hadoop:hadoop-aws:3.")
    assert settings["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:9000"


def test_a_store_that_is_away_holds_up_no_cycle_for_long() -> None:
    """Unless somebody wants it so."""
    own = "spark.hadoop.fs.s3a.retry.limit"
    log = LogOptions(path="s3a://bucket/log")
    usual, set_ = (
        session_settings(ServiceOptions(clusters=CLUSTERS, log=log, spark_settings=settings))
        for settings in ({}, {own: "9"})
    )
    assert (usual[own], set_[own]) == ("3", "9")
    assert "spark.hadoop.fs.s3a.endpoint" not in usual


@pytest.mark.parametrize("own", ["spark.jars", "spark.jars.packages"])
def test_nothing_is_fetched_where_jars_are_brought(own: str) -> None:
    """Jars of one's own are for where nothing can be fetched."""
    options = ServiceOptions(clusters=CLUSTERS, samples=THROUGH_KAFKA, spark_settings={own: "mine"})
    assert session_settings(options) == {own: "mine"}


def test_a_setting_may_be_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not there is told by its name."""
    options = ServiceOptions(clusters=CLUSTERS, spark_settings={"spark.hadoop.fs.s3a.secret.key": "${env:LOG_SECRET}"})
    with pytest.raises(UnreachableError, match=r"spark\.settings: .*LOG_SECRET"):
        session_settings(options)
    monkeypatch.setenv("LOG_SECRET", "geheim")
    assert session_settings(options) == {"spark.hadoop.fs.s3a.secret.key": "geheim"}
