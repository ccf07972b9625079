"""What is said beside the facts: who is not there, of whom nothing could be told, how old a reading is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from engines.assistant.read.question import Topic
from engines.assistant.say import conditions, words
from engines.assistant.say.case import NARROW, Case
from engines.assistant.say.parts import colon, joint
from study.facts import Undecided

_NAMED = 3


def absent(names: Sequence[str]) -> str:
    """The one wording for "does not exist" and "not yours" (design.md 9.7)."""
    said = _("no such subject, or you have no right to see it; please check the number")
    return f"{joint().join(names)}{colon()}{said}"


def refused(case: Case) -> str:
    """That none of the subjects or sites is there or the reader's; "" where some are."""
    subjects = case.query.get("subjects") or ()
    if subjects and not any(answer.basis.subjects for _query, answer in case.results):
        return absent(subjects)
    asked = set(case.question.site) | set(conditions.sites_of(case.query))
    if asked - case.reader.sites.keys():
        sites = joint().join(words.site_name(code, case.reader) for code in case.reader.sites)
        return _("You can only see the data of %(sites)s.").rstrip(".。") % {"sites": sites}
    return ""


def beside(case: Case) -> Iterator[str]:
    """The notes of one question."""
    told = (
        _absent(case),
        _elsewhere(case),
        _unrecorded(case),
        _unlimited(case),
        _undecided(case),
        _outdated(case),
    )
    yield from filter(None, told)


def _absent(case: Case) -> str:
    """Some of those named are there, and some are not."""
    subjects = list(dict.fromkeys(case.query.get("subjects") or ()))
    if case.answer.basis.subjects >= len(subjects):
        return ""
    gone = [name for name in subjects if name not in case.reader.subjects]
    return absent(gone) if gone else ""


def _elsewhere(case: Case) -> str:
    """V3 不收集 身高: the value that is told is of another place."""
    if case.question.topic is not Topic.DATA or case.question.change:
        return ""
    fields = [name for name in case.question.select if name in case.reader.design.metadata.fields]
    places = case.question.place
    text = _("%(label)s is not collected at %(place)s")
    return joint().join(
        text
        % {
            "label": words.field_label(name, case.reader),
            "place": words.place_name(place, case.reader),
        }
        for place in places
        for name in fields
        if not any(_stands(name, one, case) for one in places)
    )


def _unrecorded(case: Case) -> str:
    """P007 没有体重指数BMI的记录: of several things asked about somebody, what was not there."""
    narrow = any(case.query.get(key) for key in NARROW)
    unread = case.answer.undecided or case.answer.left_out
    if case.question.topic is not Topic.DATA or narrow or unread or case.question.change:
        return ""
    there = {(fact.subject, fact.field) for fact in case.answer.facts}
    known = {subject for subject, _field in there}
    names = [name for name in case.question.select if name in case.reader.design.metadata.fields]
    text, told = _("%(subject)s has no record of %(what)s"), list[str]()
    for subject in case.query.get("subjects") or ():
        gone = [words.field_label(n, case.reader) for n in names if (subject, n) not in there]
        if gone and subject in known:
            told.append(text % {"subject": subject, "what": joint().join(gone)})
    return joint().join(told)


def _stands(name: str, place: str, case: Case) -> bool:
    """Whether a field can be filled in at a place: a planned visit or a unique event."""
    design, form = case.reader.design, case.reader.design.form_of(name) or name
    forms = design.context.forms_by_event
    events = [place] if place in design.event_order else []
    for visit in design.plan.visits if not events else ():
        if visit.visit == place:
            own = design.form_of(visit.date_field)
            events += [visit.event] if visit.event else [e for e in forms if own in forms[e]]
    return any(form in forms.get(event, ()) for event in events)


def _unlimited(case: Case) -> str:
    """Whether it is normal cannot be told without limits."""
    if case.question.aspect != "unlimited":
        return ""
    names = [name for name in case.question.select if not case.reader.design.ranges.get(name)]
    if not names:
        return ""
    labels = joint().join(words.field_label(name, case.reader) for name in names)
    return _("no normal range is set for %(labels)s") % {"labels": labels}


def _undecided(case: Case) -> str:
    """无法判断 2 例:P007 缺单位; where nobody was named, of whom nothing was written only the count."""
    several, undecided = not case.query.get("subjects"), case.answer.undecided
    missing = [u for u in undecided if u.reason == "missing" and several]
    hidden = [u for u in undecided if u.reason == "not_exported"]
    beside = _incomparable(case)
    known, said = [u for u in undecided if u not in (*missing, *hidden, *beside)], []
    if known:
        text = _("cannot be told for %(count)s subjects: ") % {"count": len(known)}
        said.append(text + _with_reasons(known))
    if beside:
        text = _("there are readings that cannot be compared: %(who)s")
        said.append(text % {"who": _with_reasons(beside)})
    if hidden:
        said.append(_unexported(case, hidden))
    if missing and case.question.topic in (Topic.DATA, Topic.VISITS):
        said.append(_("%(count)s subjects have no value") % {"count": len(missing)})
    return joint().join(said)


def _incomparable(case: Case) -> list[Undecided]:
    """Whose highest or lowest is told of the readings that can be compared."""
    if case.query.get("rows") not in ("highest", "lowest"):
        return []
    held = {fact.subject for fact in case.answer.facts}
    return [u for u in case.answer.undecided if u.subject in held and u.reason != "not_exported"]


def _with_reasons(undecided: Sequence[Undecided]) -> str:
    """P007 缺单位、P010 日期不完整…"""
    reasons = _reasons()
    named = (f"{u.subject} {reasons.get(u.reason, u.reason)}" for u in undecided[:_NAMED])
    return joint().join(named) + ("…" if len(undecided) > _NAMED else "")


def _unexported(case: Case, hidden: Sequence[Undecided]) -> str:
    """REDCap 未导出访视日期,3 例无法判断: what is not shown is not absent."""
    names = [conditions.name_of(name, case.reader) for name in case.answer.unread]
    what = joint().join(names[:_NAMED]) + ("…" if len(names) > _NAMED else "")
    who = joint().join(one.subject for one in hidden)
    who = who if len(hidden) <= _NAMED else words.people(len(hidden))
    text = _("REDCap does not export %(what)s, it cannot be told for %(who)s")
    return text % {"what": what or _("some dates"), "who": who}


def _reasons() -> dict[str, str]:
    return {
        "missing": _("no value or limit"),
        "missing_code": _("missing code"),
        "censored": _("value given as a bound"),
        "partial_date": _("incomplete date"),
        "invalid_choice": _("invalid choice"),
        "unit_missing": _("no unit"),
        "type_mismatch": _("not readable as its type"),
        "applicability_unknown": _("not known whether it applies"),
        "hidden_with_value": _("value in a hidden field"),
        "not_computable": _("cannot be computed"),
    }


def _outdated(case: Case) -> str:
    """数据截至 …, where the reading is older than the project allows, or than the source's last failure."""
    times = [
        datetime.fromisoformat(answer.read_at) for _q, answer in case.results if answer.read_at
    ]
    if not times:
        return ""
    reader, (since, why) = case.reader, case.reader.outage or (None, "")
    is_down = since is not None and since > min(times)
    if not is_down and reader.now - min(times) <= timedelta(minutes=reader.fresh_minutes):
        return ""
    read_at = min(times).astimezone(reader.design.context.timezone)
    told = _("data as of %(time)s") % {"time": f"{read_at:%Y-%m-%d %H:%M}"}
    return told + colon() + why if is_down else told
