"""
Orders in the database: whoever changes some locks their row first, so that nobody gets between.

The functions work on a connection that is in a transaction; which one, and what its faults mean, is the store's part.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, exc, insert, select, update

from headgate.model.identity import JobKey
from headgate.model.orders import NO_ORDERS, Orders, StandingOrders
from headgate.stores.codec import decode_orders, encode_orders
from headgate.stores.tables import orders as table

_EVERY_JOB = "*"
"""No job's key: those have a slash in them."""


def standing(connection: Connection, store: str) -> StandingOrders:
    """
    Give all orders that hold.

    Raises:
        PermanentError: one of them cannot be read; `store` is its place in the error.
    """
    rows = connection.execute(select(table.c.job, table.c.orders)).all()
    found = {row.job: decode_orders(row.orders, job=row.job, store=store) for row in rows}
    fleet = found.pop(_EVERY_JOB, NO_ORDERS)
    jobs = {JobKey.parse(job): orders for job, orders in found.items() if orders != NO_ORDERS}
    return StandingOrders(fleet=fleet, jobs=jobs)


def order_for(connection: Connection, job: JobKey, store: str) -> Orders:
    """
    Give the orders for one job alone.

    Raises:
        PermanentError: they cannot be read.
    """
    text = connection.execute(select(table.c.orders).where(table.c.job == str(job))).scalar_one_or_none()
    return NO_ORDERS if text is None else decode_orders(text, job=str(job), store=store)


def changed(connection: Connection, job: JobKey | None, change: Callable[[Orders], Orders], store: str) -> Orders:
    """
    Change the orders for a job, or with None those for all, and give the new ones.

    Raises:
        PermanentError: what was ordered before cannot be read.
    """
    key = _EVERY_JOB if job is None else str(job)
    row = table.c.job == key
    _lock(connection, key)
    text = connection.execute(select(table.c.orders).where(row)).scalar_one()
    orders = change(decode_orders(text, job=key, store=store))
    connection.execute(update(table).where(row).values(orders=encode_orders(orders)))
    return orders


def _lock(connection: Connection, key: str) -> None:
    """Take the row for the rest of the transaction; a write does that in every database."""
    take = update(table).where(table.c.job == key).values(version=table.c.version + 1)
    if connection.execute(take).rowcount:
        return
    try:
        with connection.begin_nested():
            connection.execute(insert(table).values(job=key, version=1, orders=encode_orders(NO_ORDERS)))
    except exc.IntegrityError:
        connection.execute(take)
