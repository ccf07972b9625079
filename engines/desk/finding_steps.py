"""What people do with findings on their pages: one step of one finding, or the same step of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin, helpers
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_date
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from engines import console
from engines.models import PendingAction
from engines.sop import SopError, finding_life

MOST = 500
"""More findings are not moved by one click: somebody has to have looked at them."""
_AT = "admin:engines_pendingaction_change"
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
    "accept": Words(
        gettext_lazy("Confirm the data change"), gettext_lazy("Closed by data change"), "task_alt"
    ),
    "reject": Words(
        gettext_lazy("Reject as a false alarm"),
        gettext_lazy("Rejected as a false alarm"),
        "notifications_off",
    ),
    "reopen": Words(gettext_lazy("Take up again"), gettext_lazy("Taken up again"), "restart_alt"),
}


def offered(finding: PendingAction) -> list[dict[str, Any]]:
    """The steps that the page offers, in their order."""
    steps = finding_life.STEPS
    return [
        {"name": name, "words": WORDS[name], "needs_reason": steps[name].needs_reason}
        for name in finding_life.possible(finding)
    ]


def people(finding: PendingAction) -> list[tuple[str, str]]:
    """Who may be given a finding: (identity, identity and role), those who see it only."""
    seen = [one for one in finding_life.who_sees(finding) if one.identity]
    told = {one.identity: f"{one.identity} ({one.get_role_display()})" for one in seen}
    return sorted(told.items())


@require_POST
def step_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Take one step; the reason stays in the box where it is refused."""
    finding = _finding(request, pk)
    step, reason = request.POST.get("step", ""), request.POST.get("reason", "").strip()
    if step not in finding_life.STEPS:
        messages.error(request, _("Please choose what is to be done."))
        return _to(request, pk)

    def act(row: PendingAction) -> object:
        return finding_life.move(finding=row, step=step, actor=request.user, reason=reason)

    if _done(request, [finding], act):
        messages.success(request, str(WORDS[step].done))
    return _to(request, pk)


@require_POST
def assign_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Give it to somebody, by a day."""
    finding = _finding(request, pk)
    if _done(request, [finding], _assigning(request)):
        messages.success(request, _("Assigned"))
    return _to(request, pk)


@require_POST
def comment_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Say something in its thread."""
    finding, text = _finding(request, pk), request.POST.get("text", "").strip()

    def act(row: PendingAction) -> None:
        finding_life.comment(finding=row, text=text, actor=request.user)

    if _done(request, [finding], act):
        messages.success(request, _("Your comment stands in the thread."))
    return _to(request, pk)


def move_selected(
    request: HttpRequest, rows: QuerySet[PendingAction], page: ModelAdmin, step: str
) -> HttpResponse | None:
    """Ask for the reason, then take the step with each; who cannot take it is named."""
    reason, needed = request.POST.get("reason", "").strip(), finding_life.STEPS[step].needs_reason
    if "apply" not in request.POST or (needed and not reason):
        if "apply" in request.POST:
            messages.error(request, _("Please say why."))
        return _ask(request, rows, page, f"{step}_findings", WORDS[step].button, needed=needed)

    def act(row: PendingAction) -> object:
        return finding_life.move(finding=row, step=step, actor=request.user, reason=reason)

    _all(request, rows, act)
    return None


def assign_selected(
    request: HttpRequest, rows: QuerySet[PendingAction], page: ModelAdmin
) -> HttpResponse | None:
    """Ask who and by when, then give each."""
    if "apply" not in request.POST:
        chosen = rows.select_related("project").first()
        more = {"people": people(chosen) if chosen else []}
        return _ask(request, rows, page, "assign_findings", _("Assign"), needed=False, **more)
    _all(request, rows, _assigning(request))
    return None


def _assigning(request: HttpRequest) -> Act:
    who, day = request.POST.get("assignee", "").strip(), request.POST.get("due_on", "").strip()

    def act(row: PendingAction) -> object:
        due = _day(day)
        return finding_life.assign(finding=row, assignee=who, due_on=due, actor=request.user)

    return act


def _day(text: str) -> date | None:
    try:
        found = parse_date(text) if text else None
    except ValueError:
        found = None
    if text and found is None:
        raise finding_life.Unfit(_("There is no such day: %s") % text[:20])
    return found


def _all(request: HttpRequest, rows: QuerySet[PendingAction], act: Act) -> None:
    if rows.count() > MOST:
        messages.error(request, _("At most %d findings at once.") % MOST)
        return
    done = _done(request, rows.select_related("project"), act)
    if done:
        messages.success(request, _("%d findings moved on.") % done)


def _done(request: HttpRequest, rows: Iterable[PendingAction], act: Act) -> int:
    """With how many it was done; each of the others is told with its reason."""
    done = 0
    for row in rows:
        if not console.has_say(request.user, row):
            messages.error(request, _("Your role does not allow this."))
            continue
        try:
            act(row)
            done += 1
        except SopError as error:
            messages.error(request, f"{row.record_id or ''} {row.rule_key}: {error}".strip())
    return done


def _finding(request: HttpRequest, pk: UUID) -> PendingAction:
    found = PendingAction.objects.for_user(request.user).select_related("project")
    finding = found.filter(pk=pk).first()
    if finding is None:
        raise Http404
    return finding


def _to(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Back to the page, in the same list."""
    answer = redirect(_AT, pk)
    if query := request.GET.urlencode():
        answer["Location"] += f"?{query}"
    return answer


def _ask(
    request: HttpRequest,
    rows: QuerySet[PendingAction],
    page: ModelAdmin,
    action: str,
    title: Any,
    **more: Any,
) -> HttpResponse:
    context = page.admin_site.each_context(request) | {
        "title": title,
        "rows": rows,
        "action": action,
        "reasons": console.reasons(),
        "opts": page.model._meta,
        "checkbox": helpers.ACTION_CHECKBOX_NAME,
    }
    return render(request, "engines/findings/ask.html", context | more)
