"""What the study collects, told from its dictionary: a field's form, unit and choices, a form's fields.

What identifies a person, and what is hidden from the reader, is never named.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from engines.assistant.say import words
from engines.assistant.say.case import Case
from engines.assistant.say.parts import Part, colon, joint
from engines.assistant.say.reader import Reader

_NO_FIELDS = ("descriptive", "file")
_YES_NO = ("yesno", "truefalse")


def word_dictionary(case: Case) -> list[Part]:
    """A sentence for each thing asked about, one for all fields of a form; all fields there are are told
    by the forms that hold them."""
    names, aspect, reader = case.question.select, case.question.aspect, case.reader
    design, metadata = reader.design, reader.design.metadata
    label = metadata.form_label
    if aspect == "forms" or (aspect in ("fields", "collected") and not names):
        forms = [str(row["instrument_name"]) for row in metadata.instruments]
        listed = tuple((label(form),) for form in forms if _shown(form, reader))
        return [Part(_("Forms"), listed, counted=True)]
    if aspect == "fields":
        asked = dict.fromkeys(design.form_of(name) or name for name in names)
        fields = {form: _shown(form, reader) for form in asked}
        return [
            Part(
                label(form),
                tuple((words.field_label(name, reader),) for name in own),
                noun="field",
                counted=True,
            )
            for form, own in fields.items()
            if own
        ]
    known = {"choices": _choices, "unit": _unit}.get(aspect, _where)
    return [
        Part(
            (words.field_label(name, reader) if name in metadata.fields else label(name))
            + colon()
            + known(name, reader)
        )
        for name in names
    ]


def _shown(form: str, reader: Reader) -> list[str]:
    """The fields of a form that the reader may know of."""
    metadata = reader.design.metadata
    hidden = reader.design.hidden | metadata.identifier_fields | {metadata.record_id_field}
    return [
        name
        for name, row in metadata.fields.items()
        if row["form_name"] == form and row["field_type"] not in _NO_FIELDS and name not in hidden
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
    design = reader.design
    form = design.form_of(name) or name
    label = design.metadata.form_label(form) if name != form else ""
    forms = {} if form in design.repeating_forms else design.context.forms_by_event
    events = [one for one in design.event_order if one and form in forms.get(one, ())]
    places = joint().join(words.event_name(one, reader) for one in events)
    return _("collected") + words.bracketed(label, places)
