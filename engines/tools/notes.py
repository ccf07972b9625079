"""What was asked of a subject and can't be told, with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from engines.tools.context import ToolContext
from engines.tools.reading import named_by, started
from integrations.fields import identifies
from integrations.privacy import Gate
from projects.metadata import StudyMetadata
from projects.records import RecordData

_FEW = 3


@dataclass(frozen=True)
class Note:
    """A note; `must`: no answer may pass over it."""

    text: str
    must: bool = False


def withheld(label: str) -> str:
    """An identifier, or what may not leave: said without saying whether it is filled in."""
    return _("%(label)s is not shown by the assistant; please look it up in REDCap") % {
        "label": label
    }


def is_withheld(asked: str, gate: Gate) -> bool:
    """Whether a name that is no field asks for an identifier or for genes all the same."""
    return identifies("", asked) or gate.drops("", asked)


def of_fields(
    context: ToolContext, data: RecordData, wanted: Sequence[str], found: Collection[str]
) -> Iterator[Note]:
    """What is never shown, not exported, not filled in (anywhere, or where the form was saved), in the
    order of `wanted`; a repeating form without an instance is one note."""
    told: set[str] = set()
    for name in wanted:
        note = _of_field(context, data, name, found, len(wanted) <= _FEW)
        if name != context.metadata.record_id_field and note and note.text not in told:
            told.add(note.text)
            yield note


def _of_field(
    context: ToolContext, data: RecordData, name: str, found: Collection[str], few: bool
) -> Note | None:
    metadata = context.metadata
    label, form = metadata.label(name), str(metadata.fields[name]["form_name"])
    if name in metadata.identifier_fields or context.gate.drops(name, label):
        return Note(withheld(label), must=True)
    if name in {column.partition("___")[0] for column in data.missing_columns}:
        return Note(_("%(label)s could not be read") % {"label": label}, must=True)
    if form in named_by(metadata):
        return (
            None if _has_instance(data, form) else Note(_none(metadata.form_label(form)), must=True)
        )
    if name not in found:
        text = _("%(label)s is not filled in") % {"label": label}
        return Note(text, must=label in context.question)
    places = _blank_places(metadata, data, name, form) if few else []
    if not places:
        return None
    told = "、".join(places[:_FEW]) + ("…" if len(places) > _FEW else "")
    text = _("%(label)s (%(where)s) is not filled in") % {"label": label, "where": told}
    return Note(text, must=True)


def _none(form: str) -> str:
    return _("%(form)s: none recorded (the form is not filled in)") % {"form": form}


def _has_instance(data: RecordData, form: str) -> bool:
    return any(row.get("redcap_repeat_instrument") == form for row in data.rows)


def _blank_places(metadata: StudyMetadata, data: RecordData, name: str, form: str) -> list[str]:
    """Events whose form was saved without this field; checkboxes tell themselves."""
    if metadata.fields[name]["field_type"] == "checkbox":
        return []
    return [
        metadata.event_label(str(row.get("redcap_event_name", "")))
        for row in data.rows
        if name in row and not str(row[name]).strip() and started(row, form)
    ]
