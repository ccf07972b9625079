"""From grounded fields to rows: skip, supersede, ask, or leave forgotten (issue 4, "De-duplication")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.timezone import now

from memory.hot import asked, similarity
from memory.hot.tombstones import Guard
from memory.models import MemoryQuestion, UserMemory
from memory.people import fact_store, forgotten
from memory.people.grounding import Grounded, plain
from memory.people.results import SavedMemory, SaveOutput
from memory.people.schemas import Schema
from projects import audit
from projects.models import Member

PREFERENCES = "偏好"
# Letters that say nothing once the fields of a statement are taken out of it.
_FILLERS = "请你帮我记住一下得的是了哦啊呢然后另外还有也又再都"


def save(
    *,
    member: Member,
    schema: Schema,
    found: Sequence[Grounded],
    at: datetime,
    existing: Mapping[str, Any] | None = None,
) -> SaveOutput:
    """Keep what is new; inside the caller's transaction and `fact_store.claim`. `at`: when the message came.

    `existing` is what the caller knows besides the stored rows (`existingInfo`).
    """
    clear, torn = _contradictions(found)
    fresh: list[Grounded] = []
    skipped: list[str] = []
    for one in clear:
        if _is_known(member, one, existing or {}, at):
            skipped.append(one.slot.name)
        elif not forgotten.holds(
            member, line(schema, one.slot.name, fact_store.detail_of(one)), one, at
        ):
            fresh.append(one)
    kept = keep(member, schema, [(one.slot.name, fact_store.detail_of(one)) for one in fresh], at)
    _ask(member, torn)
    _replace_statements(member, [one.quote for one in fresh], kept)
    return SaveOutput(
        extracted_info=_info(fresh),
        saved_count=len(kept),
        saved_memories=[
            SavedMemory.model_validate(
                {"memoryType": row.memory_type, "content": row.content, "field": row.field}
            )
            for row in kept
        ],
        skipped_fields=list(dict.fromkeys(skipped)),
    )


def _contradictions(
    found: Sequence[Grounded],
) -> tuple[list[Grounded], dict[str, list[Grounded]]]:
    """Fields of one value that a message gives several of are asked, not stored."""
    by_field: dict[str, list[Grounded]] = defaultdict(list)
    for one in found:
        by_field[one.slot.name].append(one)
    torn = {
        name: given for name, given in by_field.items() if len(given) > 1 and not given[0].slot.many
    }
    return [one for one in found if one.slot.name not in torn], torn


def _is_known(member: Member, one: Grounded, existing: Mapping[str, Any], at: datetime) -> bool:
    """Whether it is kept already, or something else was said of it since."""
    told = existing.get(one.slot.name)
    values = told if isinstance(told, list) else [] if told is None else [told]
    given = [{"value": value, "plain": plain(str(value)), "vague": False} for value in values]
    rows = list(fact_store.active(member))
    telling = [row for row in rows if one.slot.name in fact_store.details(row)]
    held = [fact_store.details(row)[one.slot.name] for row in telling]
    newer = not one.slot.many and any(row.created_at > at for row in telling)
    if newer or fact_store.same(one, [*given, *held]):
        return True
    near = [detail["said"] for detail in held] if one.slot.kind == "text" and one.slot.many else []
    if one.slot.name == PREFERENCES:
        near += [row.content for row in rows if row.field == fact_store.STATEMENT]
    return any(
        similarity.repeats(similarity.pieces(text), similarity.pieces(one.said)) for text in near
    )


def line(schema: Schema, field: str, detail: fact_store.Detail) -> str:
    """A field as a memory of its own reads."""
    return fact_store.content(schema.row(field), {field: detail})


def keep(
    member: Member, schema: Schema, told: Sequence[tuple[str, fact_store.Detail]], at: datetime
) -> list[UserMemory]:
    """Write (field, detail): one row for the fields of one memory; what an editor removed is only proposed.

    A field that is clear now is not asked any more. Inside the caller's transaction and `fact_store.claim`.
    """
    guard = Guard(member.project)
    together: dict[tuple[str, str, bool], dict[str, fact_store.Detail]] = {}
    for name, detail in told:
        slot = schema.slot(name)
        removed = guard.blocks(line(schema, name, detail), profile=member.identity)
        value = detail["plain"] if slot and slot.many else ""
        place = (schema.row(name).fields[0], value, removed)
        together.setdefault(place, {})[name] = detail
    kept = [
        fact_store.write(member, schema, schema.row(first), held, at=at, proposed=removed)
        for (first, _value, removed), held in together.items()
    ]
    for row in kept:
        if row.category == fact_store.PROPOSAL:
            asked.propose(project=member.project, row=row)
    settled = MemoryQuestion.objects.filter(
        project_id=member.project_id,
        user_id=member.identity,
        field__in=[name for name, _detail in told],
    )
    options = [[option["quote"] for option in question.options] for question in settled]
    _replace_torn(member, options, kept)
    settled.delete()
    if kept:
        fields = [name for row in kept for name in row.field.split("+")]
        audit.record("memory.learn", actor=member, project=member.project, new={"fields": fields})
    return kept


def _ask(member: Member, torn: Mapping[str, Sequence[Grounded]]) -> None:
    for name, given in torn.items():
        MemoryQuestion.objects.update_or_create(
            project_id=member.project_id,
            user_id=member.identity,
            field=name,
            defaults={
                "options": [fact_store.detail_of(one) for one in given],
                "asked_at": None,
                "created_at": now(),
            },
        )


def _replace_statements(member: Member, quotes: Sequence[str], kept: Sequence[UserMemory]) -> None:
    """A statement kept word for word gives way to the fields that say all of it."""
    if not kept:
        return
    for row in fact_store.active(member).filter(field=fact_store.STATEMENT):
        left = plain(row.evidence)
        for quote in quotes:
            left = left.replace(plain(quote), "", 1)
        if left != plain(row.evidence) and not left.strip(_FILLERS):
            UserMemory.objects.filter(pk=row.pk).update(superseded_by=kept[0])


def _replace_torn(
    member: Member, options: Sequence[Sequence[str]], kept: Sequence[UserMemory]
) -> None:
    """A statement that says all the values among which the member has chosen holds no more."""
    if not (kept and options):
        return
    torn = [
        row.pk
        for row in fact_store.active(member).filter(field=fact_store.STATEMENT)
        if any(all(plain(q) in plain(row.evidence) for q in quotes) for quotes in options)
    ]
    UserMemory.objects.filter(pk__in=torn).update(superseded_by=kept[0])


def _info(fresh: Sequence[Grounded]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in fresh:
        if one.slot.many:
            found.setdefault(one.slot.name, []).append(one.value)
        else:
            found[one.slot.name] = one.value
    return found
