"""What is kept about a user: reading, and writing a row over an older one (seed 004, 3 and 8)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.timezone import now

from house.crypto import digest
from language import spoken_numbers
from memory.models import UserMemory, UserProfile
from memory.people.grounding import Grounded
from memory.people.schemas import (
    IMPORTANCE,
    Row,
    Schema,
    Slot,
)
from projects.models import Member

PROPOSAL = "proposal"
STATEMENT = "statement"
Detail = dict[str, Any]
_WISH = re.compile(r"希望|喜欢|最好|倾向|想要|越.{1,4}越")


def rows(member: Member) -> QuerySet[UserMemory]:
    """Everything kept about a member, older values too."""
    return UserMemory.objects.filter(project_id=member.project_id, user_id=member.identity)


def active(member: Member, at: datetime | None = None) -> QuerySet[UserMemory]:
    """What holds now (or `at` a time); proposals about others are not among it."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=at or now())
    return rows(member).filter(lasting, superseded_by=None).exclude(category=PROPOSAL)


def holding(member: Member) -> list[UserMemory]:
    """The rows of `active`, for what is asked with every message."""
    return [*active(member).order_by()]


def details(row: UserMemory) -> Mapping[str, Detail]:
    """{field: detail} of a row, also of one that has its value alone."""
    held: dict[str, Detail] = row.details
    if held or row.field == STATEMENT:
        return held
    value = row.content if row.value is None else row.value
    return {row.field: {"value": value, "said": str(value), "plain": "", "quote": row.evidence}}


def known(member: Member) -> dict[str, Any]:
    """{field: value or list of values} that holds now, as `existingInfo` has it."""
    found: dict[str, Any] = {}
    for row in active(member).order_by("created_at"):
        for name, detail in details(row).items():
            held = found.get(name)
            both = [*held, detail["value"]] if isinstance(held, list) else [held, detail["value"]]
            found[name] = detail["value"] if held is None else both
    return found


def detail_of(one: Grounded) -> Detail:
    """A grounded field as it is stored."""
    return {
        "value": one.value,
        "said": one.said,
        "plain": one.plain,
        "quote": one.quote,
        "vague": one.vague,
        "context": one.context,
    }


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


def write(
    member: Member,
    schema: Schema,
    row: Row,
    fresh: Mapping[str, Detail],
    *,
    at: datetime,
    proposed: bool,
) -> UserMemory:
    """Keep new fields of one memory; its older version is superseded, not erased, its other fields go on.

    `proposed`: apart from what holds, until people decide. Inside the caller's `claim`.
    """
    slot = schema.slot(row.fields[0])
    value = next(iter(fresh.values()))["plain"] if slot and slot.many else ""
    key = _key(member, row, value, proposed)
    before = rows(member).filter(active_key=key).first()
    held = {**(before.details if before else {}), **fresh}
    held = {name: held[name] for name in row.fields if name in held}
    kind = UserMemory.Kind(_type(slot, held))
    if before:
        UserMemory.objects.filter(pk=before.pk).update(active_key=None)
    kept = UserMemory.objects.create(
        active_key=key,
        project_id=member.project_id,
        user_id=member.identity,
        memory_type=kind,
        importance=IMPORTANCE[kind],
        field="+".join(held),
        value=_value(held),
        details=held,
        content=content(row, held),
        category=PROPOSAL if proposed else _category(schema, held),
        evidence="\n".join(dict.fromkeys(one["quote"] for one in held.values() if one["quote"])),
    )
    kept.created_at = max(at, before.created_at) if before else at
    kept.save(update_fields=["created_at"])
    if before:
        UserMemory.objects.filter(pk=before.pk).update(superseded_by=kept)
    return kept


def _key(member: Member, row: Row, value: str, alone: bool) -> str:
    parts = ["active", str(member.project_id), member.identity, row.fields[0], value, str(alone)]
    return digest("\n".join(parts))


def _value(held: Mapping[str, Detail]) -> Any:
    values = {name: detail["value"] for name, detail in held.items()}
    return values if len(values) > 1 else next(iter(values.values()), None)


def _type(slot: Slot | None, fresh: Mapping[str, Detail]) -> str:
    types = slot.types if slot else ("FACT",)
    wish = any(_WISH.search(detail.get("context") or detail["quote"]) for detail in fresh.values())
    return "PREFERENCE" if wish and "PREFERENCE" in types else types[0]


def _category(schema: Schema, held: Mapping[str, Detail]) -> str:
    named = (str(detail["value"]) for detail in held.values())
    return next((name for name in named if name in schema.categories), "")


def content(row: Row, held: Mapping[str, Detail]) -> str:
    """The memory as one short sentence; a single field without a wording of its own is its value."""
    ordered = [name for name in row.order or row.fields if name in held]
    return "".join(_part(row, name, held[name]) for name in ordered) + row.suffix


def _part(row: Row, name: str, detail: Detail) -> str:
    fitting = (
        text
        for cue, text in row.when.get(name, ())
        if re.search(cue, detail.get("context") or detail["quote"])
    )
    template = next(fitting, row.parts.get(name, "{value}"))
    return template.format(value=detail["said"], said=detail["said"])


def same(one: Grounded, details_now: Sequence[Detail]) -> bool:
    """Whether a field says what is kept already, or says it less exactly."""
    for detail in details_now:
        if one.plain == detail["plain"] or _text(one.value) == _text(detail["value"]):
            return True
        loose = one.vague and not detail.get("vague") and not one.slot.many
        if loose and one.slot.kind in ("number", "amount") and _may_be(one.said, detail):
            return True
    return False


def _may_be(vague: str, detail: Detail) -> bool:
    """Whether an exact number that is kept is one that vague words may mean: 32 is, of 三十多."""
    said, kept = (
        spoken_numbers.find(vague),
        spoken_numbers.find(str(detail.get("said") or detail["value"])),
    )
    return len(said) == len(kept) == 1 and said[0].may_be(kept[0].value)


def _text(value: Any) -> str:
    return str(value).strip().casefold()
