"""Which clusters rescales are measured on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from headgate.errors import PermanentError
from headgate.rescales.clusters import check_cluster
from headgate.rescales.rest import Rest

FIT = {
    "jobmanager.scheduler": "adaptive",
    "web.adaptive-scheduler.rescale-history.size": "10",
    "execution.checkpointing.interval": "10 s",
    "execution.checkpointing.dir": "s3://state/checkpoints",
    "execution.checkpointing.savepoint-dir": "s3://state/savepoints",
}


@dataclass(frozen=True, kw_only=True)
class Configured(Rest):
    """A cluster of which only its configuration and its slots are known."""

    url: str = "http://flink"
    settings: Mapping[str, str]
    slots: Mapping[str, int]

    def get(self, path: str) -> Any:
        """Tell of them."""
        if path == "/overview":
            return self.slots
        return [{"key": key, "value": value} for key, value in self.settings.items()]


def check(settings: Mapping[str, str], slots: Mapping[str, int] | None = None) -> None:
    """Ask for 8 slots of a cluster that has them, unless it tells otherwise."""
    check_cluster(Configured(settings=settings, slots={"slots-available": 8} if slots is None else slots), slots=8)


@pytest.mark.parametrize("missing", FIT)
def test_a_setting_that_is_missing_is_named(missing: str) -> None:
    """Savepoints have a place of the cluster's own as well: nobody names one when a job is stopped."""
    check(FIT)
    with pytest.raises(PermanentError, match=f"Hint: {missing}: "):
        check({key: value for key, value in FIT.items() if key != missing})


def test_directories_may_be_set_by_their_former_names() -> None:
    """Many a configuration has them still."""
    named = {key: value for key, value in FIT.items() if not key.endswith("dir")}
    check(named | {"state.checkpoints.dir": "s3://state", "state.savepoints.dir": "s3://state"})


def test_too_few_free_slots_are_told() -> None:
    """With how many there are."""
    with pytest.raises(PermanentError, match="7 free slots, and 8 are needed"):
        check(FIT, {"slots-available": 7})


def test_a_cluster_that_answers_otherwise_is_told_as_such() -> None:
    """No traceback where something is missing in an answer, or is no number."""
    with pytest.raises(PermanentError, match="slots-available"):
        check(FIT, {})
    with pytest.raises(PermanentError, match="many"):
        check(FIT | {"web.adaptive-scheduler.rescale-history.size": "many"})
