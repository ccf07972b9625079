"""What the study collects, told from its dictionary: a field's form, unit and choices, a form's fields.

What identifies a person, and what is hidden from the reader, is never named.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from engines.assistant.answer import words
from engines.assistant.answer.fitting import Told, colon, joint
from engines.assistant.answer.reader import Reader
from engines.assistant.understand.types import Asked
from study.facts import Fact, Kind

_NO_FIELDS = ("descriptive", "file")
_YES_NO = ("yesno", "truefalse")


def facts(asked: Asked, reader: Reader) -> list[Fact]:
    """A fact for each thing asked about: `field`, `label` and `instrument`, `text` what is to be told of it."""
    aspect, names = asked.slots.aspect, asked.slots.select
    metadata = reader.design.metadata
    if aspect == "forms":
        forms = [str(row["instrument_name"]) for row in metadata.instruments]
        return [_fact(form, form, "", reader) for form in forms if _shown(form, reader)]
    if aspect == "fields":
        named = dict.fromkeys(reader.design.form_of(name) or name for name in names)
        return [_fact(n, form, "", reader) for form in named for n in _shown(form, reader)]
    known = {"choices": _choices, "unit": _unit}.get(aspect, _where)
    return [_fact(n, reader.design.form_of(n) or n, known(n, reader), reader) for n in names]


def told(asked: Asked, reader: Reader) -> list[Told]:
    """A line for each field, or one for all fields of a form."""
    found = facts(asked, reader)
    if asked.slots.aspect == "forms":
        return [Told(_("Forms: "), tuple(fact.label for fact in found))]
    if asked.slots.aspect != "fields":
        return [Told(f"{fact.label}{colon()}{fact.text}") for fact in found]
    forms = dict.fromkeys(fact.instrument for fact in found)
    of_form = {form: [fact for fact in found if fact.instrument == form] for form in forms}
    label = reader.design.metadata.form_label
    text = _("%(form)s, %(count)s fields: ")
    return [
        Told(text % {"form": label(form), "count": len(own)}, tuple(fact.label for fact in own))
        for form, own in of_form.items()
    ]


def _fact(name: str, form: str, text: str, reader: Reader) -> Fact:
    metadata = reader.design.metadata
    is_field = name in metadata.fields
    label = words.field_label(name, reader) if is_field else metadata.form_label(name)
    return Fact("", Kind.PROJECT, field=name, label=label, instrument=form, text=text)


def _shown(form: str, reader: Reader) -> list[str]:
    """The fields of a form that the reader may know of."""
    metadata = reader.design.metadata
    hidden = reader.design.hidden | metadata.identifier_fields | {metadata.record_id_field}
    return [
        name
        for name, row in metadata.fields.items()
        if row["form_name"] == form and name not in hidden and row["field_type"] not in _NO_FIELDS
    ]


def _choices(name: str, reader: Reader) -> str:
    """0分、1分; a yes or no; a number or a text has none."""
    metadata = reader.design.metadata
    if metadata.fields.get(name, {}).get("field_type") in _YES_NO:
        return joint().join([_("Yes"), _("No")])
    return joint().join(metadata.choices(name).values()) or _("no choices, it is typed in")


def _unit(name: str, reader: Reader) -> str:
    """μmol/L; where it is entered beside the value, the field that holds it."""
    metadata = reader.design.metadata
    unit = words.unit_behind(name, reader) or metadata.unit(name)
    beside = reader.design.unit_fields.get(name, "")
    if beside and beside not in reader.design.hidden:
        note = str(metadata.fields.get(beside, {}).get("field_note") or "")
        text = _("entered in the field “%(label)s”") % {"label": metadata.label(beside)}
        return text + words.bracketed(note)
    return unit or _("no unit is noted")


def _where(name: str, reader: Reader) -> str:
    """That it is collected: in which form, at which events."""
    form = reader.design.form_of(name) or name
    events = joint().join(_events(form, reader))
    label = reader.design.metadata.form_label(form) if name != form else ""
    return _("collected") + words.bracketed(label, events)


def _events(form: str, reader: Reader) -> Iterator[str]:
    forms = reader.design.context.forms_by_event
    for event in reader.design.event_order:
        if event and form in forms.get(event, ()) and form not in reader.design.repeating_forms:
            yield words.event_name(event, reader)
