"""Where forms are entered: the events of a place as people name it, and the places from one to another."""

from __future__ import annotations

from study.design import StudyDesign


def events_at(design: StudyDesign, place: str) -> tuple[str, ...]:
    """The unique events of a planned visit, or of an event itself."""
    if place in design.event_order:
        return (place,)
    found: list[str] = []
    for visit in design.plan.visits:
        if visit.visit == place:
            found += [visit.event] if visit.event else _events_of(design, visit.date_field)
    return tuple(dict.fromkeys(found))


def stands(design: StudyDesign, name: str, place: str) -> bool:
    """Whether a field or a form can be filled in at a place."""
    form = design.form_of(name) or name
    forms = design.context.forms_by_event
    return any(form in forms.get(event, ()) for event in events_at(design, place))


def between(design: StudyDesign, first: str, last: str) -> tuple[str, ...]:
    """从基线到V4: the places from one to another in the order of the study, planned visits by their names."""
    order = design.event_order
    begin = [order[event] for event in events_at(design, first)]
    end = [order[event] for event in events_at(design, last)]
    if not begin or not end or min(begin) > max(end):
        return first, last
    visits = {event: v.visit for v in design.plan.visits for event in events_at(design, v.visit)}
    inside = (event for event, at in order.items() if min(begin) <= at <= max(end))
    return tuple(dict.fromkeys(visits.get(event, event) for event in inside))


def _events_of(design: StudyDesign, name: str) -> list[str]:
    forms, form = design.context.forms_by_event, design.form_of(name)
    return [event for event in design.event_order if form in forms.get(event, ())]
