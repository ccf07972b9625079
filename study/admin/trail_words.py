"""What an entry of the trail changed, in words: names of things and values as people know them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache
from typing import Any, ClassVar

from django.apps import apps
from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import Field, JSONField, Model
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.timezone import localtime
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField
from core.house.request_cache import once
from projects import actors, audit
from projects.models import AuditEntry, Role
from projects.models.accounts import TokenScope

# Things that are no column of what the entry speaks of.
NAMES: dict[str, Promise] = {
    "alias": _("alias"),
    "days": _("days"),
    "share": _("share in %"),
    "since": _("from"),
    "until": _("until"),
    "seed": _("seed of the sample"),
    "total": _("in total"),
    "critical": _("critical entries"),
    "rest": _("other entries"),
    "entries": _("entries"),
    "mark": _("mark"),
    "questions": _("questions"),
    "field": _("REDCap field"),
    "fields": _("fields"),
    "rows": _("rows"),
    "model": _("list"),
    "filter": _("narrowed by"),
    "diff": _("lines"),
    "day": _("day"),
    "week": _("week"),
    "applied": _("written"),
    "waiting": _("waiting for a person"),
    "dropped": _("dropped"),
    "memories": _("memories"),
    "deleted": _("deleted"),
    "lines": _("lines"),
    "user_id": _("user"),
    "doors": _("ways of access"),
    "count": _("how many"),
    "people": _("of whom"),
    "decision": _("decision"),
    "message": _("what it said"),
    "final_state": _("end"),
    "reviewers": _("reviewers"),
    "subjects": _("subjects"),
    "skill": _("skill"),
    "rule": _("rule"),
    "rules": _("rules of checks"),
    "state": _("status"),
    "status": _("status"),
    "feedback": _("feedback"),
    "category": _("category"),
    "version": _("version"),
    "kind": _("kind"),
    "type": _("kind"),
    "digest": _("digest"),
    "passages": _("passages"),
    "present": _("in REDCap now"),
    "added": _("added"),
    "changed": pgettext_lazy("trail", "changed"),
    "vanished": _("gone from REDCap"),
    "moved": _("moved to another site"),
    "address": _("address"),
    "alert": _("alert"),
    "answer": _("answer"),
    "cap": _("runs at a time"),
    "for": _("for whom"),
    "hour": _("hour"),
    "is_active": _("active"),
    "key": _("key"),
    "on": _("on"),
    "door": _("decided in"),
    "open_findings": _("open findings"),
    "shown": _("evidence shown"),
    "project": _("study"),
    "seen": _("what was seen"),
    "signed": _("signed"),
    "unblinded": _("unblinded"),
    "values_read_again": _("values read again"),
    "visit": _("visit"),
    "what": _("what"),
    "assignee": _("assigned to"),
    "due_on": _("due date"),
    "batch": _("batch"),
    "rerun_of": _("repeats"),
    "expires_at": _("expires"),
    "form": _("form"),
    "keywords": _("keywords"),
    "locked_out": _("locked out"),
    "login": _("login"),
    "name": _("name"),
    "of": _("of"),
    "reason": _("reason"),
    "scopes": _("rights"),
    "task_id": _("card"),
    "user": _("user"),
    "wecom_userid": _("WeCom userid"),
    "words": _("words"),
}
# Words that stand in things which are no column.
VALUES: dict[str, Mapping[str, Any]] = {
    "decision": {"approve": _("approved"), "reject": _("rejected")},
    "feedback": {"thumbs_up": "👍", "thumbs_down": "👎"},
    "reason": {"too_long": _("Too long"), "inaccurate": _("Inaccurate"), "unclear": _("Unclear")},
    "category": {"own": _("of themselves"), "proposal": _("proposal for the hot memory")},
    "doors": {"console": _("console"), "chat": _("chat"), "api": _("API")},
    "reviewers": dict(Role.choices),
    "mark": {"seen": _("marked as seen"), "question": _("marked as a question")},
    "role": dict(Role.choices),
    "scopes": dict(TokenScope.choices),
}
# Things that hold the words of a column with another name.
COLUMNS = {"kind": "action_type"}
_LONG = 80
Told = Callable[[str], str]


@dataclass(frozen=True)
class Change:
    """One thing with its value before and after; `diff`: the lines of a long one that differ."""

    name: str
    old: str
    new: str
    diff: tuple[str, ...] = ()


class TrailWords:
    """Of a page of the console: how stored words of its things are told, by the thing's name in an entry."""

    value_words: ClassVar[Mapping[str, Told]]


@cache
def _value_words() -> dict[str, Told]:
    pages = (one for one in admin.site._registry.values() if isinstance(one, TrailWords))
    return {name: told for page in pages for name, told in page.value_words.items()}


def model_of(entry: AuditEntry) -> type[Model] | None:
    """The kind of thing the entry speaks of."""
    return _kinds().get(entry.object_type)


@cache
def _kinds() -> dict[str, type[Model]]:
    return {str(one._meta.model_name): one for one in reversed(apps.get_models())}


def object_of(entry: AuditEntry) -> tuple[str, str]:
    """What kind of thing it is, in words, and the address of its page; "" where it has none any more."""
    model = model_of(entry)
    if model is None:
        return entry.object_type, ""
    kind = str(model._meta.verbose_name)
    if model not in admin.site._registry:
        return kind, ""
    try:
        is_there = model._default_manager.filter(pk=entry.object_id).exists()
    except (ValueError, TypeError):
        return kind, ""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    return kind, reverse(name, args=[entry.object_id]) if is_there else ""


def changes_of(entry: AuditEntry) -> list[Change]:
    """Every thing that differs, or was said, in the order it was noted."""
    old, new = _as_mapping(entry.old), _as_mapping(entry.new)
    model = model_of(entry)
    names = [*dict.fromkeys([*old, *new])]
    pairs = ((name, old.get(name), new.get(name)) for name in names)
    found = (_change(model, *pair) for pair in pairs if not (pair[1] == pair[2] and old and new))
    return [one for one in found if one.old or one.new]


def changes_in_short(entry: AuditEntry, *, most: int) -> list[tuple[str, str]]:
    """(what, its value before and after) in at most about so many signs, for one line."""
    found: list[tuple[str, str]] = []
    for one in changes_of(entry):
        value = " → ".join(filter(None, [one.old, one.new])) if not one.diff else "…"
        most -= len(one.name) + len(value)
        if most < 0:
            return [*found, (one.name, "…")]
        found.append((one.name, value))
    return found


def _as_mapping(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    return {} if value is None else {"": value}


def _change(model: type[Model] | None, name: str, old: Any, new: Any) -> Change:
    column = _column(model, name)
    told = _value_words().get(name)
    before, after = (_worded(name, old, column, told), _worded(name, new, column, told))
    is_long = max(len(before), len(after)) > _LONG or "\n" in before + after
    diff = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    marks = ("---", "+++", "@@")
    lines = tuple(line for line in diff if not line.startswith(marks)) if is_long else ()
    return Change(_name(name, column), before, after, lines)


def _column(model: type[Model] | None, name: str) -> Field[Any, Any] | None:
    try:
        found = model._meta.get_field(COLUMNS.get(name, name)) if model and name else None
    except FieldDoesNotExist:
        return None
    return found if isinstance(found, Field) else None


def _name(name: str, column: Field[Any, Any] | None) -> str:
    if name in NAMES:
        return str(NAMES[name])
    return str(column.verbose_name) if column else name.replace("_", " ")


def _worded(name: str, value: Any, column: Field[Any, Any] | None, told: Told | None) -> str:
    """A value as people know it: labels for stored words, names for keys of rows, lines for what is nested."""
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(column, JSONField | EncryptedJSONField) and isinstance(value, list | Mapping):
        return json.dumps(value, ensure_ascii=False, indent=1)
    if isinstance(value, list):
        parts = [_worded(name, one, column, told) for one in value]
        return ("\n" if any(len(one) > _LONG for one in parts) else "、").join(parts)
    if isinstance(value, Mapping):
        return _lines(value)
    word = str(value)
    if column is not None and column.is_relation:
        return _row(column, word)
    labels = dict(column.flatchoices) if column and column.choices else VALUES.get(name, {})
    if word in labels:
        return str(labels[word])
    if name == "model" and (model := _kinds().get(word)):
        return str(model._meta.verbose_name_plural)
    return told(word) if told else word


def _lines(value: Mapping[str, Any], indent: str = "") -> str:
    """A nested value, a line a thing, each level further in."""
    lines = []
    for key, one in value.items():
        name = f"{indent}{_name(str(key), None)}"
        if isinstance(one, Mapping) and one:
            lines += [f"{name}:", _lines(one, f"{indent}  ")]
        else:
            lines.append(f"{name}: {_worded(str(key), one, None, _value_words().get(str(key)))}")
    return "\n".join(lines)


def _row(column: Field[Any, Any], key: str) -> str:
    """What a row is called that is spoken of by its key; the key where it is gone."""
    model: Any = column.related_model
    try:
        row = once(("trail", model, key), lambda: model._default_manager.filter(pk=key).first())
    except (ValueError, TypeError, ValidationError):
        return key
    return str(row) if row else key


def searched_words(entry: AuditEntry) -> list[str]:
    """All words that list and page show of an entry, for the search."""
    action = audit.actions().get(entry.action)
    model = model_of(entry)
    shown = [
        actors.describe_actor(entry.actor),
        entry.login,
        gettext(action) if action else "",
        entry.action,
    ]
    shown += [entry.label, entry.record_id, entry.reason]
    shown += [
        str(model._meta.verbose_name) if model else "",
        f"{localtime(entry.at):%Y-%m-%d %H:%M:%S}",
    ]
    return shown + [text for one in changes_of(entry) for text in (one.name, one.old, one.new)]
