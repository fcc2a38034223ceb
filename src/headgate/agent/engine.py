"""The application as an engine: what observes it and what changes it, from inside of its driver."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from functools import partial

from pyspark.sql import SparkSession

from headgate.agent.composing import Engine
from headgate.agent.log import log_leftovers, log_restart
from headgate.agent.sessions import Target, is_running
from headgate.engines.spark.attached.calls import Calls
from headgate.engines.spark.attached.collector import AttachedMetricCollector
from headgate.engines.spark.attached.failures import AttachedFailureHistory
from headgate.engines.spark.attached.feed import ProgressFeed
from headgate.engines.spark.attached.jobs import AttachedJobListFetcher
from headgate.engines.spark.attached.jvm import JvmGateway
from headgate.engines.spark.attached.lever import open_lever
from headgate.engines.spark.attached.listener import listen, stop_listening
from headgate.engines.spark.attached.restartable import SessionQueries
from headgate.engines.spark.attached.restarts import QueryRestarts
from headgate.engines.spark.attached.room import room_finder
from headgate.engines.spark.realizer import ExecutorsRealizer
from headgate.errors import HeadgateError
from headgate.model.identity import JobKey
from headgate.options.agent import AgentOptions
from headgate.options.reactive import ExecutionMode


def open_engine(target: Target, options: AgentOptions, opened: ExitStack) -> Engine:
    """
    Begin to listen to the application's queries, until `opened` is closed.

    Raises:
        UnsupportedError: it has no executors that can be added or removed.
    """
    session, only = target.session, target.query
    calls = Calls()
    opened.callback(calls.close)
    lever = open_lever(session, calls)
    opened.callback(lever.close)
    feed, gateway = ProgressFeed(), JvmGateway(session)
    is_reactive = options.autoscaler.execution_mode is ExecutionMode.REACTIVE
    room = room_finder(session) if is_reactive else None
    if listener := listen(session, feed):
        opened.callback(stop_listening, session, listener)
    failures = AttachedFailureHistory(gateway, feed, calls=calls, only=only)
    queries = SessionQueries(session)
    _tell_of_leftovers(session, queries)
    restarts = QueryRestarts(queries, {}, report=log_restart, calls=calls, is_alive=partial(is_running, session))
    return Engine(
        job=JobKey(options.cluster, str(session.sparkContext.appName)),
        jobs=AttachedJobListFetcher(gateway, feed, options.autoscaler, cluster=options.cluster, calls=calls, only=only),
        collector=AttachedMetricCollector(gateway, feed, calls=calls, only=only, room=room),
        failures=failures,
        failed_queries=failures.failed_queries,
        realizer=ExecutorsRealizer(lever, restarts),
        restarts=restarts,
        release=lever.release,
        hold=lever.hold,
    )


def _tell_of_leftovers(session: SparkSession, queries: SessionQueries) -> None:
    for query in session.streams.active:
        with suppress(HeadgateError):
            log_leftovers(str(query.name or query.id), queries.leftovers(query))
