"""One measured rescale as a row of the runs file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from headgate.rescales.cells import Backend, Cell, Kind, Move
from headgate.rescales.phases import PHASES, Phases

COLUMNS: Mapping[str, str] = {
    "seed": "of the series",
    "run": "number within the series of that seed, from 0",
    "block": "number of the job whose rescales these are; its state was built up once",
    "round": "what the block repeats",
    "at": "when the rescale was asked for, UTC",
    "state_mb": "keyed state asked for, 10^6 bytes",
    "backend": "state.backend.type",
    "kind": "in-place (resource requirements, adaptive scheduler) or redeploy (stop with savepoint, start from it)",
    "before": "parallelism of every vertex before",
    "after": "and after",
    "state_bytes": "size of the checkpoint or savepoint that it was restored from, as Flink says",
    "snapshot_s": "how long that checkpoint or savepoint took, from its trigger to the last acknowledgement",
    "waiting_s": "from the request until the checkpoint is complete (in place) or the savepoint begins; the job works",
    "savepoint_s": "writing the savepoint; 0 in place",
    "teardown_s": "ending the tasks",
    "redeploy_s": "until the task that runs last is deployed",
    "loading_s": "until that task has taken up its state and runs",
    "first_output_s": "until a record was seen at the sink; looked at about five times a second",
    "catch_up_s": "until the job is no more behind its load than before; it works",
    "load": "load average of the machine over the minute before",
}
"""Name and meaning, in the order of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One rescale that was measured."""

    seed: int
    run: int
    block: int
    round: str
    at: datetime
    cell: Cell
    state_bytes: int
    snapshot_s: float
    phases: Phases
    load: float

    def texts(self) -> list[str]:
        """Return its values as the file has them, in the order of the columns."""
        move = self.cell.move
        values = {
            "seed": self.seed,
            "run": self.run,
            "block": self.block,
            "round": self.round,
            "at": self.at.isoformat(timespec="milliseconds"),
            "state_mb": self.cell.state_mb,
            "backend": self.cell.backend,
            "kind": move.kind,
            "before": move.before,
            "after": move.after,
            "state_bytes": self.state_bytes,
            "snapshot_s": f"{self.snapshot_s:.3f}",
            **{name: f"{value:.3f}" for name, value in asdict(self.phases).items()},
            "load": f"{self.load:.2f}",
        }
        return [str(values[column]) for column in COLUMNS]


def read_row(texts: Mapping[str, str]) -> Row:
    """
    Make the row of what stands in the file.

    Raises:
        ValueError: a value is not what its column holds.
        KeyError: a column is missing.
    """
    move = Move(before=int(texts["before"]), after=int(texts["after"]), kind=Kind(texts["kind"]))
    return Row(
        seed=int(texts["seed"]),
        run=int(texts["run"]),
        block=int(texts["block"]),
        round=texts["round"],
        at=datetime.fromisoformat(texts["at"]),
        cell=Cell(state_mb=int(texts["state_mb"]), backend=Backend(texts["backend"]), move=move),
        state_bytes=int(texts["state_bytes"]),
        snapshot_s=float(texts["snapshot_s"]),
        phases=Phases(**{name: float(texts[name]) for name in PHASES}),
        load=float(texts["load"]),
    )
