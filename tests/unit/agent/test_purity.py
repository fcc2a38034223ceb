"""What an agent imports: nothing beyond PySpark and numpy, whatever else the application has or has not."""

from __future__ import annotations

import subprocess
import sys

BARE = """
import sys

ALLOWED = {"headgate", "pyspark", "py4j", "numpy"}


class Bare:
    '''Finds nothing beyond what an application surely has.'''

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        is_there = top in ALLOWED or top in sys.stdlib_module_names or top in sys.modules or top.startswith("_")
        if not is_there:
            raise ModuleNotFoundError(f"no module named {name!r} here", name=name)
        return None


present = set(sys.modules)
sys.meta_path.insert(0, Bare())

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from threading import Event

import headgate
import headgate.agent.attaching
from headgate.agent.attached import Agent
from headgate.agent.composing import Control, Engine
from headgate.agent.journal import Journal
from headgate.agent.loop import ControlLoop
from headgate.agent.remembering import open_state_store
from headgate.agent.settings import read_settings
from headgate.config.secrets import resolve
from headgate.engines.spark.attached.restarts import QueryRestarts
from headgate.errors import ConfigError, UnsupportedError
from headgate.model.identity import JobKey, VertexId
from headgate.model.measures import JobStatus, Measure
from headgate.model.rollback import JobFailures
from headgate.model.samples import EngineSettings, JobSample, VertexSample
from headgate.model.topology import Topology, Vertex
from headgate.options.service import Mode
from headgate.plugins.host import PluginHost
from headgate.ports import JobContext, JobList

JOB, QUERY = JobKey("spark", "orders"), VertexId("orders.0")
settings = read_settings(
    {"spark.headgate.collect.interval": "20 ms", "spark.headgate.decide.interval": "20 ms"},
    {"job.autoscaler.metrics.window": "1 min", "job.autoscaler.stabilization.interval": "0",
     "job.autoscaler.excluded.periods": "3:00-3:01"},
)


class Application:
    '''One query on two cores that reports nothing but its lag.'''

    async def fetch(self):
        ctx = JobContext(key=JOB, job_id="app-1", status=JobStatus.RUNNING, options=settings.options.autoscaler)
        return JobList(jobs=(ctx,), failures={})

    async def update_metrics(self, ctx, at):
        vertex = Vertex(id=QUERY, name="orders", parallelism=2, max_parallelism=32768)
        return JobSample(
            job=JOB, at=at, job_id="app-1", running_since=datetime(2026, 1, 1, tzinfo=UTC),
            topology=Topology(vertices=(vertex,), edges=()),
            vertices={QUERY: VertexSample(measured_at=at, values={Measure.LAG: 1.0})},
            settings=EngineSettings(shared_workers=True, metric_refresh_s=60.0),
        )

    async def query_failures(self, ctx, since):
        return JobFailures(failures=())

    def forget(self, job):
        pass


application, journal, ended = Application(), Journal(), Event()
engine = Engine(job=JOB, jobs=application, collector=application, failures=application, realizer=application,
                restarts=QueryRestarts(None, {}))
control = Control(
    engine=engine, options=settings.options, mode=Mode.ACT, journal=journal,
    store=open_state_store("memory", ExitStack()),
    host=PluginHost(lambda: settings.catalog, settings.options.plugins, resolve=resolve),
)
loop = ControlLoop(control.runner, is_alive=lambda: True, on_end=ended.set)
agent = Agent(engine=engine, journal=journal, mode=Mode.ACT, loop=loop)
loop.start()
waited = Event()
for _ in range(3000):
    if any(decision.reason.value not in {"NoSamples", "WindowFilling"} for decision in agent.decisions):
        break
    waited.wait(0.02)
agent.close()

for refused, kind in (
    (lambda: open_state_store("sqlite:///state.db", ExitStack()), ConfigError),
    (lambda: read_settings({}, {"job.autoscaler.excluded.periods": "0 0 3 * * ?"}), ConfigError),
    (lambda: headgate.attach(object()), UnsupportedError),
):
    try:
        refused()
    except kind as error:
        print(error)
print(agent.explain())
beyond = {name.partition(".")[0] for name in set(sys.modules) - present} - ALLOWED - sys.stdlib_module_names
print("beyond:", *sorted(name for name in beyond if not name.startswith("_")))
"""


def test_an_agent_needs_nothing_beyond_pyspark_and_numpy() -> None:
    """
    It is put together and decides where nothing else can be imported.

    What needs more says so: a database, a cron expression.
    """
    run = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert "state-store: a database needs the package" in run.stdout
    assert "cron expressions need the package croniter" in run.stdout
    assert "object is neither a SparkSession nor a StreamingQuery" in run.stdout
    assert "spark/orders at " in run.stdout
    assert "PluginFailed" not in run.stdout
    assert run.stdout.splitlines()[-1] == "beyond:"
    assert "Traceback" not in run.stderr
