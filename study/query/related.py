"""Which row of another form belongs to a row: the same, else the same event's, else the form's last."""

from __future__ import annotations

from study.query.cells import Line


def related(line: Line, form: str) -> Line | None:
    """The row of `form` that a condition on `line` reads (contracts.md, fine points, rows)."""
    if line.form == form:
        return line
    lines = line.subject.lines(form)
    here = [other for other in lines if other.event and other.event == line.event]
    same = [other for other in here if other.row is line.row and line.row is not None]
    for found in (same, here, lines):
        if found:
            return found[-1]
    return None
