"""What people do with the register of deviations: one row on its page, or several of the list at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import helpers
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from engines import deviations
from engines.deviations import Grade, State, Undecided
from engines.models import Deviation
from engines.pages import finding_words
from engines.pages.layout import render_page
from engines.sop import SopError
from projects.access import has_role

_PAGE = "admin:engines_deviation_change"
TITLES: Mapping[str, Any] = {
    State.CONFIRMED: gettext_lazy("Confirm and grade the selected deviations"),
    State.REJECTED: gettext_lazy("Reject the selected: no deviation"),
    State.PROPOSED: gettext_lazy("Take the decisions on the selected back"),
}
"""What is done to the chosen rows, by the state that they come to."""


def may_decide(request: HttpRequest, deviation: Deviation) -> bool:
    """A role that grades, in the row's study; the row itself was opened for the reader before."""
    project = deviation.project_id
    return has_role(request.user, project, *deviations.GRADERS, of_site=True)


@require_POST
def decide_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Confirm with a grade, reject, or take back; what is not the reader's is not there."""
    rows = Deviation.objects.for_user(request.user).select_related("project", "finding__task_run")
    deviation = get_object_or_404(rows, pk=pk)
    if _decided(request, [deviation], {deviation.pk: request.POST.get("seen", "")}):
        messages.success(request, _("The decision stands in the register."))
    return redirect(_PAGE, pk)


def decide_selected(
    request: HttpRequest, rows: QuerySet[Deviation], state: str
) -> HttpResponse | None:
    """Show what was chosen and ask for grade and reason; then decide about each as it was shown.

    Which rows were not decided, and why, is told of each.
    """
    chosen = [*rows.select_related("project")[: deviations.AT_ONCE + 1]]
    if len(chosen) > deviations.AT_ONCE:
        messages.error(request, _("At most %d deviations at once.") % deviations.AT_ONCE)
        return None
    if "apply" in request.POST and not (lacks := _lacking(request, state)):
        seen = {one.pk: request.POST.get(f"seen_{one.pk}", "") for one in chosen}
        if done := _decided(request, chosen, seen, state):
            messages.success(request, _("%d deviations decided.") % done)
        return None
    if "apply" in request.POST:
        messages.error(request, lacks)
    return render_page(
        request,
        "engines/safety/decide.html",
        TITLES[state],
        Deviation,
        rows=[(one, finding_words.place_words(one.finding)) for one in _worded(chosen)],
        state=state,
        action=request.POST.get("action", ""),
        grades=Grade.choices if state == State.CONFIRMED else (),
        given=request.POST,
        checkbox=helpers.ACTION_CHECKBOX_NAME,
    )


def _worded(rows: Iterable[Deviation]) -> Iterable[Deviation]:
    for one in rows:
        one.finding.dictionary_digest = one.dictionary_digest  # type: ignore[attr-defined]
        yield one


def _lacking(request: HttpRequest, state: str) -> str:
    """What all of the rows lack, told once."""
    try:
        deviations.check_decision(
            state, request.POST.get("grade", ""), request.POST.get("reason", "")
        )
    except Undecided as error:
        return str(error)
    return ""


def _decided(
    request: HttpRequest,
    rows: Iterable[Deviation],
    seen: Mapping[UUID, str],
    state: str = "",
) -> int:
    """About how many it was decided; each of the others is told with its reason."""
    given = {name: request.POST.get(name, "") for name in ("grade", "reason", "measure")}
    given["state"] = state or request.POST.get("state", "")
    done = 0
    for row in rows:
        try:
            if not may_decide(request, row):
                raise SopError(_("You may look on."))
            deviations.decide(deviation=row, actor=request.user, seen=seen[row.pk], **given)
            done += 1
        except SopError as error:
            about = f"{row.record_id} ({row.get_source_display()})"
            messages.error(request, f"{about}: {error}")
    return done


def context(request: HttpRequest, row: Deviation) -> dict[str, Any]:
    """What the page of one row shows beside its fields."""
    [one] = _worded([row])
    place = finding_words.place_words(one.finding)
    return {
        "deviation": row,
        "colour": Deviation.COLOURS.get(State(row.state), ""),
        "told": finding_words.finding_summary(row.finding) | {"place": place},
        "grades": Grade.choices,
        "may_decide": may_decide(request, row),
    }
