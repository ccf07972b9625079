"""The actions of the Memory Manager: load_context, save_info, summarize (seed 004, 5 to 7)."""

from __future__ import annotations

from datetime import datetime

from django.utils.timezone import now
from pydantic import TypeAdapter

from house.db import atomic
from memory.log import feedback
from memory.people import (
    extraction,
    fact_store,
    saving,
    tools,
)
from memory.people.completeness import completeness
from memory.people.extraction import Brief, Heard
from memory.people.narrative import ENOUGH, narrate, profile
from memory.people.results import (
    Input,
    LoadInput,
    LoadOutput,
    Output,
    SaveInput,
    SaveOutput,
    SummarizeOutput,
)
from memory.people.schemas import current
from projects.models import Member

_INPUT: TypeAdapter[Input] = TypeAdapter(Input)


def invoke(member: Member, given: object) -> Output:
    """Run an action by its documented input.

    Raises pydantic.ValidationError, memory.people.extraction.ExtractorDown.
    """
    asked = _INPUT.validate_python(given)
    if isinstance(asked, LoadInput):
        return load_context(member, asked.query)
    if isinstance(asked, SaveInput):
        return save_info(member, asked, at=now())
    return summarize(member)


def load_context(member: Member, query: str) -> LoadOutput:
    """What is known about the member; one turn, one tool call, no model."""
    rows = tools.get_user_context(member, query)
    summary = narrate(current(), rows, ()) if len(rows) >= ENOUGH else None
    return LoadOutput(
        memories=[tools.as_memory(row) for row in rows],
        user_profile_summary=summary,
        total_memories=len(rows),
    )


def save_info(member: Member, given: SaveInput, *, at: datetime) -> SaveOutput:
    """Read a message with the model and keep what holds. Raises ExtractorDown.

    `given.assistant_message` is no source: the model does not get it.
    """
    heard = hear(member, given)
    with atomic():
        fact_store.claim(member.project_id, member.identity)
        return keep(member, given, heard, at=at)


def hear(member: Member, given: SaveInput) -> Heard:
    """What the model points at in the user's words; outside of any transaction. Raises ExtractorDown."""
    known = {**fact_store.known(member), **(given.existing_info or {})}
    return extraction.hear(Brief(member, current(), given.user_message, known))


def keep(member: Member, given: SaveInput, heard: Heard, *, at: datetime) -> SaveOutput:
    """Store what holds of it; inside the caller's transaction and `fact_store.claim`."""
    heard.save()
    schema = current()
    return saving.save(
        member=member,
        schema=schema,
        found=extraction.grounded(heard, schema),
        at=at,
        existing=given.existing_info,
    )


def summarize(member: Member) -> SummarizeOutput:
    """The profile, how complete it is, and one paragraph; only what is kept, without a model."""
    schema = current()
    rows = tools.get_user_context(member, "")
    known = fact_store.known(member)
    done = completeness(schema, known)
    return SummarizeOutput(
        user_profile=profile(schema, rows, feedback.of(member)),
        completeness=done,
        narrative_summary=narrate(schema, rows, done.missing_fields),
    )
