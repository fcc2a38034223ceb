"""Whatever happened to the jobs of a run: decided again from the log it comes out the same, or the reason is told."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from headgate.config.other import OtherOptions
from headgate.replay.comparing import OUTSIDE, Verdict
from headgate.replay.in_memory import replay_in_memory
from headgate.replay.redeciding import Alternative
from headgate.replay.redeploys import Redeploys
from headgate.replay.stretch import Stretch
from headgate.samplelog.reader import LogReader
from headgate.simulate import Scenario
from headgate.testing.recorded import RecordedService
from headgate.testing.simulated import FEW, LENGTH, scenarios

KNOWN = {*OUTSIDE.values(), "its engine was asked again for an earlier change, and the answer is not in the log"}


@FEW
@given(scenario=scenarios(), restart=st.integers(1, 23))
def test_a_run_is_decided_again_as_it_was(scenario: Scenario, restart: int) -> None:
    """Random jobs, options and failures, and another process somewhere in the middle."""
    with TemporaryDirectory() as folder:
        run = RecordedService(scenario=scenario, root=Path(folder))
        run.advance_to(restart * scenario.decide_interval)
        run.restart()
        run.advance_to(LENGTH)
        stretch = Stretch(begin=run.decisions[0].at, until=run.now, longest_window=scenario.autoscaler.metrics_window)
        alternative = Alternative(other=OtherOptions.read({}), redeploys=Redeploys())

        tallies = replay_in_memory(LogReader(run.root), stretch, alternative, lambda _done, _all: None)

    told = {tally.first.why for tally in tallies if tally.first.verdict is Verdict.NOT_COMPARABLE}
    others = [tally for tally in tallies if tally.first.verdict not in {Verdict.EQUAL, Verdict.NOT_COMPARABLE}]
    assert not others
    assert told <= KNOWN
