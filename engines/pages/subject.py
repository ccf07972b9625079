"""The subject's page: what its reader may know, without anything that names the person.

All of it is StudyQueries of the reader's, from one read of the subject.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from core.house import clock
from engines import labels, sop
from engines.models import PendingAction, TaskRun
from engines.pages import safety
from engines.pages.chart import chart
from engines.pages.layout import UNREADABLE, render_page, why_unreadable
from engines.pages.visit_board import mark
from projects import reads
from projects.access import has_role, member_in
from projects.models import Project
from projects.scoping import User
from study import door
from study.client import record_link
from study.design import StudyDesign
from study.facts import Answer, Fact, Kind
from study.models import Subject
from study.visits import due

_WORK = {
    "findings": ("status", "text", "opened"),
    "reviews": ("question", "since"),
    "runs": ("status", "final_state", "ended", "reason"),
    "changes": ("field", "from", "to", "at"),
}


@require_GET
@staff_member_required
def subject_view(request: HttpRequest, pk: int) -> HttpResponse:
    """One subject of the reader's; "not yours" and "does not exist" are the same."""
    rows = Subject.objects.for_user(request.user).select_related("project")
    subject = get_object_or_404(rows, pk=pk)
    project, record_id = subject.project, subject.record_id
    member = member_in(request.user, project.pk)
    reads.note(actor=request.user, project=project, record_ids=[record_id], door="console")
    context: dict[str, Any] = {
        "subject": subject,
        "project": project,
        "clocks": safety.shown(
            safety.clocks_of(project, member, request.user, record_id=record_id)
        ),
        "may_order": has_role(request.user, project.pk, *sop.DECIDERS, of_site=True),
    }
    try:
        page = _read(project, request.user, record_id)
    except UNREADABLE as error:
        context["problem"] = why_unreadable(error)
    else:
        context["page"] = page
        if page is None:
            context["problem"] = _("This subject is not in REDCap any more.")
    title = _("Subject %(record)s") % {"record": record_id}
    return render_page(request, "engines/subject/page.html", title, **context)


class SubjectQueries:
    """Queries about subjects, made of what their reader can know of the study: its `design`.

    `labs`, `forms`: what the page of one subject asks for beside visits and status.
    """

    design: StudyDesign

    def __init__(self, subjects: Sequence[str], *, whole: bool = False) -> None:
        """`whole`: for the page of one subject."""
        self.subjects, self.whole = [*subjects], whole
        self.labs: list[str] = []
        self.forms: list[str] = []

    def __call__(self, design: StudyDesign) -> list[dict[str, Any]]:
        """Where the visits stand, the status, and for a page labs, forms and work, in this order."""
        self.design = design
        selected = [["@status"]] if self.has_status else []
        if self.whole:
            self.labs = [*design.measured]
            # Those with several rows a subject (adverse events, medication) first.
            self.forms = sorted(design.shown_forms, key=lambda f: f not in design.repeating_forms)
            selected += [[name] for name in (*self.labs, *self.forms)]
            selected += [[f"@{kind}.{name}" for name in names] for kind, names in _WORK.items()]
        asked = [{"subjects": self.subjects, "select": columns} for columns in selected]
        return [*due.schedule_queries(design, self.subjects), *asked]

    @property
    def has_status(self) -> bool:
        """False in a study without a field for it, and where its reader may not see it."""
        design = self.design
        return design.status_field in design.context.columns.keys() - design.hidden


def _read(project: Project, user: User, record_id: str) -> dict[str, Any] | None:
    """What the user may see of the subject; None where REDCap has no such subject any more.

    Raises one of `layout.UNREADABLE`: it was never read, or the visit plan cannot be followed.
    """
    asked = SubjectQueries([record_id], whole=True)
    answers = iter(door.ask_all(project, member_in(user, project.pk), asked, user=user))
    design = asked.design
    found = due.schedule_from(design, clock.today(project.timezone), [next(answers), next(answers)])
    if record_id not in found.sites:
        return None
    status = next(answers).facts if asked.has_status else ()
    metadata = design.metadata
    measured = [(metadata.label(name), next(answers).facts) for name in asked.labs]
    drawn = [(label, facts, chart(label, facts, metadata.event_label)) for label, facts in measured]
    site = found.sites[record_id]
    return {
        "visits": [mark(one, found.today) for one in found.visits],
        "unscheduled": found.unscheduled,
        "site": metadata.sites.get(site, site),
        "status": next((fact.text for fact in status), ""),
        "labs": [one for _label, _facts, one in drawn if one],
        # What could be drawn and has no number, with what stands there instead.
        "unmeasured": [(label, _texts(facts)) for label, facts, one in drawn if one is None],
        "forms": [_form(design, name, next(answers)) for name in asked.forms],
        "work": _sections({kind: work_rows(next(answers).facts) for kind in _WORK}, record_id),
        "read_at": found.read_on,
        "link": record_link(project, metadata, record_id),
    }


def _texts(facts: Iterable[Fact]) -> str:
    return ", ".join(fact.text for fact in facts if fact.kind is not Kind.BLANK and fact.text)


def _form(design: StudyDesign, name: str, answer: Answer) -> dict[str, Any]:
    """The columns in which any row has something; where a form stands at events, its event leads the row."""
    rows: dict[tuple[str, int | None], dict[str, str]] = {}
    for fact in answer.facts:
        if fact.kind is not Kind.BLANK and fact.text:
            told = f"{fact.text} {fact.unit}".strip()
            rows.setdefault((fact.event, fact.instance), {})[fact.label] = told
    columns = [*dict.fromkeys(fact.label for fact in answer.facts)]
    filled = [label for label in columns if any(label in row for row in rows.values())]
    cells = [[row.get(label, "") for label in filled] for row in rows.values()]
    repeats = name in design.repeating_forms
    if rows and not repeats and design.metadata.longitudinal:
        filled = [_("Event"), *filled]
        events = (design.metadata.event_label(event) for event, _instance in rows)
        cells = [[event, *row] for event, row in zip(events, cells, strict=True)]
    label = design.metadata.form_label(name)
    return {"label": label, "columns": filled, "rows": cells, "repeats": repeats}


def work_rows(facts: Iterable[Fact]) -> list[dict[str, Fact]]:
    """Facts of work by row and column, newest first: each row begins with the first of its columns."""
    rows: list[dict[str, Fact]] = []
    first = ""
    for fact in facts:
        first = first or fact.field
        if fact.field == first:
            rows.append({})
        rows[-1][fact.field.rpartition(".")[2]] = fact
    return rows[::-1]


def _sections(
    work: Mapping[str, Sequence[Mapping[str, Fact]]], record_id: str
) -> list[dict[str, Any]]:
    """The kinds of work, each with its lines, where all of it is worked on, and what an empty one says."""
    search = urlencode({"q": record_id})
    findings = f"{reverse('admin:engines_pendingaction_changelist')}?{search}"
    runs = f"{reverse('admin:engines_taskrun_changelist')}?{search}"
    desk = reverse("admin:engines_review_desk")
    clean = _("There is no finding on this subject.")
    unknown = _(
        "No quality control has run on this subject: whether there are findings is not known."
    )
    # name, title, address, nothing
    sections = [
        ("findings", _("Findings"), findings, clean if work.get("runs") else unknown),
        ("reviews", _("Reviews waiting"), desk, _("No review waits for a decision.")),
        ("runs", _("Runs"), runs, _("Nothing has run on this subject.")),
        ("changes", _("What changed"), "", _("No change has been read since the readings began.")),
    ]
    keys = ("name", "title", "address", "empty")
    return [
        dict(zip(keys, section, strict=True)) | {"lines": [*map(_line, work[section[0]])]}
        for section in sections
    ]


def _line(row: Mapping[str, Fact]) -> dict[str, Any]:
    """A tag with its colour, what it says, and when."""
    told = defaultdict(str, {name: fact.text for name, fact in row.items()})
    if "text" in told:
        state = PendingAction.State(told["status"])
        tag, colour = state.label, PendingAction.COLOURS[state]
        return {"tag": tag, "colour": colour, "text": told["text"], "when": told["opened"]}
    if "question" in told:
        return {"text": told["question"], "when": told["since"]}
    if "status" in told:
        status = TaskRun.Status(told["status"])
        said = [labels.name(labels.ENDS, told["final_state"]), told["reason"]]
        text = " · ".join(filter(None, said))
        tag, colour = status.label, TaskRun.COLOURS[status]
        return {"tag": tag, "colour": colour, "text": text, "when": told["ended"]}
    text = f"{told['from'] or '-'} → {told['to'] or '-'}"
    return {"tag": told["field"], "text": text, "when": told["at"]}
