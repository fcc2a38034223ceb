"""Plugins of others in their worker processes: what they answer, and what becomes of those that do not."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import psutil
import pytest

from headgate.errors import ConfigError, NotFoundError, PluginError
from headgate.model.identity import VertexId
from headgate.model.metrics import ScalingMetric
from headgate.options.autoscaler import AutoscalerOptions
from headgate.options.plugins import PluginOptions
from headgate.plugins.catalog import Catalog, Tables
from headgate.plugins.host import PluginHost
from headgate.plugins.kinds import Kind
from headgate.plugins.ready import Plugin
from headgate.plugins.registry import Registry
from headgate.plugins.worker.process import TOLERATED
from headgate.ports import VertexQuestion
from headgate.testing.builders import ORDERS, at, context
from headgate.testing.conformance import material

Install = Callable[[str, dict[str, dict[str, str]], str], None]
Hosting = Callable[..., PluginHost]

CODE = """
import asyncio, os, sys, time
from pathlib import Path
from headgate.errors import NotFoundError

class Plain:
    def __init__(self, parameters):
        self.parameters = dict(parameters)
        if "priority" in parameters:
            self.priority = int(parameters["priority"])
        if parameters.get("token"):
            raise ValueError(f"token {parameters['token']} is no good")

    def override(self, conf, question):
        print("printed by a plugin")
        return {"LAG": float(os.getpid())}

class Endless(Plain):
    def override(self, conf, question):
        while True:
            pass

class Slow(Plain):
    def override(self, conf, question):
        return {"LAG": object()}

class Raising(Plain):
    def override(self, conf, question):
        raise KeyError("nothing of the kind")

class Short:
    def __init__(self, parameters):
        pass

class Watching:
    def __init__(self, parameters):
        self.seen = 0
        self.token = parameters.get("token", "")
        if parameters.get("fails"):
            raise RuntimeError("its host is away")

    async def update_metrics(self, ctx, at):
        raise NotFoundError("it is gone")

    async def query_topology(self, ctx):
        raise NotFoundError(f"it is gone, says {self.token}")

    async def query_jm_metrics(self, ctx):
        await asyncio.sleep(0)
        self.seen += 1
        return {"seen": self.seen}

    async def query_tm_metrics(self, ctx):
        return {}

    async def query_external_metrics(self, ctx):
        return {}

    def forget(self, job):
        self.seen = 0

class Blocking:
    def __init__(self, parameters):
        pass

    async def realize_parallelism_overrides(self, ctx, overrides):
        Path(ctx.job_id, "begun").write_text("begun")
        return bool(Path(ctx.job_id, "gate").read_text())

    async def realize_config_overrides(self, ctx, changes):
        raise RuntimeError("no idea how")
"""
POINTS = {
    "headgate.evaluator_plugins": {
        "plain": "Plain",
        "endless": "Endless",
        "odd": "Slow",
        "raising": "Raising",
        "short": "Short",
    },
    "headgate.metric_collectors": {"watching": "Watching"},
    "headgate.scaling_realizers": {"blocking": "Blocking"},
}
QUESTION = VertexQuestion(
    vertex=material.topology().by_id[VertexId("source")], metrics={}, upstream={}, collected=material.watched()
)


@pytest.fixture
def strangers(installed: Install) -> None:
    """Install them."""
    installed("strangers", POINTS, CODE)


def overriding(host: PluginHost, name: str) -> Plugin:
    """Give an evaluator plugin, ready."""
    return host.ready(Kind.EVALUATOR_PLUGIN, name)


def asked(plugin: Plugin) -> float:
    """Ask it."""
    lag: float = plugin.port.override(AutoscalerOptions(), QUESTION)[ScalingMetric.LAG]
    return lag


@pytest.mark.usefixtures("strangers")
def test_a_plugin_answers_from_a_process_of_its_own(hosting: Hosting) -> None:
    """One a distribution, and what it prints does not get into the output of a command."""
    host = hosting(Tables(evaluators={"other.class": "plain"}))
    (pid,) = {asked(overriding(host, "plain")), asked(overriding(host, "other"))}
    assert host.workers("strangers") == (int(pid),)


@pytest.mark.usefixtures("strangers")
def test_a_hang_ends_its_process_and_the_next_call_has_a_new_one(hosting: Hosting) -> None:
    """The failure names plugin and distribution."""
    host = hosting(deadline="200 ms")
    plain, endless = overriding(host, "plain"), overriding(host, "endless")
    before = int(asked(plain))
    with pytest.raises(PluginError, match=r"plugin endless of strangers gave no answer within 0\.2 s"):
        asked(endless)
    assert not psutil.pid_exists(before)
    assert int(asked(plain)) != before


@pytest.mark.usefixtures("strangers")
def test_who_hangs_again_and_again_is_not_asked_for_a_while(hosting: Hosting) -> None:
    """A tick does not wait for one hang after the other."""
    host = hosting(deadline="100 ms")
    endless = overriding(host, "endless")
    for _ in range(TOLERATED):
        with pytest.raises(PluginError, match="gave no answer"):
            asked(endless)
    with pytest.raises(PluginError, match="is not asked for a while"):
        asked(endless)


@pytest.mark.usefixtures("strangers")
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("raising", "raised KeyError: 'nothing of the kind'"),
        ("odd", "raised ValueError: a object is no value of the model"),
        ("short", "cannot be made: it raised ValueError: Short lacks override of EvaluatorPlugin"),
        ("nobody", "cannot be made: no evaluator plugin 'nobody' is registered or declared"),
    ],
)
def test_whatever_goes_wrong_is_that_plugins_failure(hosting: Hosting, name: str, what: str) -> None:
    """With its words."""
    with pytest.raises(PluginError, match=what):
        asked(overriding(hosting(), name))


@pytest.mark.usefixtures("strangers")
def test_a_constructors_refusal_is_told_without_its_secrets(hosting: Hosting) -> None:
    """What was looked up is masked; what stands in the configuration is not."""
    tables = Tables(evaluators={"good.class": "plain", "bad.class": "plain", "bad.token": "${env:TOKEN}"})
    host = hosting(tables, resolve=lambda text: text.replace("${env:TOKEN}", "hush-hush"))
    (fault,) = host.faults()
    assert fault == (
        Kind.EVALUATOR_PLUGIN,
        "bad",
        "plugin bad of strangers cannot be made: it raised ValueError: token *** is no good",
    )


@pytest.mark.usefixtures("strangers")
def test_a_chain_goes_by_priority_then_by_the_list(hosting: Hosting) -> None:
    """What cannot be made is left out, and told."""
    first = {"first.class": "plain", "first.priority": "-1", "late.class": "plain", "late.priority": "7"}
    host = hosting(Tables(evaluators=first))
    chain, failed = host.chain(Kind.EVALUATOR_PLUGIN, ["late", "raising", "short", "plain", "first", "late"])
    assert [plugin.name for plugin in chain] == ["first", "raising", "plain", "late"]
    assert [error.plugin for error in failed] == ["short"]


@pytest.mark.usefixtures("strangers")
async def test_a_collector_keeps_what_it_remembers_between_calls(hosting: Hosting) -> None:
    """Until it is told to forget; what its port raises comes through as it is."""
    collector = hosting().ready(Kind.METRIC_COLLECTOR, "watching").port
    assert await collector.query_jm_metrics(context()) == {"seen": 1.0}
    assert await collector.query_jm_metrics(context()) == {"seen": 2.0}
    await collector.drop(ORDERS)
    assert await collector.query_jm_metrics(context()) == {"seen": 1.0}
    with pytest.raises(NotFoundError, match="it is gone"):
        await collector.update_metrics(context(), at(0))


@pytest.mark.usefixtures("strangers")
async def test_what_a_port_speaks_of_is_told_without_secrets_too(hosting: Hosting) -> None:
    """It comes through as it is, but for them."""
    tables = Tables(general={"mine.class": "watching", "mine.token": "${env:TOKEN}"})
    host = hosting(tables, resolve=lambda text: text.replace("${env:TOKEN}", "hush-hush"))
    with pytest.raises(NotFoundError, match=r"it is gone, says \*\*\*"):
        await host.ready(Kind.METRIC_COLLECTOR, "mine").port.query_topology(context())


@pytest.mark.usefixtures("strangers")
def test_what_cannot_be_made_is_not_tried_again_for_a_minute(hosting: Hosting) -> None:
    """Each attempt may take its whole time; who waits gets the same answer at once."""
    now = [0.0]
    host = hosting(stopwatch=lambda: now[0])
    failures = []
    for now[0] in (0.0, 59.0, 60.0):
        with pytest.raises(PluginError) as failure:
            overriding(host, "short")
        failures.append(failure.value)
    first, second, third = failures
    assert first is second
    assert third is not first


@pytest.mark.usefixtures("strangers")
def test_only_what_the_options_must_change_for_refuses_the_start(hosting: Hosting) -> None:
    """A plugin whose system is away for now is told of while Headgate runs."""
    general = {"away.class": "watching", "away.fails": "yes", "astray.class": "short"}
    host = hosting(Tables(general=general))
    (refusal,) = host.refusals()
    assert refusal.startswith("plugin astray of strangers cannot be made: it raised ValueError")
    assert {name for _, name, _ in host.faults()} == {"away", "astray"}


@pytest.mark.usefixtures("strangers")
async def test_a_realizer_that_blocks_holds_nobody_else_up(hosting: Hosting, tmp_path: Path) -> None:
    """It has a thread of its own; what it raises is its failure."""
    realizer = hosting().ready(Kind.SCALING_REALIZER, "blocking").port
    begun, gate, others_went_on = tmp_path / "begun", tmp_path / "gate", Event()
    os.mkfifo(begun)
    os.mkfifo(gate)

    def open_gate() -> bool:
        in_time = others_went_on.wait(30)
        gate.write_text("open")
        return in_time

    opened = asyncio.get_running_loop().run_in_executor(None, open_gate)
    under_way = asyncio.create_task(realizer.realize_parallelism_overrides(context(job_id=str(tmp_path)), {}))
    await asyncio.to_thread(begun.read_text)
    others_went_on.set()
    assert await opened
    assert await under_way
    with pytest.raises(PluginError, match="plugin blocking of strangers raised RuntimeError: no idea how"):
        await realizer.realize_config_overrides(context(), None)


def test_who_asks_at_once_gets_the_same_realizer(installed: Install) -> None:
    """Eight calls while it is being made, whose threads have all looked it up: one is made, on one thread."""
    code = """
    from threading import Event

    MADE, MAY_STAND = [], Event()

    class Patient:
        def __init__(self, parameters):
            MADE.append(self)
            assert MAY_STAND.wait(30)

        async def realize_parallelism_overrides(self, ctx, overrides):
            return True

        async def realize_config_overrides(self, ctx, changes):
            return True
    """
    installed("patients", {"headgate.scaling_realizers": {"patient": "Patient"}}, code)
    patients = importlib.import_module("patients")
    catalog, looks, everybody = Catalog(Registry(), Tables()), itertools.count(1), Barrier(8)

    def looked_up() -> Catalog:
        if next(looks) == 8:
            patients.MAY_STAND.set()
        return catalog

    host = PluginHost(looked_up, PluginOptions())

    def ready() -> Plugin:
        everybody.wait()
        return host.ready(Kind.SCALING_REALIZER, "patient")

    with ThreadPoolExecutor(8) as threads:
        ports = {id(plugin.port) for plugin in [call.result() for call in [threads.submit(ready) for _ in range(8)]]}
    host.close()

    assert (len(ports), len(patients.MADE)) == (1, 1)


@pytest.mark.usefixtures("strangers")
def test_other_parameters_make_another_plugin() -> None:
    """When the operator's configuration changes while the service runs; what did not change is kept."""
    evaluators = {"one.class": "plain", "one.priority": "1", "two.class": "plain"}
    host = PluginHost(lambda: Catalog(Registry(), Tables(evaluators=dict(evaluators))), PluginOptions())
    one, two = overriding(host, "one"), overriding(host, "two")
    evaluators["one.priority"] = "5"
    assert (one.priority, overriding(host, "one").priority) == (1, 5)
    assert overriding(host, "two") is two
    host.close()


@pytest.mark.usefixtures("strangers")
def test_closing_ends_every_process(hosting: Hosting) -> None:
    """Also those that are asked again after it."""
    host = hosting()
    plain = overriding(host, "plain")
    (pid,) = host.workers("strangers")
    host.close()
    assert not psutil.pid_exists(pid)
    with pytest.raises(PluginError, match="Headgate is stopping"):
        asked(plain)


def test_what_is_built_in_is_taken_as_it_stands(hosting: Hosting, tmp_path: Path) -> None:
    """Wiring has made it with what no parameters could give."""
    host = hosting(provided={(Kind.SCALING_REALIZER, "resource-requirements"): tmp_path})
    assert host.ready(Kind.SCALING_REALIZER, "resource-requirements").port is tmp_path


def test_what_the_operator_chose_is_made_with_its_parameters(hosting: Hosting, installed: Install) -> None:
    """Each time anew, those given over those declared; what is wrong is a fault of the configuration."""
    code = """
    class Told:
        def __init__(self, parameters):
            self.parameters = {**parameters, "size": int(parameters["size"])}

        def handle(self, event):
            pass
    """
    installed("listeners", {"headgate.event_handlers": {"told": "Told"}}, code)
    host = hosting(Tables(general={"ours.class": "told", "ours.size": "1", "ours.path": "x"}))
    assert host.made(Kind.EVENT_HANDLER, "ours", {"size": "2"}).parameters == {"size": 2, "path": "x"}
    assert host.made(Kind.EVENT_HANDLER, "ours") is not host.made(Kind.EVENT_HANDLER, "ours")
    assert set(host.factories(Kind.EVENT_HANDLER)) == {"ours", "told"}
    with pytest.raises(ConfigError, match="plugin told of listeners cannot be made: KeyError: 'size'"):
        host.made(Kind.EVENT_HANDLER, "told")
