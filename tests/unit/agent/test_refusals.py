"""Sessions that cannot be attached to, each told in one message."""

from __future__ import annotations

import pytest

import headgate
from headgate.agent.refusals import refuse_managed, refuse_old
from headgate.errors import UnsupportedError


def instance_of(module: str, name: str) -> object:
    """Make an object of a class that stands in that module."""
    return type(name, (), {"__module__": module})()


def test_a_session_of_spark_connect_is_refused() -> None:
    """Its driver is somewhere else, and it is told before anything else is asked of it."""
    with pytest.raises(UnsupportedError, match="Spark Connect session: its driver runs elsewhere"):
        headgate.attach(instance_of("pyspark.sql.connect.session", "SparkSession"))


def test_what_is_no_session_at_all_is_named() -> None:
    """Somebody who passes a data frame of another library sees what was passed."""
    with pytest.raises(UnsupportedError, match="DataFrame is neither a SparkSession nor a StreamingQuery"):
        headgate.attach(instance_of("polars", "DataFrame"))


@pytest.mark.parametrize(
    ("conf", "environ", "name"),
    [
        ({}, {"DATABRICKS_RUNTIME_VERSION": "16.4"}, "Databricks"),
        ({"spark.databricks.clusterUsageTags.clusterId": "1"}, {}, "Databricks"),
        ({"spark.emr-serverless.driver.cores": "4"}, {}, "EMR Serverless"),
        ({}, {"DATAPROC_WORKLOAD_TYPE": "batch"}, "Dataproc Serverless"),
        ({"spark.glue.GLUE_VERSION": "5.0"}, {}, "AWS Glue"),
    ],
)
def test_runtimes_that_size_applications_themselves_are_refused(
    conf: dict[str, str], environ: dict[str, str], name: str
) -> None:
    """Two who decide on the same executors only undo what the other did."""
    with pytest.raises(UnsupportedError, match=f"^{name} decides on the executors"):
        refuse_managed(conf, environ)


def test_delta_lake_on_a_cluster_of_ones_own_is_no_managed_runtime() -> None:
    """Its settings begin as those of Databricks do."""
    refuse_managed({"spark.databricks.delta.retentionDurationCheck.enabled": "false"}, {"HOME": "/"})


@pytest.mark.parametrize("version", ["3.4.4", "2.4.8", "3.4.1-amzn-2"])
def test_a_spark_that_is_too_old_is_refused(version: str) -> None:
    """With the version that there is and the one that it takes."""
    with pytest.raises(UnsupportedError, match=rf"Spark {version} is too old. Hint: .* Spark 3.5 and later"):
        refuse_old(version)


@pytest.mark.parametrize("version", ["3.5.0", "3.5.6", "4.0.1", "4.3.0", "4.3.0-SNAPSHOT", "10.0"])
def test_a_spark_that_is_new_enough_passes(version: str) -> None:
    """Numbers are compared as numbers."""
    refuse_old(version)
