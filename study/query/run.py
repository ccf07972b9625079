"""The answer to a query: facts, groups, what is undecided, and what was looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache

from django.utils.translation import gettext as _

from core.rules.values import Reason, Unknown
from study.design import StudyDesign
from study.facts import Answer, Basis, Fact, Group, Kind, Scalar, json_value
from study.query import aggregate
from study.query.aggregate import Bucket, Entry, KeyOrder
from study.query.check import Checker
from study.query.conditions import (
    Doubts,
    Hit,
    Match,
    Scope,
    counted,
    counted_form,
    match,
)
from study.query.names import Names
from study.query.schema import StudyQuery
from study.query.selection import form_of, select, units
from study.query.subject import NOT_EXPORTED, Line, Measure, State, Subject, Work
from study.query.telling import Teller
from study.query.tree import (
    PROJECT,
    SUBJECT,
    VISITS,
    FormItem,
    Item,
    Joint,
    Plan,
    Read,
    Source,
    cut,
    natural,
)
from study.records import RecordData


def no_work(_kind: str) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """Nobody's findings, reviews and runs."""
    return {}


def answer_query(
    query: StudyQuery,
    design: StudyDesign,
    records: Sequence[RecordData],
    *,
    today: date,
    work: Work = no_work,
) -> Answer:
    """What `query` is answered from `records`, all that the reader may see. Raises QueryError.

    `work`: findings, reviews or runs -> subject -> rows {column: value}, dates as ISO text.
    """
    return Asked(design, records, today=today, work=work).answer(query)


class Asked:
    """The records of a reader, ready to be asked: what one query read of them, the next need not read again.

    Parameters as of `answer`.
    """

    def __init__(
        self,
        design: StudyDesign,
        records: Sequence[RecordData],
        *,
        today: date,
        work: Work = no_work,
    ) -> None:
        self.names = Names(design, {data.site for data in records if data.site})
        self.measure = Measure(self.names)
        self.today = today
        self._work: Work = cache(work)
        ordered = sorted(records, key=lambda data: natural(data.record_id))
        self.subjects = [self.subject(data) for data in ordered]
        self.measure.subjects = self.subjects

    def answer(self, query: StudyQuery) -> Answer:
        """What `query` is answered. Raises QueryError."""
        plan = Checker(self.names, self.today).plan(query)
        return _Run(plan, self).answer().numbered()

    def subject(self, data: RecordData) -> Subject:
        """One record."""
        return Subject(data, self.names, self.measure, self.today, self._work)


class _Run:
    """One query on its way."""

    def __init__(self, plan: Plan, asked: Asked) -> None:
        self.plan, self.asked, self.names = plan, asked, asked.names
        self.scope = Scope(plan.place, plan.period)
        self.doubts = Doubts()
        self._open: set[str] = set()
        self.teller = Teller(asked.names, asked.today)
        wanted = plan.subjects
        self.subjects = [s for s in asked.subjects if wanted is None or s.id in wanted]

    def answer(self) -> Answer:
        """Facts without numbers."""
        plan = self.plan
        if plan.aggregate == "share":
            return self._aggregated([self._share()], [])
        hits, matches = self._hits()
        if plan.aggregate == "count":
            return self._aggregated([self._counted(hits, matches)], hits)
        if plan.aggregate is not None:
            return self._aggregated([self._values(n, hits) for n in range(len(plan.items))], hits)
        return self._selected(hits)

    def _hits(self) -> tuple[list[Hit], dict[str, Match]]:
        hits, matches = [], {}
        for subject in self.subjects:
            found = match(subject, self.plan.where, self.scope)
            if isinstance(found.truth, Unknown):
                self.doubts.add(subject, found.truth)
            elif found.truth:
                shown = select(subject, self.plan, self.scope, found)
                self.doubts.add(subject, shown.doubt)
                self._open |= {subject.id} if shown.is_open else set()
                hits.append(Hit(subject, shown.rows))
                matches[subject.id] = found
        return hits, matches

    # --- select -----------------------------------------------------------------------------------

    def _selected(self, hits: list[Hit]) -> Answer:
        if not self.plan.items:
            return self._listed(hits)
        kept, left_out = units(hits, self.plan, self.teller)
        facts = [fact for unit in kept for fact in unit.facts]
        rows = len(kept) + left_out
        basis = Basis(len(self.subjects), rows, self._missing(hits))
        return self._told([*self._project(), *facts], basis=basis, left_out=left_out)

    def _project(self) -> list[Fact]:
        """What the study itself tells, once."""
        asked = [item for item in self.plan.items if form_of(item) == PROJECT]
        if not asked:
            return []
        nobody = RecordData("", "", (), datetime.now(UTC), (), complete=True)
        line = self.asked.subject(nobody).lines(PROJECT)[0]
        return [fact for item in asked for fact in self.teller.facts(item, line)]

    def _listed(self, hits: list[Hit]) -> Answer:
        limit = self.plan.limit or len(hits)
        facts = [
            Fact("", Kind.SUBJECTS, hit.subject.id, label=_("Subject"), text=hit.subject.id)
            for hit in hits[:limit]
        ]
        basis = Basis(len(self.subjects), len(hits))
        return self._told(facts, basis=basis, left_out=len(hits) - len(facts))

    def _missing(self, hits: list[Hit]) -> int:
        """Subjects in whom the first thing that was asked for is not told."""
        item = self.plan.items[0]
        if form_of(item) == PROJECT:
            return 0

        def is_told(line: Line) -> bool:
            return not isinstance(item, Read) or line.cell(item.source).state is State.VALUE

        known = [hit for hit in hits if hit.subject.id not in self._open]
        return sum(not any(map(is_told, hit.rows[0])) for hit in known)

    # --- aggregates -------------------------------------------------------------------------------

    def _counted(self, hits: list[Hit], matches: Mapping[str, Match]) -> list[Entry]:
        entries = []
        form = counted_form(self.plan, self.names)
        for hit in hits:
            found = matches[hit.subject.id]
            if self.plan.items:
                # Those that matched, else those that say something.
                item, lines = self.plan.items[0], hit.rows[0]
                if isinstance(item, Read) and item.source.form not in found.rows:
                    lines = [n for n in lines if n.cell(item.source).state is State.VALUE]
            else:
                lines = counted(hit.subject, form, self.scope, found, self.doubts)
                self.doubts.add(hit.subject, NOT_EXPORTED if form in hit.subject.unread else None)
            entries += [Entry(line) for line in lines]
        return entries

    def _values(self, number: int, hits: list[Hit]) -> list[Entry]:
        item = self.plan.items[number]
        assert isinstance(item, Read)  # noqa: S101
        dated = item.source.name in self.names.design.form_dates.values() and item.minus is None
        lines = (line for hit in hits for line in hit.rows[number])
        return aggregate.entries_of(item, lines, dated, self.doubts)

    def _share(self) -> list[Entry]:
        entries = []
        for subject in self.subjects:
            among = match(subject, self.plan.of, self.scope).truth
            truth = match(subject, self.plan.where, self.scope).truth if among is True else among
            if isinstance(truth, Unknown):
                self.doubts.add(subject, truth)
            elif among is True:
                entries.append(Entry(subject.lines(SUBJECT)[0], held=truth))
        return entries

    def _aggregated(self, made: list[list[Entry]], hits: list[Hit]) -> Answer:
        plan, first = self.plan, made[0]
        told = {entry.line.subject.id for entry in first} | self._open
        missing = sum(hit.subject.id not in told for hit in hits)
        basis = Basis(len(self.subjects), len(first), missing)
        if not plan.by:
            totals = [aggregate.measured(Bucket((), entries), plan) for entries in made]
            items = plan.items or (None,)
            facts = [
                self._aggregate(item, aggregate.as_scalar(total))
                for item, total in zip(items, totals, strict=False)
            ]
            return self._told(facts, basis=basis)
        found = aggregate.grouped(plan.by, first, self.doubts)
        ordered = aggregate.arranged(found, plan, self.names)
        kept, left_out = cut(ordered, [aggregate.measured(one, plan) for one in ordered], plan)
        return self._told(
            [self._of_group(bucket) for bucket in kept],
            [
                Group(
                    bucket.by,
                    tuple(bucket.subjects),
                    len(bucket.subjects),
                    len(bucket.entries),
                    aggregate.as_scalar(aggregate.measured(bucket, plan)),
                )
                for bucket in kept
            ],
            basis=basis,
            left_out=left_out,
        )

    def _aggregate(self, item: Item | None, value: Scalar) -> Fact:
        source = item.source if isinstance(item, Read) else None
        computed = isinstance(item, Read) and item.minus is not None
        is_measure = self.plan.aggregate not in {"count", "share"} and not computed
        return Fact(
            "",
            Kind.AGGREGATE,
            field=source.name if source else form_of(item) if item else "",
            label=self._label(item),
            value=value,
            text="" if value is None else str(json_value(value)),
            unit=self.asked.measure.unit(source) if source and is_measure else "",
        )

    def _label(self, item: Item | None) -> str:
        if item is None:
            return ""
        if isinstance(item, Read):
            return self.teller.label(item.source)
        return self.names.design.metadata.form_label(item.form)

    def _of_group(self, bucket: Bucket) -> Fact:
        value = aggregate.as_scalar(aggregate.measured(bucket, self.plan))
        fact = self._aggregate(self.plan.items[0] if self.plan.items else None, value)
        named = list(zip(self.plan.by, bucket.by, strict=True))
        labels = [KeyOrder(key, self.names).label(name) for key, name in named]
        of_kind = {key.kind: name or "" for key, name in named}
        label = " · ".join([*filter(None, [fact.label]), *(text or "–" for text in labels)])
        subject, event = of_kind.get("subject", ""), of_kind.get("event", "")
        return replace(fact, subject=subject, label=label, event=event)

    def _told(
        self, facts: Iterable[Fact], found: Iterable[Group] = (), *, basis: Basis, left_out: int = 0
    ) -> Answer:
        times = [subject.data.read_at for subject in self.subjects]
        zone = self.names.context.timezone
        read_at = min(times).astimezone(zone).isoformat(timespec="seconds") if times else None
        undecided = self.doubts.told(self.subjects)
        unread = self._unread() if any(u.reason == Reason.NOT_EXPORTED for u in undecided) else ()
        return Answer(tuple(facts), tuple(found), undecided, basis, left_out, read_at, unread)

    def _unread(self) -> tuple[str, ...]:
        """What the query asks for and REDCap does not show: fields, columns, forms as a whole."""
        known = frozenset().union(*(subject.unread for subject in self.subjects))
        sources, names = list[Source](), list[str]()
        for item in self.plan.items:
            if isinstance(item, FormItem) and item.form in known:
                names.append(item.form)
            else:
                sources += _sources_of(item)
        sources += [key.source for key in self.plan.by if key.source]
        sources += [*_sources_in(self.plan.where), *_sources_in(self.plan.of)]
        for source in sources:
            if source.form == VISITS:
                plan = self.names.design.plan
                own = [name for v in plan.visits for name in (v.anchor_field, v.date_field)]
                names += [name for name in (*own, plan.withdraw_field) if name in known]
            elif any(subject.is_unread(source) for subject in self.subjects):
                names.append(source.name)
        return tuple(dict.fromkeys(names))


def _sources_of(item: Item) -> Iterator[Source]:
    if isinstance(item, FormItem):
        yield from item.sources
        return
    yield item.source
    if isinstance(item.minus, Read):
        yield from _sources_of(item.minus)


def _sources_in(where: Joint) -> Iterator[Source]:
    for part in where.parts:
        if isinstance(part, Joint):
            yield from _sources_in(part)
        else:
            for operand in (part.left, *part.right):
                if isinstance(operand, Read):
                    yield from _sources_of(operand)
