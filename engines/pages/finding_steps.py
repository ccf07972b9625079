"""What people do with findings on their pages: one step of one finding, or the same step of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import helpers
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.dateparse import parse_date
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from core.integrations.redcap import RedcapError
from engines.models import PendingAction
from engines.pages import decisions
from engines.pages.layout import render_page
from engines.sop import SopError, finding_life
from study import client, dictionary
from study.client import NotConfiguredError
from study.models import RedcapQuery

MOST = 500
"""More findings are not moved by one click: somebody has to have looked at them."""
NOBODY = "-"
"""Of several: nobody is to have them; nothing chosen leaves each with whom it is."""
RESOLVE = "resolve"
"""Not a step of the finding's states: closes whatever is open."""
Act = Callable[[PendingAction], object]


@dataclass(frozen=True)
class Words:
    """How a step is called on a button, as a title and when it is done."""

    button: Promise
    done: Promise
    icon: str


WORDS: Mapping[str, Words] = {
    "confirm": Words(gettext_lazy("Confirm"), gettext_lazy("Confirmed"), "verified"),
    "query": Words(
        gettext_lazy("Query to the site"), gettext_lazy("Query sent"), "contact_support"
    ),
    "answer": Words(gettext_lazy("Note the answer"), gettext_lazy("Query answered"), "reply"),
    "correct": Words(
        gettext_lazy("Corrected in REDCap"),
        gettext_lazy("Noted as corrected; the checks run again"),
        "published_with_changes",
    ),
    "accept": Words(
        gettext_lazy("Confirm the data change"), gettext_lazy("Closed by data change"), "task_alt"
    ),
    "reject": Words(
        gettext_lazy("Reject as a false alarm"),
        gettext_lazy("Rejected as a false alarm"),
        "notifications_off",
    ),
    "reopen": Words(gettext_lazy("Take up again"), gettext_lazy("Taken up again"), "restart_alt"),
    RESOLVE: Words(gettext_lazy("Resolve"), gettext_lazy("Closed"), "task_alt"),
}


def needs_reason(step: str) -> bool:
    """Whether the step says why it is taken."""
    return step == RESOLVE or finding_life.STEPS[step].needs_reason


def offered(finding: PendingAction, *, is_asked: bool) -> list[dict[str, Any]]:
    """The steps that the page offers, in their order; `is_asked`: REDCap asks about the place itself."""
    possible = finding_life.possible(finding)
    if "query" in possible and is_asked:
        possible.remove("query")
    return [{"name": name, "words": WORDS[name]} for name in possible]


def people(finding: PendingAction) -> list[tuple[str, str]]:
    """Who may be given a finding: (identity, identity and role), those who see it only."""
    seen = [one for one in finding_life.who_sees(finding) if one.identity]
    told = {one.identity: f"{one.identity} ({one.get_role_display()})" for one in seen}
    return sorted(told.items())


@require_POST
def act_view(request: HttpRequest, pk: UUID, what: str) -> HttpResponse:
    """Do one thing with a finding: take a `step`, `resolve` it, `assign` it, `comment` on it."""
    finding, act, done = _finding(request, pk), None, str(_("Assigned"))
    step = request.POST.get("step", "") if what == "step" else what
    if what == "assign":
        act = _assigning(request)
    elif what == "comment":
        act, done = _commenting(request), _("Your comment stands in the thread.")
    elif step in WORDS:
        act, done = _moving(request, step), str(WORDS[step].done)
    if act is None:
        messages.error(request, _("Please choose what is to be done."))
    elif _done_with(request, [finding], act):
        messages.success(request, done)
    return _to(request, pk)


@require_GET
def redcap_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """To the finding's field in REDCap; its version is asked for here, so that no list waits for REDCap."""
    return to_field(request, _finding(request, pk)) or _to(request, pk)


def to_field(request: HttpRequest, one: PendingAction | RedcapQuery) -> HttpResponse | None:
    """To the field of a row in REDCap; None where nobody knows where that is, which is told."""
    try:
        metadata = dictionary.load(one.project)
        place = (one.record_id or "", one.field or one.instrument, one.event, one.instance)
        link = client.field_link(one.project, metadata, *place)
    except (RedcapError, NotConfiguredError):
        link = ""
    if link:
        return redirect(link)
    messages.error(request, _("REDCap's project number is not known: its dictionary was not read."))
    return None


def move_selected(
    request: HttpRequest, rows: QuerySet[PendingAction], step: str
) -> HttpResponse | None:
    """Ask for the reason, then take the step with each; who cannot take it is named."""
    reason, needed = request.POST.get("reason", "").strip(), needs_reason(step)
    has_come = "apply" in request.POST or reason
    if not has_come or (needed and not reason):
        if has_come:
            messages.error(request, _("Please say why."))
        return _ask(request, rows, f"{step}_findings", WORDS[step].button, needed=needed)
    _do_with_all(request, rows, _moving(request, step))
    return None


def assign_selected(request: HttpRequest, rows: QuerySet[PendingAction]) -> HttpResponse | None:
    """Ask who and by when, then give each; what is left blank stays as it is with each."""
    if "apply" in request.POST:
        if request.POST.get("assignee") or request.POST.get("due_on"):
            _do_with_all(request, rows, _assigning(request, keeps=True))
            return None
        messages.error(request, _("Please choose what is to be done."))
    chosen = rows.select_related("project").first()
    some = people(chosen) if chosen else []
    return _ask(
        request, rows, "assign_findings", _("Assign"), needed=False, people=some, nobody=NOBODY
    )


def _moving(request: HttpRequest, step: str) -> Act:
    user, reason = request.user, request.POST.get("reason", "").strip()

    def act(row: PendingAction) -> None:
        if step != RESOLVE:
            finding_life.move(finding=row, step=step, actor=user, reason=reason)
        elif not reason:
            raise finding_life.Unfit(_("Please say what was done about it."))
        elif not finding_life.close(finding=row, actor=user, resolution=reason):
            raise finding_life.NoSuchStep(_("The finding is closed already."))

    return act


def _assigning(request: HttpRequest, *, keeps: bool = False) -> Act:
    """`keeps`: a blank leaves what a finding has."""
    who, day = request.POST.get("assignee", "").strip(), request.POST.get("due_on", "").strip()

    def act(row: PendingAction) -> None:
        try:
            due = parse_date(day)
        except ValueError:
            due = None
        if day and due is None:
            raise finding_life.Unfit(_("There is no such day: %s") % day[:20])
        name = who
        if keeps:
            name = "" if who == NOBODY else who or row.assignee
            due = due or row.due_on
        finding_life.assign(finding=row, assignee=name, due_on=due, actor=request.user)

    return act


def _commenting(request: HttpRequest) -> Act:
    text = request.POST.get("text", "").strip()
    return lambda row: finding_life.comment(finding=row, text=text, actor=request.user)


def _do_with_all(request: HttpRequest, rows: QuerySet[PendingAction], act: Act) -> None:
    if rows.count() > MOST:
        messages.error(request, _("At most %d findings at once.") % MOST)
    elif done := _done_with(request, rows.select_related("project"), act):
        messages.success(request, _("%d findings moved on.") % done)


def _done_with(request: HttpRequest, rows: Iterable[PendingAction], act: Act) -> int:
    """With how many it was done; each of the others is told with its reason."""
    done = 0
    for row in rows:
        try:
            if not decisions.has_say(request.user, row):
                raise SopError(_("Your role does not allow this."))
            act(row)
            done += 1
        except SopError as error:
            messages.error(request, f"{row.record_id or ''} {row.rule_key}: {error}".strip())
    return done


def _finding(request: HttpRequest, pk: UUID) -> PendingAction:
    found = PendingAction.objects.for_user(request.user).select_related("project")
    return get_object_or_404(found, pk=pk)


def _to(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Back to the page, in the same list."""
    answer = redirect("admin:engines_pendingaction_change", pk)
    if query := request.GET.urlencode():
        answer["Location"] += f"?{query}"
    return answer


def _ask(
    request: HttpRequest,
    rows: QuerySet[PendingAction],
    action: str,
    title: Any,
    **more: Any,
) -> HttpResponse:
    given = {
        "rows": rows,
        "action": action,
        "reasons": decisions.reasons(),
        "checkbox": helpers.ACTION_CHECKBOX_NAME,
    }
    return render_page(request, "engines/findings/ask.html", title, PendingAction, **given, **more)
