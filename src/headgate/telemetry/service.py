"""The series of the service itself: its health, and what its health rests on."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator

from prometheus_client import Metric

from headgate import __version__
from headgate.control.leases import LeaseStanding
from headgate.model.orders import Orders, StandingOrders
from headgate.telemetry import families
from headgate.telemetry.board import Reading
from headgate.telemetry.labels import Labels


def service(reading: Reading) -> Iterator[Metric]:
    """Give what Headgate knows of itself."""
    signs = reading.signs
    yield families.CHECK.of((Labels(check=check.name), check.ok) for check in reading.checks)
    yield families.STORE_REACHABLE.of([(Labels(), signs.store_fault is None)] if signs.store_asked else [])
    yield families.STORE_ERRORS.of([(Labels(), signs.store_errors)])
    yield families.LOG_ERRORS.of((Labels(table=table), count) for table, count in signs.log_errors.items())
    yield from _leases(signs.leases)
    yield families.ORDERS.of(_orders(signs.orders))
    yield families.BUILD.of([(Labels(version=__version__, python=platform.python_version()), 1)])


def _leases(leases: LeaseStanding | None) -> Iterator[Metric]:
    parts: dict[str, int] = {}
    if leases is not None:
        nobodys = max(0, leases.shards - leases.held - leases.others)
        parts = {"self": leases.held, "others": leases.others, "nobody": nobodys}
    yield families.LEASE_SHARDS.of((Labels(holder=holder), count) for holder, count in parts.items())
    expiry = leases.expires_at if leases else None
    yield families.LEASE_EXPIRY.of([(Labels(), expiry.timestamp())] if expiry else [])


def _orders(orders: StandingOrders | None) -> Iterator[tuple[Labels, int]]:
    if orders is None:
        return
    for scope, given in (("fleet", [orders.fleet]), ("job", list(orders.jobs.values()))):
        for order, count in _counted(given).items():
            yield Labels(order=order, scope=scope), count


def _counted(given: list[Orders]) -> Counter[str]:
    return Counter(
        pause=sum(one.pause is not None for one in given),
        options=sum(bool(one.options) for one in given),
        rollback=sum(one.rollback is not None for one in given),
    )
