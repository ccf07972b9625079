"""A finding in the words of its study: field, place, value as the dictionary names them, rule, age."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.house import clock
from engines import labels, redcap_asks
from engines.models import PendingAction
from engines.pages.evidence import Ground, grounds
from engines.sop.brief import seen_alone
from engines.sop.checks.kinds import kind_of
from engines.sop.checks.serious import RULE
from engines.sop.findings import VERDICT, witnesses_of
from study.dictionary import parsed
from study.metadata import StudyMetadata
from study.models import Dictionary, RedcapQuery

M = TypeVar("M", bound=Model)


def worded(rows: QuerySet[M, M]) -> QuerySet[M, M]:
    """The rows, each with the digest of its study's dictionary: no statement a row is needed for words.

    Of any table whose rows are of one project each.
    """
    known = Dictionary.objects.filter(project_id=OuterRef("project_id")).values("digest")
    return cast(QuerySet[M, M], rows.annotate(dictionary_digest=Subquery(known)))


def rule_name(key: str) -> str:
    """What a standard check looks for; the key of a rule of the study. A model's judgement has one, too."""
    if key == VERDICT:
        return _("judged by the model")
    if key == redcap_asks.RULE:
        return _("Query of REDCap")
    if key.startswith(RULE):
        return _("Serious event not reported in time")
    kind = kind_of(key)
    return str(kind.label) if kind else key or "-"


def place_words(row: PendingAction | RedcapQuery) -> str:
    """Event, form of a repeat and its number, and the field."""
    return labels.place_of_finding(row, _metadata(row)) or "-"


def redcap_page(row: PendingAction | RedcapQuery) -> str:
    """The address that leads to the row's field in REDCap; "" where nobody knows where REDCap is."""
    if not (row.record_id and row.project.redcap_url):
        return ""
    asked = getattr(row, "asked", row)
    if isinstance(asked, RedcapQuery):
        return reverse("admin:engines_redcapquery_redcap", args=[asked.pk])
    return reverse("admin:engines_pendingaction_redcap", args=[row.pk])


def linked_place(row: PendingAction | RedcapQuery) -> str:
    """The place with the way to the very field in REDCap, which the page behind the link works out."""
    told, link = place_words(row), redcap_page(row)
    if not link:
        return told
    return format_html(
        '{} <a class="iit-link is-within" href="{}" target="_blank" rel="noopener noreferrer">REDCap</a>',
        told,
        link,
    )


def value_words(row: PendingAction) -> str:
    """What was found, with the label of a choice; nothing of a field that identifies somebody."""
    metadata, name = _metadata(row), row.field or ""
    if not row.value:
        return "-"
    if metadata is None or name not in metadata.fields:
        return str(row.value)
    if name in metadata.identifier_fields:
        return "-"
    return str(metadata.choices(name).get(row.value, row.value))


def age(row: PendingAction) -> str:
    """Days since it was found, until it ended: `3 days`."""
    days = max(((row.resolved_at or clock.now()) - row.created_at).days, 0)
    return ngettext("%(days)d day", "%(days)d days", days) % {"days": days}


def is_overdue(row: PendingAction) -> bool:
    """Whether it is open after the day it was to be done by."""
    due: Any = row.due_on
    return bool(due and row.open_key and due < clock.today(row.project.timezone))


def finding_summary(row: PendingAction) -> dict[str, Any]:
    """All of it, for the page of a finding."""
    rules = dict.fromkeys(rule_name(one[2]) for one in witnesses_of(row))
    return {
        "rule": "、".join(rules),
        "place": place_words(row),
        "value": value_words(row),
        "age": age(row),
        "overdue": is_overdue(row),
    }


def by_key(keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Findings by their keys, each beside its words, for a list within a page."""
    return {
        str(row.pk): {
            "finding": row,
            "place": place_words(row),
            "value": value_words(row),
            "rule": rule_name(row.rule_key),
        }
        for row in worded(PendingAction.objects.filter(pk__in=keys))
    }


def ground(row: PendingAction) -> Ground | None:
    """The rule in words and what it read, or what the model said; None where no dictionary was ever read."""
    metadata = _metadata(row)
    if metadata is None:
        return None
    still = {str(row.pk): None} if row.open_key else {}
    return next(iter(grounds(row.task_run, [seen_alone(row)], metadata, still)), None)


def _metadata(row: PendingAction | RedcapQuery) -> StudyMetadata | None:
    digest = getattr(row, "dictionary_digest", None)
    return parsed(row.project_id, digest) if digest else None
