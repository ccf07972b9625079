"""Whether a sentence is true, by its text and the facts alone; it imports nothing of what words sentences.

A sentence is cut into clauses at its marks outside brackets. What a clause begins with (subject, label) holds
until another is named. Every value must be the value of a fact of that subject, label and visit; every number,
date, direction, comparison, course, end, sum, share, count and denial is worked out again from the study.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise

from engines.assistant.say.sheet import Line, Sheet, Source
from study.facts import Fact, Flag, Kind
from tests.study.query.studies import Study

_ID = re.compile(r"(?<![A-Za-z0-9])P\d{3}(?!\d)")
_NUMBER = re.compile(r"\d{4}-\d{2}(?:-\d{2})?|\d+(?:\.\d+)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_QUOTE = re.compile(r"[“「](.*?)[”」](?=[、,;(]|$)", re.DOTALL)
_BEYOND = re.compile(r"(?:上限|下限) ?([\d.]+) ?的 ?([\d.]+) ?倍|(高于上限|低于下限) ?([\d.]+)")
_SIDES = re.compile(r"^(.*?)(?:比|与) ?(.*?)(?:(高|低|早|晚) ?([\d.]+) ?(.*)|相同)$")
_COURSES = (
    "逐次上升",
    "逐次下降",
    "没有变化",
    "有升有降",
    "先升后降",
    "先降后升",
    "升高",
    "下降",
    "其间未",
)
_EDGE = re.compile(r"最(高|低) ?(.*)")
_STATES = {
    "overdue": ("已超窗", "尚未完成"),
    "due": ("最晚", "尚未完成"),
    "not_due": ("未到窗口", "开"),
    "in_window": ("完成,在窗口内",),
    "early": ("完成,提前",),
    "late": ("完成,晚",),
    "not_applicable": ("不适用",),
}


@dataclass
class Clause:
    """A stretch between marks: its words outside brackets, and what stands in each bracket."""

    outer: str
    inner: list[str] = field(default_factory=list)
    begins: str = ""


@dataclass(frozen=True)
class Oracle:
    """Judges the sentences of one sheet."""

    sheet: Sheet
    study: Study

    def faults(self, text: str, marks: Sequence[str]) -> list[str]:  # noqa: C901 -- a check a line
        """What of a sentence is not so; nothing where all of it holds."""
        said = unicodedata.normalize("NFKC", text).replace("（", "(").replace("）", ")")
        # Of an age people say 大 and 小.
        said = re.sub(r"(?<=最)大(?= \d+ 岁)|(?<=\))大(?= \d+ 岁)", "高", said)
        said = re.sub(r"(?<=最)小(?= \d+ 岁)|(?<=\))小(?= \d+ 岁)", "低", said)
        lines = [line for mark in marks if (line := self.sheet.line(mark))]
        if len(lines) < len(marks) or not lines:
            return ["rests on no line"]
        if all(line.source is not Source.FACT for line in lines):
            return self._quoted(said, lines)
        facts = [fact for line in lines for fact in line.facts]
        known = {f.subject for f in facts} | {n for x in lines if x.scope for n in x.scope.subjects}
        if set(_ID.findall(said)) - known:
            return ["tells of a subject that its lines are not of"]
        only = {fact.subject for fact in facts if fact.subject}
        if only and set(_ID.findall(said)) - only and "例:" not in said:
            return ["tells of a subject that its facts are not of"]
        if not facts or re.fullmatch(
            r"\S+ [^,:;]+,共 \d+ 条|\S+ 没有\S+的记录 ?\(已全部读取\)", said
        ):
            return self._counted(said, lines)
        if found := re.search(r"共 (\d+) 例:([P\d、]+)", said):
            return self._people_listed(found, lines)
        for fact in facts:
            label = unicodedata.normalize("NFKC", fact.label)
            said = said.replace(label, _short(label)) if _short(label) else said
        kinds = {fact.kind for fact in facts}
        dated = re.search(r"比 \S* ?\d{4}-\d{2}-\d{2} (?:晚|早) \d+ 天$", said)
        if (
            re.search(r"比 |与 .*相同$", said)
            and not dated
            and "晚" not in said.partition("比 ")[0]
        ):
            return self._compared(said, facts)
        if kinds <= {Kind.AGGREGATE, Kind.PROJECT}:
            return self._figures(said, lines)
        if kinds == {Kind.WINDOW}:
            return self._visits(said, facts)
        if ("至 " in said and "天" in said and "比" not in said) or re.search(
            r"天前|还有 \d+ 天|今天|同一天|比.*晚 \d+ 天$", said
        ):
            days = self._days(said, facts)
            if days is not None:
                return days
        if re.search(r"最[高低] ", said) and "有升有降" not in said and "先" not in said:
            return self._edges(said, facts)
        return list(self._values(said, facts))

    # --- prose and counts -------------------------------------------------------------------------

    def _quoted(self, said: str, lines: Sequence[Line]) -> list[str]:
        """Each piece between quotation marks stands so in one of the lines."""
        pieces = [_squeezed(piece) for piece in _QUOTE.findall(said)]
        sources = [_squeezed(line.text) for line in lines]
        ok = bool(pieces) and all(any(one in text for text in sources) for one in pieces)
        return [] if ok else ["is not what the source says"]

    def _counted(self, said: str, lines: Sequence[Line]) -> list[str]:
        """P016 没有不良事件的记录(已全部读取); P003 不良事件,共 2 条."""
        subject = _first(_ID, said)
        scope = next((x.scope for x in lines if x.scope and subject in x.scope.subjects), None)
        if not subject or scope is None:
            return ["tells of a subject that its lines are not of"]
        form = next((name for name, label in self._forms.items() if _short(label) in said), "")
        query = {"subjects": [subject], "select": [form]}
        if not form:
            names = [str(name) for name in scope.query.get("select") or ()]
            labels = [_short(self.sheet.design.metadata.label(name)) for name in names]
            if not all(label in said for label in labels):
                return ["names no form or field"]
            query = dict(scope.query) | {"subjects": [subject]}
        rows = {_row(f) for f in self.study.ask(**query).facts}
        if "没有" in said or "无" in said:
            return ["denies rows that there are"] if rows else []
        number = _first(re.compile(r"共 ?(\d+) ?条"), said, 1)
        return [] if number == str(len(rows)) else [f"{number} rows, there are {len(rows)}"]

    def _people_listed(self, found: re.Match[str], lines: Sequence[Line]) -> list[str]:
        scope = lines[0].scope
        where = (scope.query.get("where") if scope else None) or []
        people = set(self.study.subjects(*where))
        said = set(found[2].split("、"))
        return [] if said == people and int(found[1]) == len(people) else [f"they are {people}"]

    # --- figures ----------------------------------------------------------------------------------

    def _figures(self, said: str, lines: Sequence[Line]) -> list[str]:  # noqa: C901 -- a check a line
        facts = [line.facts[0] for line in lines]
        pool = {_plain(f.value) for f in facts} | {
            _plain(_round(f.value, n)) for f in facts for n in (1, 2)
        }
        pool |= {
            str(n) for line in lines if line.group for n in (line.group.count, line.group.rows)
        }
        pool |= {str(line.scope.count) for line in lines if line.scope}
        pool |= {str(n) for line in lines for n in self._basis(line)}
        pool |= {n for line in lines for f in line.facts for n in _NUMBER.findall(f.label)}
        faults = list(self._conditions(said, lines))
        if "其余为 0" in said:
            listed = {line.group.by for line in lines if line.group}
            scope = lines[0].scope
            if any(g.count for g in (scope.answer.groups if scope else ()) if g.by not in listed):
                faults.append("says that groups are empty that are not")
            said = said.replace("其余为 0", "")
        if "还差" in said or "已达目标" in said:
            return [*faults, *self._target(said, facts)]
        if "占" in said:
            return [*faults, *self._share(said, lines)]
        over = {str(line.scope.answer.basis.rows) for line in lines if line.scope}
        if (found := re.search(r"(\d+) 个数值", said)) and found[1] not in over:
            faults.append(f"{found[0]}: they are {over}")
        body = said
        if found := re.search(r"合计 ?(\d+)", said):
            total = sum(line.group.count for line in lines if line.group)
            people = [name for line in lines if line.group for name in line.group.subjects]
            if int(found[1]) != total or len(set(people)) != len(people):
                faults.append(f"sum {found[1]}, it is {total}")
            body = said.replace(found[0], "")
        body, course = _course(body)
        if re.search(r"最[高低] ", body):
            return [*faults, *self._edges(said, facts)]
        if course:
            ordered = [line for line in self._lines_of(lines[0]) if line in lines]
            names = [self._name(line.facts[0]) for line in ordered]
            numbers = [Decimal(str(line.facts[0].value)) for line in ordered]
            faults += self._course(course, numbers, names)
            whole = self._lines_of(lines[0])
            at = [whole.index(line) for line in ordered]
            if len(at) > 2 and at != list(range(at[0], at[-1] + 1)):
                faults.append("a course over groups that were left out")
        body = re.sub(r"共 ?\d+ ?[项例条次],?(列出 ?\d+ ?[项例条次])?", "", body)
        for clause in _clauses(body):
            number = _NUMBER.findall(_unlabelled(clause.outer, facts, self._sites))
            if not set(number) <= pool:
                faults.append(f"{clause.outer}: no such figure")
            near = [f for f in facts if f.label and _bare(self._name(f)) in _bare(clause.outer)]
            values = {_plain(f.value) for f in near} | {
                _plain(_round(f.value, n)) for f in near for n in (1, 2)
            }
            values |= {
                str(n)
                for line in lines
                if line.facts[0] in near and line.group
                for n in (line.group.count, line.group.rows)
            }
            if near and number and not set(number) <= values:
                faults.append(f"{clause.outer}: another group's figure")
        return faults

    def _lines_of(self, line: Line) -> list[Line]:
        """All lines of its result, in their order."""
        return [other for other in self.sheet.lines if other.scope is line.scope and other.facts]

    def _basis(self, line: Line) -> Iterator[int]:
        if line.scope:
            basis = line.scope.answer.basis
            yield from (basis.subjects, basis.rows, basis.missing)

    def _name(self, fact: Fact) -> str:
        code, _space, name = fact.label.partition(" ")
        return name if code in self._sites and name else fact.label

    def _conditions(self, said: str, lines: Sequence[Line]) -> Iterator[str]:
        """A figure of those enrolled says so, and no other does."""
        for line in lines:
            where = (line.scope.query.get("where") if line.scope else None) or []
            fields = {str(c.get("field")) for c in where}
            if "@enrolled" in fields and "入组" not in said:
                yield "leaves out that they are enrolled"
            if "sex" in fields and "女" not in said:
                yield "leaves out that they are women"
        queries = [line.scope.query for line in lines if line.scope]
        by_status = any("@status" in (q.get("by") or ()) for q in queries)
        enrolled = any(c.get("field") == "@enrolled" for q in queries for c in q.get("where") or ())
        target = any(f.field == "@project.target" for line in lines for f in line.facts)
        if "已入组" in said and not (enrolled or by_status or target):
            yield "says enrolled, they need not be"

    def _target(self, said: str, facts: Sequence[Fact]) -> list[str]:
        goal = next((f.value for f in facts if f.field == "@project.target"), None)
        done = next((f.value for f in facts if f.field != "@project.target"), None)
        if goal is None or done is None:
            return ["speaks of a target without one"]
        real = Decimal(len(self.study.subjects({"field": "@enrolled", "op": "filled"})))
        wanted = {_plain(goal), _plain(done)} | ({_plain(abs(Decimal(str(goal)) - real))} - {"0"})
        faults = [] if Decimal(str(done)) == real else ["counts others than those enrolled"]
        if ("还差" in said) != (real < Decimal(str(goal))):
            faults.append("on the wrong side of the target")
        return [
            *faults,
            *([] if set(_NUMBER.findall(said)) == wanted else ["another figure of the target"]),
        ]

    def _share(self, said: str, lines: Sequence[Line]) -> list[str]:
        if len(lines) != 2:
            return ["a share of more than two figures"]
        part, whole = (Decimal(str(line.facts[0].value)) for line in lines)
        rate = _first(re.compile(r"([\d.]+)%"), said, 1)
        if rate != _plain(_round(100 * part / whole, 1)):
            return [f"a share of {rate}%"]
        if lines[1].facts[0].field == "@project.target":
            return []
        inside, around = (self._people(line) for line in lines)
        return [] if inside <= around else ["the one is not within the other"]

    def _people(self, line: Line) -> set[str]:
        if line.group:
            return set(line.group.subjects)
        where = (line.scope.query.get("where") if line.scope else None) or []
        return set(self.study.subjects(*where))

    # --- visits and days --------------------------------------------------------------------------

    def _visits(self, said: str, facts: Sequence[Fact]) -> list[str]:
        """Every date and number behind a visit is of the row of that subject and visit, and its state is."""
        total = _first(re.compile(r"共 ?(\d+) ?条"), said, 1)
        faults = (
            [f"{total} visits"] if total and int(total) != len({_row(f) for f in facts}) else []
        )
        subject = ""
        rows: dict[tuple[str, str], dict[str, Fact]] = {}
        for fact in facts:
            rows.setdefault((fact.subject, fact.event), {})[fact.field.partition(".")[2]] = fact
        named = {
            (s, str(row["visit"].value)): row for (s, _e), row in rows.items() if "visit" in row
        }
        parts = re.split(r"((?<![A-Za-z0-9])(?:P\d{3}(?!\d)|V\d(?!\d)))", said)
        visit = ""
        for part in parts:
            if _ID.fullmatch(part):
                subject = part
                continue
            if re.fullmatch(r"V\d", part):
                visit = part
                continue
            row = named.get((subject, visit))
            numbers = _NUMBER.findall(
                re.sub(r"共 ?\d+ ?[项例条次],?(列出 ?\d+ ?[项例条次])?", "", part)
            )
            if row is None:
                if numbers:
                    faults.append(f"{subject} {visit}: {part}: no such visit")
                continue
            pool = {f.text for f in row.values()} | {
                _plain(abs(f.value)) for f in row.values() if isinstance(f.value, Decimal | int)
            }
            pool |= {f.date for f in row.values() if f.date}
            days = [date.fromisoformat(f.text) for f in row.values() if _DAY.fullmatch(f.text)]
            pool |= {str(abs((day - self.sheet.today).days)) for day in days}
            if not set(numbers) <= pool:
                faults.append(f"{subject} {visit}: {part}: {set(numbers) - pool}")
            state = str(row["state"].value) if "state" in row else ""
            faults += [
                f"{subject} {visit}: is {state}"
                for name, words in _STATES.items()
                if _denies(part, words, name, state)
            ]
        return faults

    def _days(self, said: str, facts: Sequence[Fact]) -> list[str] | None:
        days = [
            (f, date.fromisoformat(str(f.value))) for f in facts if _DAY.fullmatch(str(f.value))
        ]
        number = _first(re.compile(r"(\d+) 天"), said, 1)
        if len(days) == 2 and len(facts) == 2:
            (a, first), (b, last) = days
            for fact in (a, b):
                if fact.text not in said or _short(fact.label) not in said:
                    return ["a date that is not of its field"]
            gap = (last - first).days
            if "同一天" in said:
                return [] if gap == 0 else ["not the same day"]
            if number != str(abs(gap)):
                return [f"{number} days, it is {abs(gap)}"]
            if "比" in said:
                later = said.index(a.text) < said.index("比") if a.text != b.text else True
                return [] if later and gap < 0 else ["not later"]
            return [] if gap > 0 else ["not in that order"]
        if len(days) == 1 and re.search(r"天前|还有 \d+ 天|\(今天\)", said):
            gap = (days[0][1] - self.sheet.today).days
            wanted = f"{-gap} 天前" if gap < 0 else f"还有 {gap} 天" if gap else "今天"
            rest = said.replace(wanted, "")
            return [
                *([] if wanted in said else ["not so many days"]),
                *self._values(re.sub(r"\(\)", "", rest), facts),
            ]
        return None

    # --- values -----------------------------------------------------------------------------------

    def _values(self, said: str, facts: Sequence[Fact]) -> Iterator[str]:
        """Single values, series, values of several subjects, rows; with what is said behind them."""
        whole = re.search(r"([^\s:,;、]+?) ?共 ?(\d+) ?条(?:,列出 ?(\d+) ?条)?", said)
        if whole and "其间" not in said:
            yield from self._total(whole, said, facts)
            said = said.replace(whole[0], "", 1)
        if found := re.fullmatch(r"(P\d{3}) ?\(([^()]*/[^()]*)\):(.*)", said):
            yield from self._paired(found, facts)
            return
        subject = label = ""
        listed: list[Fact] = []
        body, course = _course(said)
        body, limits = _limits(body)
        latest = (
            re.search(r"(最近|前|首次|最近一次) ?(?:(\d+) ?次)? ?", body)
            if re.search(r"最近 \d+ 次|最近一次|首次 |前 \d+ 次", body)
            else None
        )
        if latest:
            body = body.replace(latest[0], " ", 1)
        for clause in _clauses(body):
            outer = clause.outer
            if found := _ID.search(outer):
                subject, label = found[0], label if clause.begins not in ("", ":") else ""
                outer = outer.replace(found[0], "", 1)
            known = self._label_in(outer, facts)
            if known:
                label = known
                outer = outer.replace(known, "", 1)
            place = self._place_in(outer)
            outer = outer.replace(place, "", 1) if place else outer
            day = _first(_DAY, outer) if not place else ""
            outer = outer.strip(" :")
            if not outer and not clause.inner:
                continue
            match = self._fact(outer, day, subject, label, place, clause.inner, facts)
            if match is None:
                yield f"no fact: {subject} {label} {place} {clause.outer} {clause.inner}"
                continue
            listed.append(match)
            yield from self._brackets(clause.inner, match, facts)
        if course:
            yield from self._course_of(course, listed)
        if limits:
            yield from self._limits(limits, listed)
        if latest:
            yield from self._newest(latest, listed)

    def _paired(self, found: re.Match[str], facts: Sequence[Fact]) -> Iterator[str]:
        """P036(基线/V4):血小板PLT 150/195、疼痛VAS评分 10/30."""
        places = found[2].split("/")
        for item in found[3].split("、"):
            label = self._label_in(item, facts)
            values = item.replace(label, "", 1).split("/") if label else []
            own = [f for f in facts if f.subject == found[1] and _short(f.label) == label]
            for place, value in zip(places, values, strict=False):
                at = [f for f in own if place in (self._event(f), f.date or "")]
                said = _bare(value)
                if not any(
                    _is_blank(f) if "未填写" in said else _bare(_clean(f)) in said for f in at
                ):
                    yield f"{item}: {value} is not of {place}"

    def _fact(
        self,
        outer: str,
        day: str,
        subject: str,
        label: str,
        place: str,
        inner: Sequence[str],
        facts: Sequence[Fact],
    ) -> Fact | None:
        """The fact that a clause tells."""
        rest = _bare(outer)
        inside = self._place_in(inner[0]) if inner else ""
        for fact in facts:
            text = _bare(_clean(fact))
            if subject and fact.subject and fact.subject != subject:
                continue
            if label and _short(fact.label) != label and _row_name(fact) != rest:
                continue
            where = self._event(fact)
            if (place and place != where) or (inside and inside != where and fact.instance is None):
                continue
            numbers = set(_NUMBER.findall(rest))
            whole = (
                set(_NUMBER.findall(text))
                | set(_NUMBER.findall(_bare(fact.unit)))
                | {fact.date or ""}
            )
            if ((text and text in rest) or (_is_blank(fact) and "未" in rest)) and numbers <= whole:
                return fact
        return None

    def _brackets(self, inner: Sequence[str], fact: Fact, facts: Sequence[Fact]) -> Iterator[str]:
        row = [f for f in facts if _row(f) == _row(fact)]
        for part in inner:
            if found := _BEYOND.search(part):
                yield from self._beyond(found, fact)
                part = part.replace(found[0], "")
            for entry in re.split(r"[,、]", part):
                told = _bare(entry)
                numbers = set(_NUMBER.findall(re.sub(r"V\d", "", told)))
                if not numbers and (not told or not fact.instance):
                    continue
                known = [
                    f
                    for f in row
                    if (_bare(_clean(f)) and _bare(_clean(f)) in told)
                    or (_is_blank(f) and "未填写" in told)
                ]
                labels = [f for f in known if _short(f.label) in told]
                dates = {fact.date or "", *(f.date or "" for f in row)}
                own = {
                    n for f in (labels or known) for n in _NUMBER.findall(_bare(_clean(f)))
                } | dates
                named = self._label_in(entry, row)
                if named and not labels:
                    yield f"{entry}: not of that row"
                if not numbers <= own | set(_NUMBER.findall(_bare(fact.unit))) | set(
                    _NUMBER.findall(named)
                ):
                    yield f"{entry}: not of {fact.subject} {fact.label}"

    def _beyond(self, found: re.Match[str], fact: Fact) -> Iterator[str]:
        if fact.limit is None or not isinstance(fact.value, Decimal | int):
            yield "a limit that is not known"
            return
        value, high, low = Decimal(fact.value), fact.limit.high, fact.limit.low
        if found[1]:
            right = high is not None and _plain(high) == found[1] and value > high
            if high is None or not right or _plain(_round(value / high, 1)) != found[2]:
                yield f"{found[0]}: {value} of {high}"
        elif found[3] == "高于上限":
            if high is None or value <= high or _plain(high) != found[4]:
                yield f"{found[0]}: {value} of {high}"
        elif low is None or value >= low or _plain(low) != found[4]:
            yield f"{found[0]}: {value} of {low}"

    def _total(self, found: re.Match[str], said: str, facts: Sequence[Fact]) -> Iterator[str]:
        subject, form = _first(_ID, said), facts[0].instrument
        rows = {_row(f) for f in self.study.ask(subjects=[subject], select=[form]).facts}
        if _short(self._forms.get(form, "")) != found[1]:
            yield f"{found[1]}: it is {form}"
        if int(found[2]) != len(rows):
            yield f"{found[2]} rows, there are {len(rows)}"
        if found[3] and int(found[3]) != len({_row(f) for f in facts}):
            yield f"{found[3]} listed"

    # --- courses, ends, comparisons, limits -------------------------------------------------------

    def _course_of(self, course: str, listed: Sequence[Fact]) -> Iterator[str]:
        ordered = self._in_order(listed)
        if ordered != list(listed):
            yield "a course that is not in the order of time"
        numbers = [Decimal(str(f.value)) for f in ordered if isinstance(f.value, Decimal | int)]
        if len(numbers) < len(listed) or len(numbers) < 2:
            yield "a course of what is no number"
            return
        yield from self._course(course, numbers, [self._event(f) or f.date or "" for f in ordered])
        series = self._in_order(self._series(ordered[0]))
        at = [n for n, f in enumerate(series) if any(_same(f, g) for g in ordered)]
        whole = bool(at) and at == list(range(at[0], at[-1] + 1))
        if not whole and "有升有降" not in course and len(listed) > 2:
            yield "a course over readings that were left out"

    def _course(
        self, course: str, numbers: Sequence[Decimal], names: Sequence[str] = ()
    ) -> list[str]:
        steps = [b - a for a, b in pairwise(numbers)]
        top, low = max(numbers), min(numbers)
        gap = _plain(abs(numbers[-1] - numbers[0]))
        said = _NUMBER.findall(re.sub(r"V\d|\d{4}-\d{2}|W\d+", "", course))
        holds = {
            "逐次上升": all(step > 0 for step in steps),
            "逐次下降": all(step < 0 for step in steps),
            "没有变化": top == low,
            "升高": len(steps) == 1 and steps[0] > 0 and said == [gap],
            "下降": len(steps) == 1 and steps[0] < 0 and said == [gap],
            "其间未降": all(step >= 0 for step in steps) and top > low and said == [gap],
            "其间未升": all(step <= 0 for step in steps) and top > low and said == [gap],
            "有升有降": said == [_plain(top), _plain(low)]
            and any(s > 0 for s in steps)
            and any(s < 0 for s in steps),
            "先升后降": _turns(numbers, up=True),
            "先降后升": _turns(numbers, up=False),
        }
        told = next(word for word in ("其间未降", "其间未升", *_COURSES) if word in course)
        if not holds[told]:
            return [f"{course}: {', '.join(map(str, numbers))}"]
        if names and told.startswith("先"):
            best = names[numbers.index(top if told == "先升后降" else low)]
            return [] if best in course else [f"{course}: it is at {best}"]
        if names and told == "有升有降":
            ends = (names[numbers.index(top)], names[numbers.index(low)])
            return [] if all(name in course for name in ends) else [f"{course}: at {ends}"]
        return []

    def _edges(self, said: str, facts: Sequence[Fact]) -> list[str]:  # noqa: C901 -- a check a line
        """最高 10(P003 V4)、最低 0(P003 基线): over the lines; over all where nothing else is said."""
        numbers = [(f, Decimal(str(f.value))) for f in facts if isinstance(f.value, Decimal | int)]
        if len(numbers) < len(facts) or len({f.field for f in facts}) > 1:
            return ["an end among different things"]
        pool = numbers
        if "只比较了" in said:
            listed = _first(re.compile(r"只比较了列出的 ?(\d+) ?个"), said, 1)
            if listed != str(len(facts)):
                return [f"{listed} compared, they are {len(facts)}"]
        elif facts[0].kind is Kind.AGGREGATE:
            scope = next(line.scope for line in self.sheet.lines if facts[0] in line.facts)
            pool = [(f, Decimal(str(f.value))) for f in (scope.answer.facts if scope else ())]
        else:
            pool = [
                (f, Decimal(str(f.value)))
                for f in self._all_of(facts)
                if isinstance(f.value, Decimal | int)
            ]
        faults = [f"two of 最{end}" for end in "高低" if said.count(f"最{end} ") > 1]
        for end, pick in (("高", max), ("低", min)):
            found = re.search(rf"最{end} ([\d.]+)[^(、]*(?:\(([^()]*)\))?", said)
            if not found:
                continue
            edge = pick(number for _f, number in pool)
            if found[1] not in (
                _plain(edge),
                *(_plain(_round(edge, n)) for n in (1, 2)),
                f"{edge}",
            ):
                faults.append(f"{found[0]}: it is {edge}")
                continue
            at = [f for f, number in numbers if number == edge]
            inner = found[2] or ""
            for fact in at:
                if len({f.subject for f in facts}) > 1 and fact.subject not in inner:
                    faults.append(f"{found[0]}: leaves out {fact.subject}")
                if (place := self._event(fact)) and place not in inner:
                    faults.append(f"{found[0]}: leaves out {place}")
                if not fact.subject and _bare(self._name(fact)) not in _bare(inner):
                    faults.append(f"{found[0]}: it is {fact.label}")
            names = set(_ID.findall(inner))
            if names - {f.subject for f in at}:
                faults.append(f"{found[0]}: not at {names}")
        return faults

    def _all_of(self, facts: Sequence[Fact]) -> list[Fact]:
        """All readings of the field of those who are named: of one subject theirs, of several everybody's."""
        who = {f.subject for f in facts}
        query = {"select": [facts[0].field]} | ({"subjects": list(who)} if len(who) == 1 else {})
        return list(self.study.ask(**query).facts)

    def _compared(self, said: str, facts: Sequence[Fact]) -> list[str]:  # noqa: C901 -- a check a line
        """血红蛋白:V3(96 g/L)比基线(138 g/L)低 42 g/L(30.4%)."""
        if len(facts) != 2:
            return ["compares more than two"]
        a, b = facts
        cut = said.index("比 ") if "比 " in said else said.index("与 ")
        left, right = said[:cut], said[cut:]
        for fact, side in ((a, left), (b, right)):
            if _clean(fact).replace(" ", "") not in side.replace(" ", ""):
                return [f"{fact.text} is not on its side"]
            other = b if fact is a else a
            if fact.subject != other.subject and fact.subject not in side:
                return [f"{fact.subject} is not on its side"]
            where = self._event(fact)
            if where != self._event(other) and where and where not in side:
                return [f"{where} is not on its side"]
        if a.kind is Kind.AGGREGATE:
            names = [_bare(self._name(f)) for f in facts]
            if names[0] not in _bare(left) or names[1] not in _bare(right):
                return ["a group that is not on its side"]
        elif _short(a.label) != _short(b.label) and not (
            _DAY.fullmatch(str(a.value)) and _DAY.fullmatch(str(b.value))
        ):
            return ["compares two fields"]
        if "相同" in said:
            return [] if a.value == b.value else ["not the same"]
        found = re.search(r"(高|低|早|晚|多|少) ?([\d.]+)([^(]*)(?:\(([\d.]+)%\))?$", said)
        if not found:
            return ["no comparison"]
        if found[1] in "早晚":
            gap = (date.fromisoformat(str(a.value)) - date.fromisoformat(str(b.value))).days
            return (
                []
                if (gap > 0) == (found[1] == "晚") and found[2] == str(abs(gap))
                else [f"{found[0]}: {gap}"]
            )
        x, y = Decimal(str(a.value)), Decimal(str(b.value))
        if a.unit != b.unit or (x > y) != (found[1] in "高多") or found[2] != _plain(abs(x - y)):
            return [f"{found[0]}: {x} and {y}"]
        if found[4] and found[4] != _plain(_round(100 * abs(x - y) / y, 1)):
            return [f"{found[4]}%: {x} and {y}"]
        return []

    def _limits(self, limits: str, listed: Sequence[Fact]) -> Iterator[str]:
        inside = [f for f in listed if not f.flags & {Flag.HIGH, Flag.LOW}]
        if "其余" not in limits and len(inside) < len(listed):
            yield "says that all are within range"
        if any(f.limit is None for f in listed):
            yield "a range that is not known"
        bounds = {
            _plain(n)
            for f in inside
            if f.limit
            for n in (f.limit.low, f.limit.high)
            if n is not None
        }
        if not set(_NUMBER.findall(limits)) <= bounds:
            yield f"{limits}: the limits are {bounds}"
        for f in inside:
            if f.limit and f.limit.high is not None and Decimal(str(f.value)) > f.limit.high:
                yield "says that what is above its limit is within"

    def _newest(self, found: re.Match[str], listed: Sequence[Fact]) -> Iterator[str]:
        if not listed:
            return
        series = [f for f in self._in_order(self._series(listed[0])) if not _is_blank(f)]
        count = int(found[2] or 1)
        wanted = series[-count:] if found[1].startswith("最近") else series[:count]
        if {_row(f) for f in wanted} != {_row(f) for f in listed}:
            yield f"{found[0]}: they are others"

    # --- the study --------------------------------------------------------------------------------

    def _series(self, fact: Fact) -> list[Fact]:
        return list(self.study.ask(subjects=[fact.subject], select=[fact.field]).facts)

    def _in_order(self, facts: Sequence[Fact]) -> list[Fact]:
        order = self.sheet.design.event_order
        return sorted(facts, key=lambda f: (order.get(f.event, 0), f.date or "", f.instance or 0))

    @cached_property
    def _forms(self) -> dict[str, str]:
        design = self.sheet.design
        return {form: design.metadata.form_label(form) for form in design.shown_forms}

    @cached_property
    def _sites(self) -> dict[str, str]:
        return dict(self.sheet.sites)

    @cached_property
    def _events(self) -> dict[str, str]:
        design = self.sheet.design
        named = {
            event: re.sub(r"^[A-Za-z ]+(?=[\u4e00-\u9fff])", "", design.metadata.event_label(event))
            for event in design.event_order
        }
        return named | {visit.event: visit.visit for visit in design.plan.visits if visit.event}

    def _event(self, fact: Fact) -> str:
        forms = self.sheet.design.context.forms_by_event.values()
        several = sum(fact.instrument in held for held in forms) > 1
        return self._events.get(fact.event, "") if several else ""

    def _place_in(self, text: str) -> str:
        names = [
            name
            for name in self._events.values()
            if name and re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![\d.\u4e00-\u9fff])", text)
        ]
        return max(names, key=len, default="")

    def _label_in(self, text: str, facts: Sequence[Fact]) -> str:
        labels = {_short(f.label) for f in facts if f.label}
        return max((name for name in labels if name and name in text), key=len, default="")


def _denies(part: str, words: Sequence[str], name: str, state: str) -> bool:
    """Whether the words of another state stand there."""
    if not state or name == state or words[0] not in part:
        return False
    mine = _STATES.get(state, ())
    return words[0] not in mine and not any(words[0] in one for one in mine)


def _turns(numbers: Sequence[Decimal], *, up: bool) -> bool:
    at = numbers.index(max(numbers) if up else min(numbers))
    first, last = numbers[: at + 1], numbers[at:]
    if len(first) < 2 or len(last) < 2:
        return False
    rises = [b >= a for a, b in pairwise(first)], [b <= a for a, b in pairwise(last)]
    falls = [b <= a for a, b in pairwise(first)], [b >= a for a, b in pairwise(last)]
    return all(all(side) for side in (rises if up else falls))


def _clauses(text: str) -> list[Clause]:
    """The clauses of a sentence, cut outside brackets at 、 , ; : with the mark that each begins behind."""
    found, depth, begins = [Clause("")], 0, ""
    for char in text:
        if char == "(":
            depth += 1
            if depth == 1:
                found[-1].inner.append("")
                continue
        elif char == ")" and depth:
            depth -= 1
            if not depth:
                continue
        if depth:
            found[-1].inner[-1] += char
        elif char in "、,;:":
            begins = char
            found.append(Clause("", begins=begins))
        else:
            found[-1].outer += char
    return [clause for clause in found if clause.outer.strip() or clause.inner]


def _course(said: str) -> tuple[str, str]:
    """A sentence without the words of its course, and these."""
    found = re.search(
        r"[,;](逐次上升|逐次下降|没有变化|升高 ?[\d.]+|下降 ?[\d.]+|共(?:上升|下降) ?[\d.]+,其间未[升降]"
        r"|先升后降,\S+ 最高|先降后升,\S+ 最低|有升有降,最高 [^,]+,最低 [^,;]+)",
        said,
    )
    return (said.replace(found[0], ""), found[1]) if found else (said, "")


def _limits(said: str) -> tuple[str, str]:
    found = re.search(r",((?:其余均|均)?在范围内(?: ?\([^()]*\))?)", said)
    return (said.replace(found[0], ""), found[1]) if found else (said, "")


def _unlabelled(text: str, facts: Sequence[Fact], sites: dict[str, str]) -> str:
    for name in (*(f.label for f in facts), *sites, *sites.values()):
        text = text.replace(name, "") if name else text
    return text


def _row(fact: Fact) -> tuple[str, str, str, int | None]:
    return fact.subject, fact.event, fact.instrument, fact.instance


def _row_name(fact: Fact) -> str:
    return _bare(_clean(fact)) if fact.instance is not None else ""


def _same(one: Fact, other: Fact) -> bool:
    return _row(one) == _row(other) and one.field == other.field


def _clean(fact: Fact) -> str:
    """The text of a fact, without what stands in brackets where it is long."""
    return unicodedata.normalize("NFKC", fact.text)


def _is_blank(fact: Fact) -> bool:
    return fact.kind is Kind.BLANK or (fact.value in (None, ()) and not fact.text)


def _bare(text: str) -> str:
    said = unicodedata.normalize("NFKC", text)
    return re.sub(r"\([^()]*\)|[\s()]", "", said)


def _squeezed(text: str) -> str:
    said = unicodedata.normalize("NFKC", text).replace("（", "(").replace("）", ")")
    return re.sub(r"\s", "", said).rstrip("。.;")


def _short(label: str) -> str:
    """A label without the unit behind it."""
    said = unicodedata.normalize("NFKC", label)
    return re.sub(r"\([^()]*\)$", "", said)


def _plain(number: object) -> str:
    try:
        text = f"{Decimal(str(number)):f}"
    except InvalidOperation:
        return str(number)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _round(number: object, places: int) -> object:
    if not isinstance(number, Decimal | int):
        return number
    return Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _first(pattern: re.Pattern[str], text: str, group: int = 0) -> str:
    found = pattern.search(text)
    return found[group] if found else ""
