"""Network buffers follow Flink's count: two a channel and eight a gate by default."""

from __future__ import annotations

import pytest

from headgate.algorithm.memory.config import Key, MemoryConfig
from headgate.algorithm.memory.network import channels, network_bytes, segments
from headgate.model.topology import ShipStrategy
from headgate.testing.builders import chain

DEFAULT = MemoryConfig({})
POINTWISE = {ShipStrategy.FORWARD, ShipStrategy.RESCALE}


@pytest.mark.parametrize("strategy", sorted(set(ShipStrategy) - POINTWISE))
def test_all_to_all_needs_a_channel_a_subtask(strategy: ShipStrategy) -> None:
    """Whatever is not known to be pointwise reaches every subtask of the other end."""
    assert channels(10, 15, strategy) == 15


@pytest.mark.parametrize("strategy", sorted(POINTWISE))
@pytest.mark.parametrize(("own", "other", "expected"), [(10, 10, 1), (10, 15, 2), (10, 5, 1), (1, 7, 7)])
def test_pointwise_needs_only_its_own_subtasks(strategy: ShipStrategy, own: int, other: int, expected: int) -> None:
    """A subtask is joined to its share of the other end, rounded up."""
    assert channels(own, other, strategy) == expected


def test_the_clusters_own_buffer_settings_count() -> None:
    """Buffers per channel and floating buffers are read from the cluster."""
    config = MemoryConfig({Key.BUFFERS_PER_CHANNEL: "3", Key.FLOATING_BUFFERS: "100"})

    assert segments(10, 15, ShipStrategy.HASH, config) == 3 * 15 + 100


def test_both_ends_of_every_edge_count_for_every_slot() -> None:
    """A source of 25 into a sink of 10, five slots: 5 x ((2 x 10 + 8) + (2 x 25 + 8)) segments of 32 KiB."""
    assert network_bytes(chain({"source": 25, "sink": 10}), DEFAULT, 5) == 5 * (28 + 58) * 32 * 1024


def test_segments_of_another_size_count() -> None:
    """Larger segments take more memory."""
    small, large = (
        network_bytes(chain({"a": 2, "b": 2}), MemoryConfig({Key.SEGMENT_SIZE: s}), 1) for s in ("32k", "64k")
    )

    assert large == 2 * small


def test_a_job_without_edges_needs_no_buffers() -> None:
    """A single vertex sends nothing over the network."""
    assert network_bytes(chain({"only": 8}), DEFAULT, 4) == 0
