"""What is said beside the facts: who is not there, of whom nothing could be told, how old a reading is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from engines.assistant.answer import words
from engines.assistant.answer.fitting import colon, joint
from engines.assistant.answer.reader import Reader
from engines.assistant.tools.texts import not_found
from engines.assistant.understand.standing import stands
from engines.assistant.understand.types import Asked, Topic
from study.facts import Answer

_NAMED = 3


def refused(asked: Asked, answers: Sequence[Answer], reader: Reader) -> str:
    """The one text for subjects and sites that are not there or not the reader's; "" where all are."""
    subjects = asked.query.get("subjects") or ()
    if subjects and not any(answer.basis.subjects for answer in answers):
        return not_found()
    if set(asked.slots.site) - reader.sites.keys():
        sites = joint().join(words.site_name(code, reader) for code in reader.sites)
        return _("You can only see the data of %(sites)s.") % {"sites": sites}
    return ""


def beside(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[str]:
    """The notes of one question."""
    first = answers[0]
    return list(
        filter(
            None,
            [
                _absent(asked, first, reader),
                _elsewhere(asked, reader),
                _unlimited(asked, reader),
                *_side_by_side(asked, first, reader),
                _undecided(asked, first),
                _outdated(answers, reader),
            ],
        )
    )


def _absent(asked: Asked, answer: Answer, reader: Reader) -> str:
    """Some of those named are there, and some are not."""
    subjects = list(dict.fromkeys(asked.query.get("subjects") or ()))
    if answer.basis.subjects >= len(subjects):
        return ""
    absent = [name for name in subjects if name not in reader.subjects]
    return f"{joint().join(absent)}{colon()}{not_found()}" if absent else ""


def _elsewhere(asked: Asked, reader: Reader) -> str:
    """V3 不收集 身高: the value that is told is of another place."""
    if asked.slots.topic is not Topic.DATA or asked.slots.change:
        return ""
    known = reader.design.metadata.fields
    fields = [name for name in asked.slots.select if name in known]
    where = [
        (place, name)
        for place in asked.slots.place
        for name in fields
        if not any(stands(reader.design, name, one) for one in asked.slots.place)
    ]
    text = _("%(label)s is not collected at %(place)s")
    return joint().join(
        text % {"label": words.field_label(name, reader), "place": words.place_name(place, reader)}
        for place, name in where
    )


def _unlimited(asked: Asked, reader: Reader) -> str:
    """Whether it is normal cannot be told without limits."""
    if asked.slots.aspect != "unlimited":
        return ""
    labels = joint().join(words.field_label(name, reader) for name in asked.slots.select)
    return _("no normal range is set for %(labels)s") % {"labels": labels}


def _side_by_side(asked: Asked, answer: Answer, reader: Reader) -> list[str]:
    """吃药那几天有没有AE: the rows of both forms stand side by side, the days are for the reader to compare."""
    if asked.slots.aspect != "during":
        return []
    label = reader.design.metadata.form_label
    there = {fact.instrument for fact in answer.facts}
    none = joint().join(label(form) for form in asked.slots.select if form not in there)
    if none:
        who = joint().join(asked.slots.subjects)
        return [_("%(subject)s has no record of %(what)s") % {"subject": who, "what": none}]
    forms = joint().join(map(label, asked.slots.select))
    return [_("%(forms)s are listed with their days; compare them yourself") % {"forms": forms}]


def _undecided(asked: Asked, answer: Answer) -> str:
    """无法判断 2 例:P007 缺单位; where nobody was named, of whom nothing was written only the count."""
    several = not asked.query.get("subjects")
    missing = [u for u in answer.undecided if u.reason == "missing" and several]
    known = [u for u in answer.undecided if u not in missing]
    said = []
    if known:
        named = joint().join(
            f"{u.subject} {_reasons().get(u.reason, u.reason)}" for u in known[:_NAMED]
        )
        more = "…" if len(known) > _NAMED else ""
        said.append(
            _("cannot be told for %(count)s subjects: ") % {"count": len(known)} + named + more
        )
    if missing and asked.slots.topic is Topic.DATA:
        said.append(_("%(count)s subjects have no value") % {"count": len(missing)})
    return joint().join(said)


def _reasons() -> dict[str, str]:
    return {
        "missing": _("no value or limit"),
        "missing_code": _("missing code"),
        "censored": _("value given as a bound"),
        "partial_date": _("incomplete date"),
        "not_exported": _("not exported"),
        "invalid_choice": _("invalid choice"),
        "unit_missing": _("no unit"),
        "type_mismatch": _("not readable as its type"),
        "applicability_unknown": _("not known whether it applies"),
        "hidden_with_value": _("value in a hidden field"),
        "not_computable": _("cannot be computed"),
    }


def _outdated(answers: Sequence[Answer], reader: Reader) -> str:
    """数据截至 …, where the reading is older than the project allows, or than the source's last failure."""
    times = [datetime.fromisoformat(answer.read_at) for answer in answers if answer.read_at]
    if not times:
        return ""
    since, why = reader.outage or (None, "")
    is_down = since is not None and since > min(times)
    if not is_down and reader.now - min(times) <= timedelta(minutes=reader.fresh_minutes):
        return ""
    read_at = min(times).astimezone(reader.design.context.timezone)
    told = _("data as of %(time)s") % {"time": f"{read_at:%Y-%m-%d %H:%M}"}
    return told + colon() + why if is_down else told
