"""A run as plain values, for `--json` and for notebooks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from headgate.engines.simulated.cluster import START
from headgate.engines.simulated.restart import Restart
from headgate.model.decision import Decision
from headgate.simulate.recording import JobRun, Run
from headgate.simulate.summary import summarise


def report_json(run: Run) -> str:
    """Return everything about a run: a summary, the frames, restarts and decisions of each job, and all events."""
    return json.dumps(
        {
            "seed": run.scenario.seed,
            "duration_s": run.scenario.duration.total_seconds(),
            "start": START.isoformat(),
            "jobs": {name: _job(job, run) for name, job in run.jobs.items()},
            "events": [
                {
                    "at": event.at.isoformat(),
                    "type": event.type,
                    "reason": event.reason,
                    "subject": str(event.subject),
                    "message": event.message,
                }
                for event in run.events
            ],
        },
        indent=1,
    )


def _job(job: JobRun, run: Run) -> Mapping[str, Any]:
    return {
        "summary": asdict(summarise(job, run.scenario)),
        "frames": [asdict(frame) for frame in job.frames],
        "restarts": [_restart(restart) for restart in job.restarts],
        "failures": [asdict(setback) for setback in job.setbacks],
        "decisions": [_decision(decision) for decision in job.decisions],
    }


def _restart(restart: Restart) -> Mapping[str, Any]:
    return {**asdict(restart), "changes": restart.changes}


def _decision(decision: Decision) -> Mapping[str, Any]:
    return {
        "id": decision.id,
        "at": decision.at.isoformat(),
        "outcome": decision.outcome,
        "reason": decision.reason,
        "message": decision.message,
        "changes": {change.name: [change.current, change.wanted] for change in decision.changes.values()},
    }
