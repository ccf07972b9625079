"""Counts for an outside reader, of whom no difference of answers reveals a small cell (docs/mcp.md).

**What may be asked.** Counting arbitrary sets cannot be protected: whoever may count any A and A without x
subtracts, and no rounding helps where the asker chooses the sets (padding A until a count stands at a step
shows whether x is in it; noise is averaged away). So no set can be chosen. There are only the tables that
the study has anyway: all subjects, a coded field with one value a subject (or `@site`, `@status`), and two
of these crossed. Each answer is cut out of one such table, whichever way it was asked; a condition is nothing
but the choice of its cells. `subjects`, other operators, `any` / `none`, periods, `as_of`, means and extremes
are refused by the form of the query, before anything is read.

**What is told.** A count c is told as the interval from n·(c // n), n numbers wide: below n as "<n" (0 too,
and choices that nobody has are listed, so that absence tells nothing), else as "10-14". So is the whole.

**Why differences tell nothing.** Let A be within B. If B without A has fewer than n subjects, both are told in
the same interval (then it may have anything from 0 to n - 1) or in neighbouring ones (then anything from
1 to 2n - 1): never one number. That holds for any two answers, also of other fields and of readers of other
sites, since it only uses that each count is told by its interval.

**Why sums tell nothing.** The cells of a line add up to its margin, and that can narrow a small cell: five
cells of 4 with a margin told as 20-24 must all be 4; a column of 14s told as 70-74 are all 14, and then a row
told as 10-14 has nobody else. A reader may know besides that nobody is without a site, a status or a required
field. So the numbers of a table are kept back as a whole (complementary suppression) where some small cell
could not be each number from 0 to n - 1 with everything told in the same words (`margins`).

**Why other tables tell nothing.** Sites of 13 and 14 told as 10-14 each make at most 28 of 25-29; then 25 women
leave 3 men at most. So a table is kept back also where its cells narrow the total or a margin. What is told
leaves each its whole interval then: whichever number a small cell takes, other fields can go with it.

**What is left.** A program that asks every day sees when a count leaves its interval; fields of which one says
more than the other (a kind and its sub-kinds) narrow each other's intervals; so may three fields that go
together, each crossed with each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any

from django.utils.translation import gettext as _

from engines.mcp_server.margins import Cell, is_kept_back, told_count
from projects.models import Member, Project
from study import door
from study.blinding import mask
from study.design import design_of
from study.facts import Answer
from study.query.errors import QueryError
from study.query.names import Names
from study.query.schema import StudyQuery, Test, parse_query
from study.query.tree import SUBJECT, Type

MOST_KEYS = 2
Choices = Mapping[str | None, str]


def answer(
    project: Project, member: Member, said: Mapping[str, Any], blinded: frozenset[str]
) -> dict[str, Any]:
    """The Answer to a counting StudyQuery: no subjects, counts as intervals by `project.small_cell`.

    A count that is kept back is null. `blinded`: as of `study.door`. Raises study.query.errors.QueryError,
    also for what is no such count.
    """
    # A token for counts alone is told them as they are where the study keeps none back.
    least = project.small_cell or 1
    query = parse_query(said)
    keys, named = _keys(query)
    # The one table that all ways to ask for these fields are cut out of.
    by = sorted({*keys.values()})
    table_query = {"aggregate": "count", **({"by": by} if by else {})}
    # The query as it stands is asked, too: what is wrong in it is told at its own place.
    _own, answered = door.ask_all(project, member, [query, table_query], blinded=blinded)
    names = _names(project, member, blinded, _sites(answered, by))
    for at, key in keys.items():
        _check(names, key, at)
    total = answered.basis.subjects
    choices = {key: _choices(names, key) for key in by}
    table = _table(answered, choices)
    filled = [at for at, key in enumerate(by) if _is_filled(names, key)]
    is_open = not is_kept_back(table, total, least, filled)
    wanted = {key: _code(choices[key], said) for key, said in named.items()}
    cells = [cell for cell in table if _is_meant(cell, choices, wanted)]
    count = sum(table[cell] for cell in cells) if by else total
    return {
        "facts": [] if query.by else [_fact(told_count(count, least) if is_open else None)],
        "groups": [
            _group(
                [cell[by.index(key)] for key in query.by], told_count(table[cell], least), is_open
            )
            for cell in (cells if query.by else ())
        ],
        "undecided": [],
        "basis": {"subjects": told_count(total, least), "rows": None, "missing": None},
        "left_out": 0,
        "read_at": answered.read_at,
    }


def _group(by: list[str | None], value: str, is_open: bool) -> dict[str, Any]:
    shown = value if is_open else None
    return {"by": by, "subjects": [], "count": shown, "rows": None, "value": shown}


def _fact(value: str | None) -> dict[str, Any]:
    text = _("kept back: small groups could be worked out") if value is None else value
    return {"id": "F1", "kind": "aggregate", "value": value, "text": text}


def _keys(query: StudyQuery) -> tuple[dict[str, str], dict[str, str]]:
    """Where a field stands -> the field, and field -> the choice that a condition names.

    Raises QueryError for a query of another form.
    """
    for name in sorted(query.model_fields_set - {"aggregate", "where", "by"}):
        if getattr(query, name):
            raise QueryError(name, _refusal())
    if query.aggregate != "count":
        raise QueryError("aggregate", _refusal())
    keys = {f"by[{at}]": name for at, name in enumerate(query.by)}
    wanted = {}
    for at, one in enumerate(query.where):
        match one:
            case Test(field=str(name), op="=", value=str() | int() as value, holds="any"):
                keys[f"where[{at}].field"], wanted[name] = name, str(value)
            case _:
                raise QueryError(f"where[{at}]", _refusal())
    if len({*keys.values()}) != len(keys) or len(keys) > MOST_KEYS:
        raise QueryError("where" if query.where else "by", _refusal())
    return keys, wanted


def _refusal() -> str:
    return _(
        "This study tells programs only counts: by up to two coded fields with one value a subject, "
        "as groups or as conditions with “=”."
    )


def _sites(table: Answer, by: Sequence[str]) -> set[str]:
    """The sites that a table has subjects of; none where it is not by site."""
    if "@site" not in by:
        return set()
    return {str(site) for group in table.groups if (site := group.by[by.index("@site")])}


def _names(
    project: Project, member: Member, blinded: frozenset[str], seen: Collection[str]
) -> Names:
    hidden = mask.mask_of_member(project, member).fields
    design = design_of(project, blinded | hidden)
    # All that the reader may see, with subjects or without: what is left out would be told to have none.
    own = {member.site} if member.site else design.metadata.sites.keys()
    return Names(design, {*seen, *own})


def _check(names: Names, key: str, at: str) -> None:
    """Raises QueryError for what is no coded field with one value a subject."""
    if key in ("@subject", "event") or ":" in key:
        raise QueryError(at, _refusal())
    source = names.source(key, at)
    several = source.form != SUBJECT and (
        names.repeats(source.form) or len(names.events_of(source.form)) > 1
    )
    if source.type is not Type.CODE or several:
        raise QueryError(at, _refusal())


def _is_filled(names: Names, key: str) -> bool:
    """Whether a reader may know that everybody has a value of this field."""
    if key in ("@site", "@status"):
        return True
    column = names.source(key, "by").column
    row = names.design.metadata.fields.get(column.name, {}) if column else {}
    return row.get("required_field") == "y"


def _choices(names: Names, key: str) -> Choices:
    """Every choice of a field with its label, and None for the blank."""
    found = names.sites if key == "@site" else names.source(key, "by").choices
    return {**dict[str | None, str](found.items()), None: ""}


def _code(choices: Choices, said: str) -> str:
    """The code that a condition names, by code or by label; what is none has no cell."""
    return next((code for code, label in choices.items() if code and label == said), said)


def _table(answered: Answer, choices: Mapping[str, Choices]) -> dict[Cell, int]:
    counts = dict[Cell, int].fromkeys(product(*choices.values()), 0)
    return counts | {_cell(group.by): len(group.subjects) for group in answered.groups}


def _cell(by: Sequence[Any]) -> Cell:
    return tuple(None if one is None else str(one) for one in by)


def _is_meant(
    cell: Cell,
    choices: Mapping[str, Choices],
    wanted: Mapping[str, str],
) -> bool:
    return all(cell[at] == wanted[key] for at, key in enumerate(choices) if key in wanted)
