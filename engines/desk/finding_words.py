"""A finding in the words of its study: field, place, value as the dictionary names them, rule, age."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engines.desk.grounds import Ground, grounds
from engines.models import PendingAction
from engines.sop.checks.kinds import LABELS, kind_of
from engines.sop.soft import VERDICT
from house import clock
from privacy.identifying_fields import identifies
from study.dictionary import parsed
from study.metadata import StudyMetadata
from study.models import Dictionary


def worded(rows: QuerySet[PendingAction]) -> QuerySet[PendingAction]:
    """The rows, each with the digest of its study's dictionary: no statement a row is needed for words."""
    known = Dictionary.objects.filter(project_id=OuterRef("project_id")).values("digest")
    return rows.annotate(dictionary_digest=Subquery(known))


def rule(row: PendingAction) -> str:
    """What a standard check looks for; the key of a rule of the study."""
    return rule_name(row.rule_key)


def rule_name(key: str) -> str:
    """The same of a key; a model's judgement has a key, too."""
    if key == VERDICT:
        return _("judged by the model")
    kind = kind_of(key)
    return str(LABELS[kind]) if kind else key or "-"


def field(row: PendingAction) -> str:
    """The label of the field."""
    metadata = _metadata(row)
    return (metadata.label(row.field) if metadata else row.field) if row.field else "-"


def place(row: PendingAction) -> str:
    """Event, form of a repeat and its number, and the field."""
    metadata = _metadata(row)
    event = metadata.event_label(row.event) if metadata and row.event else row.event
    form = metadata.form_label(row.instrument) if metadata and row.instrument else row.instrument
    repeat = f"{form} #{row.instance}".strip() if row.instance else ""
    parts = (event, repeat, field(row) if row.field else "")
    return " · ".join(part for part in parts if part) or "-"


def value(row: PendingAction) -> str:
    """What was found, with the label of a choice; nothing of a field that identifies somebody."""
    metadata, name = _metadata(row), row.field or ""
    if not row.value:
        return "-"
    if metadata is None or name not in metadata.fields:
        return str(row.value)
    if name in metadata.identifier_fields or identifies(name, metadata.label(name)):
        return "-"
    return str(metadata.choices(name).get(row.value, row.value))


def age(row: PendingAction) -> int:
    """Days since it was found, until it ended."""
    end = row.resolved_at or clock.now()
    return max((end - row.created_at).days, 0)


def age_text(row: PendingAction) -> str:
    """`3 days`."""
    days = age(row)
    return ngettext("%(days)d day", "%(days)d days", days) % {"days": days}


def is_overdue(row: PendingAction) -> bool:
    """Whether it is open after the day it was to be done by."""
    due: Any = row.due_on
    return bool(due and row.open_key and due < clock.today(row.project.timezone))


def told(row: PendingAction) -> dict[str, Any]:
    """All of it, for the page of a finding."""
    return {
        "rule": rule(row),
        "place": place(row),
        "value": value(row),
        "age": age_text(row),
        "overdue": is_overdue(row),
    }


def by_key(keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Findings by their keys, each beside its words, for a list within a page."""
    return {
        str(row.pk): {"finding": row, "place": place(row), "value": value(row), "rule": rule(row)}
        for row in worded(PendingAction.objects.filter(pk__in=keys))
    }


def ground(row: PendingAction) -> Ground | None:
    """The rule in words and what it read, or what the model said; None where no dictionary was ever read."""
    metadata = _metadata(row)
    return next(iter(grounds(row.task_run, [row], metadata)), None) if metadata else None


def _metadata(row: PendingAction) -> StudyMetadata | None:
    digest = getattr(row, "dictionary_digest", None)
    return parsed(row.project_id, digest) if digest else None
