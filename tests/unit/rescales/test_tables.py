"""What the tables say of rows whose truth is known."""

from __future__ import annotations

from dataclasses import replace

from headgate.rescales.cells import Backend
from headgate.rescales.findings import loading_table, parallelism_table, savepoint_line, savepoint_table
from headgate.rescales.prior import fit_rows, model_table
from headgate.rescales.rows import Row
from headgate.rescales.table import cell_table, cost_table


def cells(table: str, *beginning: str) -> list[str]:
    """Return the values of the one line that begins so."""
    lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
    (found,) = (line for line in lines if line[: len(beginning)] == list(beginning))
    return found


def test_the_cost_of_each_state_is_a_line(series_rows: list[Row]) -> None:
    """With how many rescales it is of, the median of each phase, and the downtime with its interval."""
    line = cells(cost_table(series_rows), "redeploy", "rocksdb", "500")
    assert line[3:11] == ["4", "0.00", "2.01", "0.00", "0.50", "0.75", "0.00", "0.00"]
    assert line[11].startswith("3.26 (2.6")


def test_every_measured_cell_is_a_line(series_rows: list[Row]) -> None:
    """And no other one."""
    lines = cell_table(series_rows).splitlines()[2:]
    assert len(lines) == 4 * 2 * 2 * 4
    assert cells(cell_table(series_rows), "in-place", "hashmap", "100", "1 → 8")[4:] == ["1", "0.53", "0.03"]


def test_linear_savepoints_are_called_so(series_rows: list[Row]) -> None:
    """4 s a GB is 0.4 s for 100 MB, and nothing is left over at any state."""
    line = cells(savepoint_table(series_rows), "hashmap", "all")
    assert line[3].startswith("0.40 (")
    assert line[4:6] == ["1.00", "1.000"]
    assert line[6].replace("-", "+") == "0: +0.00, 10: +0.00, 100: +0.00, 500: +0.00"


def test_the_calm_half_is_told_apart(series_rows: list[Row]) -> None:
    """Savepoints that met a busy machine took longer, above all large ones: that is no bend of the calm ones."""
    busy = [
        replace(row, load=30.0, phases=replace(row.phases, savepoint_s=5 * row.phases.savepoint_s))
        for row in series_rows
        if row.cell.state_mb == 500
    ]
    table = savepoint_table([*series_rows, *busy])
    assert cells(table, "rocksdb", "all")[-1] == "no: it bends"
    assert cells(table, "rocksdb", "calm half")[4] == "1.00"


def test_two_states_make_no_line(series_rows: list[Row]) -> None:
    """Through two points goes every line: nobody could say whether it is one."""
    corners = [row for row in series_rows if row.cell.state_mb in {0, 500}]
    assert savepoint_line(corners, Backend.HASHMAP) is None
    assert "hashmap" not in savepoint_table(corners)


def test_the_largest_share_is_named(series_rows: list[Row]) -> None:
    """In place it is loading, once there is state; else redeploying."""
    assert cells(loading_table(series_rows), "in-place", "rocksdb", "500")[4] == "loading"
    assert cells(loading_table(series_rows), "in-place", "rocksdb", "0")[4] == "redeploy"
    assert cells(loading_table(series_rows), "redeploy", "rocksdb", "500")[4] == "savepoint"


def test_loading_that_is_shared_falls_with_the_parallelism(series_rows: list[Row]) -> None:
    """By ranks within what is alike in all else."""
    with_state = [row for row in series_rows if row.cell.state_mb]
    loading = float(cells(parallelism_table(with_state), "in-place", "all")[2].split(" ")[0])
    assert loading < -0.9


def test_the_model_stands_beside_what_was_measured(series_rows: list[Row]) -> None:
    """Its lines rise with the state, and most of what was measured is within their interval."""
    lines = fit_rows(series_rows)
    assert (lines.per_byte_s > 0).all()
    assert lines.count.tolist() == [32, 32]
    assert cells(model_table(series_rows), "redeploy", "500")[5].endswith("of 8")
