"""Whether a message may hold something new about its sender (decisions.md, "004 trigger table"). Offline."""

from __future__ import annotations

import re

from memory.people import (
    about_self,
    clauses,
    commands,
    fact_store,
)
from memory.people.grounding import plain
from memory.people.schemas import Schema, current, pattern
from projects.models import Member

_FIRST = re.compile(
    r"我|本人|咱|以后|今后|从现在起|每次|记住|别再|不要再|\b(?:I|I'm|my|me)\b", re.IGNORECASE
)
_TWO = 2


def personal(text: str, schema: Schema) -> list[str]:
    """The clauses in which the sender seems to say something of themselves that the schema knows."""
    said = clauses.folded(text)
    if commands.parse(said):
        return []
    told = [
        clause.text
        for clause in clauses.split(said)
        if clause.states
        and clause.who != "other"
        and not commands.parse(clause.text)
        and not about_self.is_study_rule(clause.text)
    ]
    cues = [slot.cue for slot in schema.said if slot.cue]
    hits = {clause: sum(bool(pattern(cue).search(clause)) for cue in cues) for clause in told}
    # Without "I" it takes more than a word that happens to fit.
    enough = 1 if _FIRST.search(said) else _TWO
    found = [clause for clause, count in hits.items() if count]
    return found if sum(hits.values()) >= enough else []


def has_news(member: Member, text: str) -> bool:
    """Whether the Memory Manager should read this message: something personal that is not kept yet."""
    schema = current()
    found = personal(text, schema)
    if not found:
        return False
    quotes = "\n".join(plain(quote) for quote in _quotes(member))
    return any(plain(clause) not in quotes for clause in found)


def _quotes(member: Member) -> list[str]:
    """What the fields rest on; a statement is kept, but not read yet."""
    rows = fact_store.active(member).exclude(field=fact_store.STATEMENT)
    return list(rows.values_list("evidence", flat=True))
