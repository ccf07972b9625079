"""What is kept about a user: read, and written row by row (seed 004, 3 and 8; issue 4, "De-duplication").

A field that is grounded is skipped, supersedes, is asked about, or stays forgotten.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.timezone import now

from core.house.key_ring import digest
from core.language import spoken_numbers
from memory.hot import distill, similarity
from memory.hot.tombstones import Guard
from memory.models import MemoryQuestion, UserMemory, UserProfile
from memory.people.grounding import Grounded
from memory.people.quotes import letters_of
from memory.people.schemas import IMPORTANCE, Row, Schema, current
from memory.visibility import Scope, scope_of
from projects import audit
from projects.models import Member

Detail = dict[str, Any]
_WISH = re.compile(r"希望|喜欢|最好|倾向|想要|越.{1,4}越")
_PREFERENCES = "偏好"
# Letters that say nothing once the fields of a statement are taken out of it.
_FILLERS = "请你帮我记住一下得的是了哦啊呢然后另外还有也又再都"


def rows_of(member: Member) -> QuerySet[UserMemory]:
    """Everything kept about a member, older values too."""
    return UserMemory.objects.filter(project_id=member.project_id, user_id=member.identity)


def active(member: Member) -> QuerySet[UserMemory]:
    """What holds now; proposals about others are not among it."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=now())
    held = rows_of(member).filter(lasting, superseded_by=None)
    return held.exclude(category=UserMemory.PROPOSAL)


def get_user_context(member: Member, query: str, scope: Scope | None = None) -> list[UserMemory]:
    """What holds about the member, by importance, then by relevance to the query, then the newest first.

    A memory that names a record the member may not see (any more) is left out like a line of hot memory.
    `scope`: the member's, where this request has read it already.
    """
    words = _grams(query)
    rows = [*active(member).order_by()]
    if member.site and rows:
        scope = scope or scope_of(member)
        rows = [row for row in rows if scope.allows(row.content)]

    def rank(row: UserMemory) -> tuple[int, int, float]:
        shared = len(words & _grams(row.content))
        return -row.importance, -shared, -row.created_at.timestamp()

    return sorted(rows, key=rank)


@lru_cache(maxsize=2048)
def _grams(text: str) -> frozenset[str]:
    """Remembered: a user's memories are ranked with every message."""
    found = similarity.pieces(text)
    return found[0].grams if found else frozenset()


def details(row: UserMemory) -> Mapping[str, Detail]:
    """{field: detail} of a row, also of one that has its value alone."""
    held: dict[str, Detail] = row.details
    if held or row.is_statement:
        return held
    value = row.content if row.value is None else row.value
    return {row.field: {"value": value, "said": str(value), "plain": "", "quote": row.evidence}}


def known(member: Member) -> dict[str, Any]:
    """{field: value or list of values} that holds now, as `existingInfo` has it."""
    found: dict[str, list[Any]] = defaultdict(list)
    for row in active(member).order_by("created_at"):
        for name, detail in details(row).items():
            found[name].append(detail["value"])
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def claim(project_id: UUID, user_id: str) -> None:
    """Writing about a user is for one transaction at a time: others wait here until the caller's ends.

    What is kept is compared with what comes, and what is forgotten must not be written meanwhile.
    """
    mine = UserProfile.objects.filter(project_id=project_id, user_id=user_id)
    if not mine.update(user_id=user_id):
        UserProfile.objects.get_or_create(
            project_id=project_id, user_id=user_id, defaults={"last_at": now()}
        )
        mine.update(user_id=user_id)


def older(rows: Collection[UserMemory]) -> list[UserMemory]:
    """What these rows superseded, what that had superseded, and so on."""
    found: dict[UUID, UserMemory] = {}
    level = [row.pk for row in rows]
    while level:
        before = UserMemory.objects.filter(superseded_by__in=level).exclude(pk__in=found)
        level = [row.pk for row in before]
        found |= {row.pk: row for row in before}
    return list(found.values())


def add_new(member: Member, fresh: Sequence[Grounded], at: datetime) -> list[UserMemory]:
    """Keep grounded fields that are new, and the statements that they say all of give way to them."""
    kept = keep_fields(member, [(one.slot.name, one.detail) for one in fresh], at)
    if kept:
        for row in active(member).filter(field=UserMemory.STATEMENT):
            left = letters_of(row.evidence)
            for one in fresh:
                left = left.replace(letters_of(one.quote), "", 1)
            if left != letters_of(row.evidence) and not left.strip(_FILLERS):
                UserMemory.objects.filter(pk=row.pk).update(superseded_by=kept[0])
    return kept


def keep_fields(
    member: Member, told: Sequence[tuple[str, Detail]], at: datetime
) -> list[UserMemory]:
    """Write (field, detail): one row for the fields of one memory; what an editor removed is only proposed.

    A field that is clear now is not asked any more. Inside the caller's transaction and `claim`.
    """
    schema = current()
    guard = Guard(member.project)
    together: dict[tuple[str, str, bool], dict[str, Detail]] = {}
    for name, detail in told:
        slot = schema.slot(name)
        removed = guard.blocks(as_line(schema, name, detail), profile=member.identity)
        value = detail["plain"] if slot and slot.many else ""
        place = (schema.row(name).fields[0], value, removed)
        together.setdefault(place, {})[name] = detail
    kept = [
        _write(member, schema, schema.row(first), held, at=at, value=value, is_proposed=removed)
        for (first, value, removed), held in together.items()
    ]
    for row in kept:
        if row.is_proposal:
            distill.propose_now(project=member.project, row=row)
    _settle(member, {name for name, _detail in told}, kept)
    if kept:
        fields = [name for row in kept for name in row.field.split("+")]
        audit.record("memory.learn", actor=member, project=member.project, new={"fields": fields})
    return kept


def _write(
    member: Member,
    schema: Schema,
    row: Row,
    fresh: Mapping[str, Detail],
    *,
    at: datetime,
    value: str,
    is_proposed: bool,
) -> UserMemory:
    """Keep new fields of one memory; its older version is superseded, not erased, its other fields go on.

    `value`: tells rows of a field with many values apart; `is_proposed`: apart from what holds, until people
    decide.
    """
    place = [str(member.project_id), member.identity, row.fields[0], value, str(is_proposed)]
    key = digest("\n".join(["active", *place]))
    before = rows_of(member).filter(active_key=key).first()
    held = {**(before.details if before else {}), **fresh}
    held = {name: held[name] for name in row.fields if name in held}
    slot = schema.slot(row.fields[0])
    types = slot.types if slot else ("FACT",)
    is_wish = any(_WISH.search(one.get("context") or one["quote"]) for one in held.values())
    kind = UserMemory.Kind("PREFERENCE" if is_wish and "PREFERENCE" in types else types[0])
    named = (str(one["value"]) for one in held.values() if str(one["value"]) in schema.categories)
    if before:
        UserMemory.objects.filter(pk=before.pk).update(active_key=None)
    kept = UserMemory.objects.create(
        active_key=key,
        project_id=member.project_id,
        user_id=member.identity,
        memory_type=kind,
        importance=IMPORTANCE[kind],
        details=held,
        category=UserMemory.PROPOSAL if is_proposed else next(named, ""),
        **columns(row, held),
    )
    kept.created_at = max(at, before.created_at) if before else at
    kept.save(update_fields=["created_at"])
    if before:
        UserMemory.objects.filter(pk=before.pk).update(superseded_by=kept)
    return kept


def columns(row: Row, held: Mapping[str, Detail]) -> dict[str, Any]:
    """The columns of a memory that follow from its fields."""
    values = {name: detail["value"] for name, detail in held.items()}
    quoted = [detail["quote"] for detail in held.values() if detail["quote"]]
    return {
        "field": "+".join(held),
        "value": values if len(values) > 1 else next(iter(values.values()), None),
        "content": wording(row, held),
        "evidence": "\n".join(dict.fromkeys(quoted)),
    }


def as_line(schema: Schema, field: str, detail: Detail) -> str:
    """A field as a memory of its own reads."""
    return wording(schema.row(field), {field: detail})


def wording(row: Row, held: Mapping[str, Detail]) -> str:
    """The memory as one short sentence; a single field without a wording of its own is its value."""
    parts = []
    for name in row.order or row.fields:
        if name in held:
            said, told = held[name]["said"], held[name].get("context") or held[name]["quote"]
            fitting = (text for cue, text in row.when.get(name, ()) if re.search(cue, told))
            template = next(fitting, row.parts.get(name, "{value}"))
            parts.append(template.format(value=said, said=said))
    return "".join(parts) + row.suffix


def _settle(member: Member, fields: Collection[str], kept: Sequence[UserMemory]) -> None:
    """Close the questions about these fields; a statement that says all their values holds no more."""
    settled = MemoryQuestion.objects.filter(
        project_id=member.project_id, user_id=member.identity, field__in=fields
    )
    asked = [[letters_of(option["quote"]) for option in one.options] for one in settled]
    if kept and asked:
        torn = [
            row.pk
            for row in active(member).filter(field=UserMemory.STATEMENT)
            if any(all(quote in letters_of(row.evidence) for quote in quotes) for quotes in asked)
        ]
        UserMemory.objects.filter(pk__in=torn).update(superseded_by=kept[0])
    settled.delete()


def ask_about(member: Member, field: str, given: Sequence[Grounded]) -> None:
    """A field of one value of which a message gives several is asked about, not stored."""
    MemoryQuestion.objects.update_or_create(
        project_id=member.project_id,
        user_id=member.identity,
        field=field,
        defaults={
            "options": [one.detail for one in given],
            "asked_at": None,
            "created_at": now(),
        },
    )


def is_known(member: Member, one: Grounded, existing: Mapping[str, Any], at: datetime) -> bool:
    """Whether it is kept already, or something else was said of it since `at`.

    `existing` is what the caller knows besides the stored rows (`existingInfo`).
    """
    told = existing.get(one.slot.name)
    values = told if isinstance(told, list) else [] if told is None else [told]
    given = [{"value": value, "plain": letters_of(str(value)), "vague": False} for value in values]
    rows = list(active(member))
    telling = [row for row in rows if one.slot.name in details(row)]
    held = [details(row)[one.slot.name] for row in telling]
    newer = not one.slot.many and any(row.created_at > at for row in telling)
    if newer or any(_says(one, detail) for detail in [*given, *held]):
        return True
    near = [detail["said"] for detail in held] if one.slot.kind == "text" and one.slot.many else []
    if one.slot.name == _PREFERENCES:
        near += [row.content for row in rows if row.is_statement]
    said = similarity.pieces(one.said)
    return any(similarity.repeats(similarity.pieces(text), said) for text in near)


def _says(one: Grounded, kept: Mapping[str, Any]) -> bool:
    """Whether a field says what is kept already, or says it less exactly: 三十多 may be the 32 that is kept."""
    values = [str(value).strip().casefold() for value in (one.value, kept["value"])]
    if one.plain == kept["plain"] or values[0] == values[1]:
        return True
    loose = one.vague and not kept.get("vague") and not one.slot.many
    if not loose or one.slot.kind not in ("number", "amount"):
        return False
    said = spoken_numbers.find(one.said)
    exact = spoken_numbers.find(str(kept.get("said") or kept["value"]))
    return len(said) == len(exact) == 1 and said[0].may_be(exact[0].value)
