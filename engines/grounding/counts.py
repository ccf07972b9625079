"""How many entries a repeating form has: a number of times is counted, never remembered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from engines.grounding.places import YES, Said, form_of, is_entry
from engines.grounding.values import Token
from engines.tools.results import Fact

COUNTER = re.compile(
    r"\s*(?:例次|次(?!访视)|条|项|种|件|起|处|例|个(?!月|工作日|周期|治疗周期|半衰期|中心))"
)


def counts_entries(clause: str, token: Token) -> bool:
    """Whether a number is said of how many there are: `2 次`, `3 条`."""
    end = token.start + len(token.text)
    ordinal = re.search(r"第\s*$", clause[: token.start]) is not None
    return not ordinal and COUNTER.match(clause, end) is not None


def is_counted(
    clause: str, token: Token, subject: str, said: Sequence[Said], facts: Sequence[Fact]
) -> bool:
    """Whether the number is how many entries of the named form (or of this name) the subject has."""
    own = [f for f in facts if f.record_id == subject and is_entry(f.where)]
    return token.value in {Decimal(n) for n in _possible(clause, token, said, own, subject) if n}


def has_entries(subject: str, facts: Sequence[Fact]) -> bool:
    """Whether entries of a repeating form were read of the subject."""
    return any(f.record_id == subject and is_entry(f.where) for f in facts)


def _possible(
    clause: str, token: Token, said: Sequence[Said], own: Sequence[Fact], subject: str
) -> set[int]:
    named = {w for one in said for rid, w in one.places if rid == subject and is_entry(w)}
    forms = {form_of(f.where) for f in own}
    if named:
        forms &= {form_of(where) for where in named}
    behind = clause[token.start :].casefold()
    telling = {f.where for f in own if f.value.casefold() in YES and _called(f, behind)}
    if telling:
        return {len(telling)}
    if named and not any(_named(f, clause.casefold()) for f in own):
        return {len(named)}
    called = {form_of(f.where) for f in own if _named(f, clause.casefold())} or forms
    found = {len({f.where for f in own if form_of(f.where) == form}) for form in called}
    return found | ({len(named)} if len(named) > 1 else set())


def _called(fact: Fact, text: str) -> bool:
    return any(len(name) > 2 and name.casefold() in text for name in fact.names)


def _named(fact: Fact, text: str) -> bool:
    form = form_of(fact.where).casefold().split()
    return (bool(form) and form[-1] in text) or any(
        len(name) > 1 and name.casefold() in text for name in fact.names
    )
