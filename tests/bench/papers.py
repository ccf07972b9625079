"""Reports over many subjects: seconds from the wish to the bytes of the file, slowest of a few.

The demo study with its subjects copied until there are 300, their readings fresh. Timed are the queries with
their figures, and the making of the Word file and of the PDF, which a process of its own typesets.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from tests.bench._measure import Row, row, seconds
from tests.bench.questions import SUBJECTS, fill

ROUNDS = 3
GOAL_S = 2.0
KINDS = ("week", "ethics", "subjects", "findings")
FORMS = ("page", "docx", "pdf")


def run() -> list[Row]:
    """The slowest of each kind and form."""
    from core.house.gc_tuning import freeze_loaded
    from tests.bench import _demo

    with _demo.study() as project:
        user = project.members.get(wecom_userid="zhangyi").user
        fill(project)
        _made(project, user, KINDS[0], FORMS[0])
        freeze_loaded()
        return [_row(project, user, kind, form) for kind in KINDS for form in FORMS]


def _row(project: Any, user: Any, kind: str, form: str) -> Row:
    slowest = max(seconds(partial(_made, project, user, kind, form)) for _ in range(ROUNDS))
    name = f"papers: {kind} of {SUBJECTS} subjects as {form}, slowest s"
    return row(name, round(slowest, 2), goal=f"<= {GOAL_S:g} s", met=slowest <= GOAL_S)


def _made(project: Any, user: Any, kind: str, form: str) -> None:
    from core.house import clock
    from core.house.paper.as_docx import as_docx
    from core.house.paper.as_pdf import as_pdf
    from engines.papers import make
    from engines.papers.figures import Span

    today = clock.today(project.timezone)
    first = today - timedelta(days=6 if kind == make.WEEK else 365)
    made = make.make(project, user, make.Wish(kind, Span(first, today)))
    if form != "page":
        {"docx": as_docx, "pdf": as_pdf}[form](made.paper)
