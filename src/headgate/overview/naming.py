"""What a job's vertices are called, where its last decision does not tell: that of a job that settles names none."""

from __future__ import annotations

from headgate.control.recollection import Names
from headgate.model.identity import JobKey
from headgate.model.state import JobState
from headgate.samplelog.reader import LogReader

_LOOKS = 3
"""Rescales whose decisions are looked up, the last first; one that took another back names none either."""


def vertex_names(reader: LogReader, job: JobKey, state: JobState) -> Names:
    """Give the names that stand in the decision for the job's last rescale; none where the log has lost it."""
    for record in reversed(state.history[-_LOOKS:]):
        for decision in reader.decisions(job, record.at, record.at):
            if decision.proposals:
                return {proposal.vertex: proposal.name for proposal in decision.proposals}
    return {}
