"""What the local cluster's processes are told."""

from __future__ import annotations

from pathlib import Path

import yaml

from headgate.engines.flink.local.settings import LAB, STOCK, Ports, memory_options, render, required_settings

PORTS = Ports(rest=1, rpc=2, blob=3)


def required() -> dict[str, str]:
    """Return the settings of a cluster with two slots each."""
    return required_settings(ports=PORTS, slots=2, directory=Path("/lab"))


def test_rendered_settings_are_read_back_as_they_were() -> None:
    """Every value arrives as text, also those that YAML would take for something else."""
    settings = {"a.b": "true", "c": "0 s", "d": "it's", "e": "null", "f": "12"}
    assert yaml.safe_load(render(settings)) == settings


def test_every_address_is_loopback() -> None:
    """No key that binds or advertises an address names another than the loopback interface."""
    addresses = {key: value for key, value in required().items() if key.endswith(("address", "host"))}
    assert len(addresses) == 6
    assert set(addresses.values()) == {"127.0.0.1"}


def test_the_jvm_of_a_task_manager_is_told_of_its_memory() -> None:
    """Heap, and what is direct: what the framework has, what the tasks have, and the network's."""
    sizes = {"taskmanager.memory.task.heap.size": "64m", "taskmanager.memory.network.max": "256kb"}
    heap, direct = 128 * 2**20, 96 * 2**20 + 256 * 2**10
    expected = (f"-Xms{heap}", f"-Xmx{heap}", f"-XX:MaxDirectMemorySize={direct}")
    assert memory_options(required() | sizes) == expected


def test_places_are_inside_the_clusters_directory() -> None:
    """Checkpoints and temporary files go with the directory."""
    assert required()["execution.checkpointing.dir"] == "file:///lab/checkpoints"
    assert required()["io.tmp.dirs"] == "/lab/tmp"


def test_the_presets_leave_the_required_settings_alone() -> None:
    """A preset says how the cluster behaves, not how it starts; the stock one says nothing."""
    assert not set(LAB) & set(required())
    assert not STOCK
