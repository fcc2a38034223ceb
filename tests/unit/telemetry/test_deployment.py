"""What deploy/kubernetes says of health and metrics fits what is served."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from headgate.config import load
from headgate.options.service import ServiceOptions
from headgate.telemetry.server import ALIVE, READY

BASE = Path(__file__).parents[3] / "deploy" / "kubernetes" / "base"


def container() -> Any:
    """Give the container of the StatefulSet, its pod's grace period with it."""
    pod = yaml.safe_load((BASE / "stateful-set.yaml").read_text())["spec"]["template"]["spec"]
    return {**pod["containers"][0], "grace": pod["terminationGracePeriodSeconds"]}


def options(tmp_path: Path) -> ServiceOptions:
    """Give the options of the ConfigMap."""
    file = tmp_path / "headgate.yaml"
    file.write_text(yaml.safe_load((BASE / "config-map.yaml").read_text())["data"]["headgate.yaml"])
    return load(file, {}, {}).options


def test_probes_ask_where_health_is_served(tmp_path: Path) -> None:
    """A restart follows from what a restart mends, and from nothing else."""
    given = container()
    (port,) = given["ports"]
    assert port["containerPort"] == options(tmp_path).metrics.listen_on.port
    asked = {name: given[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {one["port"] for one in asked.values()} == {port["name"]}
    assert {name: one["path"] for name, one in asked.items()} == {
        "startup": ALIVE,
        "liveness": ALIVE,
        "readiness": READY,
    }


def test_other_pods_read_the_metrics_with_a_token_of_a_secret(tmp_path: Path) -> None:
    """The file names the variable that the pod has."""
    token = options(tmp_path).metrics.token
    assert token in {f"${{env:{one['name']}}}" for one in container()["env"] if "secretKeyRef" in one["valueFrom"]}


def test_a_pod_has_the_time_that_its_stop_may_take(tmp_path: Path) -> None:
    """Else it is killed before it has given its leases back."""
    assert timedelta(seconds=container()["grace"]) > options(tmp_path).stop_time_limit
