"""How a visit's state is shown: a sign and a word beside the colour, never the colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from study.visits.calendar import State
from study.visits.due import SubjectVisit

# Sign, colour and word, in the order of the legend: what asks for something first.
_STATES: dict[State, tuple[str, str, Any]] = {
    State.OVERDUE: ("!", "danger", gettext_lazy("overdue")),
    State.DUE: ("●", "info", gettext_lazy("can be done")),
    State.NOT_DUE: ("○", "", gettext_lazy("not yet open")),
    State.IN_WINDOW: ("✓", "success", gettext_lazy("done in the window")),
    State.EARLY: ("✓−", "warning", gettext_lazy("done early")),
    State.LATE: ("✓+", "warning", gettext_lazy("done late")),
    State.NOT_APPLICABLE: ("–", "", gettext_lazy("not applicable")),
    State.UNKNOWN: ("?", "", gettext_lazy("unknown")),
}
LABELS = {state: label for state, (_sign, _colour, label) in _STATES.items()}


@dataclass(frozen=True)
class Mark:
    """One visit as the board shows it; `text` is what is asked of it, or what became of it.

    `pk`: of the subject's page, None where it has none.
    """

    visit: SubjectVisit
    sign: str
    label: str
    colour: str
    text: str
    pk: int | None = None


def mark(visit: SubjectVisit, today: date, keys: Mapping[str, int] | None = None) -> Mark:
    """Sign, word, colour and days of a visit; one of who withdrew asks for nothing."""
    pk = (keys or {}).get(visit.subject)
    has_left = visit.left is not None and visit.left <= today
    if has_left and visit.state in (State.DUE, State.OVERDUE, State.NOT_DUE):
        told = _("withdrawn on %(day)s") % {"day": visit.left}
        sign, _colour, _label = _STATES[State.NOT_APPLICABLE]
        return Mark(visit, sign, _("withdrawn"), "", told, pk)
    sign, colour, label = _STATES[visit.state]
    return Mark(visit, sign, str(label), colour, _text(visit, today), pk)


def _text(visit: SubjectVisit, today: date) -> str:
    if visit.planned:
        return _("planned for %(day)s") % {"day": visit.planned}
    if visit.state is State.DUE and visit.close:
        left = (visit.close - today).days
        return ngettext("%(days)d day left", "%(days)d days left", left) % {"days": left}
    if visit.open is None:
        return _("no date to count from")
    texts = {
        State.OVERDUE: ngettext("%(days)d day overdue", "%(days)d days overdue", visit.days),
        State.NOT_DUE: ngettext("opens in %(days)d day", "opens in %(days)d days", visit.days),
        State.EARLY: ngettext("%(days)d day early", "%(days)d days early", visit.days),
        State.LATE: ngettext("%(days)d day late", "%(days)d days late", visit.days),
    }
    if visit.state in texts:
        return texts[visit.state] % {"days": visit.days}
    return str(visit.actual or "")


def legend() -> list[tuple[str, str, str]]:
    """(sign, colour, word) of each state."""
    return [(sign, colour, str(label)) for sign, colour, label in _STATES.values()]
