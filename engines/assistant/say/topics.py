"""Visits, findings, reviews, checks, changes, eligibility: what is there, and why nothing is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from engines.assistant.read.question import Shape as Asked
from engines.assistant.read.question import Topic
from engines.assistant.say import conditions, people, values, visits, words, work
from engines.assistant.say.case import Case, looked_at, nothing
from engines.assistant.say.parts import Part, begun, colon, comma, joint, noted, plain
from engines.assistant.say.rows import Row, by_subject, rows_of
from engines.assistant.say.sheet import Line
from study.facts import Fact, Kind

_CLAUSE = re.compile(r"[，。；;（(]")


def visits_told(case: Case) -> list[Part]:
    """The visits that were asked for, or that there is none."""
    rows, question = rows_of(case.answer.facts), case.question
    aspect = "next" if question.shape is Asked.NEXT_VISIT else question.aspect
    when = conditions.period({}, case.reader, question.period)
    if rows:
        made = visits.word_visits(rows, case.reader, case.marks, aspect, when)
        one = question.shape is Asked.YES_NO and len(rows) == 1
        return begun(visits.yes_or_no(rows[0], aspect), made) if one else made
    return [visits.none(case, when, aspect)]


WORK = {
    Topic.FINDINGS: (Kind.FINDING, ""),
    Topic.REVIEWS: (Kind.REVIEW, "@reviews.question"),
    Topic.RUNS: (Kind.RUN, "@runs.status"),
    Topic.CHANGES: (Kind.CHANGE, "@changes.field"),
}
"""What the rows of a topic are, and the column that those have that are there."""


_SETTLED = ("closed", "gone")
"""States of a finding that nobody has to settle any more."""


def work_told(case: Case) -> list[Part]:
    """Findings, reviews, checks and changes."""
    made, (kind, named) = list[Part](), WORK[case.question.topic]
    rows = [row for row in rows_of(case.answer.facts) if not named or row.text(named)]
    if kind is Kind.FINDING and case.question.aspect == "why":
        # Why something did not pass says what is open, not what was settled since.
        rows = [row for row in rows if row.text("@findings.status") not in _SETTLED]
    if kind is Kind.CHANGE:
        rows.sort(key=lambda row: row.text("@changes.at"), reverse=True)
    if rows:
        made = work.word_work(kind, rows, case.reader, case.marks, case.answer.left_out)
        made = [replace(part, head=_since(case) + part.head) for part in made]
    if kind is Kind.FINDING and len(case.results) > 1:
        return _findings_of(case, made)
    if kind is Kind.RUN and case.question.aspect == "missing" and case.answer.facts:
        return people.word_people(case)
    return made or [_no_work(case, kind)]


def _findings_of(case: Case, made: list[Part]) -> list[Part]:
    """Findings of who is named with what waits for a person; where there are none, what was looked at.

    Of fields that have none the other findings are told. That there is none is said of those alone whose checks
    all came to their end; of the others how the newest checks stand.
    """
    beside = [row for _query, answer in case.results[1:] for row in rows_of(answer.facts)]
    kinds = (Kind.FINDING, Kind.REVIEW, Kind.RUN)
    others, reviews, runs = ([row for row in beside if row.first.kind is kind] for kind in kinds)
    others = [row for row in others if row.text("@findings.status") not in _SETTLED]
    reviews = [row for row in reviews if row.text("@reviews.question")]
    why, unended = case.question.aspect == "why", work.unended(runs)

    def worded(kind: Kind, rows: Sequence[Row]) -> list[Part]:
        return work.word_work(kind, rows, case.reader, case.marks) if rows else []

    if made or (why and not others):
        shown = unended if made else work.unpassed(runs) or runs
        waits = worded(Kind.REVIEW, reviews) or worded(Kind.RUN, shown)
        return [*made, *waits] or [_no_work(case, Kind.RUN)]
    open_of, seen = by_subject(unended), {row.subject for row in runs}
    clean = [name for name in case.subjects if name in seen and name not in open_of]
    never = [name for name in case.subjects if name not in seen]
    unknown, found = _("whether there is a finding is not known"), list[Part]()
    if clean:
        waiting = why or {row.subject for row in reviews} & {*clean}
        none = [_no_work(case.among(clean), Kind.FINDING)]
        found += none if waiting else noted(none, [_("no review waits")])
    # Of what nobody looked at it is not said that there is nothing.
    found += noted([_no_work(case.among(never), Kind.RUN)], [unknown]) if never else []
    for rows in open_of.values():
        found += noted(worded(Kind.RUN, rows), [unknown])
    return [*found, *worded(Kind.FINDING, others), *worded(Kind.REVIEW, reviews)]


def _no_work(case: Case, kind: Kind) -> Part:
    """That there is nothing of a kind, of which fields and in which days."""
    by_aspect = {
        "undecided": (
            _("Of %(subject)s every rule could be evaluated"),
            _("Every rule could be evaluated"),
        ),
        "mine": (_("Of %(subject)s no finding is yours"), _("No finding is yours")),
    }
    by_kind = {
        Kind.FINDING: (_("%(subject)s has no findings"), _("There are no findings")),
        Kind.REVIEW: (_("%(subject)s has no review that waits"), _("No review is waiting")),
        Kind.RUN: (_("%(subject)s was not checked yet"), _("There are no checks")),
        Kind.CHANGE: (_("of %(subject)s no change was read"), _("no change of data was read")),
    }
    of_one, of_all = by_aspect.get(case.question.aspect) or by_kind[kind]
    question, who = case.question, joint().join(case.subjects)
    labels = joint().join(conditions.name_of(name, case.reader) for name in question.select)
    what = [conditions.period({}, case.reader, question.period), labels]
    if kind is Kind.RUN and question.topic is not Topic.RUNS:
        what = [labels]  # who was never checked was not in these days either
    elif kind is Kind.RUN and (question.period or question.aspect):
        of_one, of_all = _("%(subject)s has no such check"), _("There is no such check")
    of_all += looked_at(case, comma().join(filter(None, what)))
    return plain(
        _since(case) + (of_one % {"subject": who} + words.bracketed(*what) if who else of_all)
    )


def _since(case: Case) -> str:
    """Since when, where it was asked by a review: its time is the house's to say."""
    if case.question.aspect != "review" or case.question.topic is not Topic.CHANGES:
        return ""
    wanted = (c for c in case.query.get("where") or () if c.get("field") == "@changes.at")
    at = next((str(c["value"]) for c in wanted if c["op"] == ">="), "")
    if not at:
        return _("no review was decided yet; ")
    return _("since the last review (%(time)s) ") % {"time": at[:16].replace("T", " ")}


def eligibility(case: Case) -> list[Part]:
    """What the rules found of a subject, then where they stand and what was noted; no other verdict.

    A value that a criterion's range does not hold is told beside it. That no check was run, or how the newest
    stands if it did not come to its end, is said: without one nothing was found that could be open.
    """
    rows = [row for _q, answer in case.results[1:] for row in rows_of(answer.facts)]
    found = [row for row in rows if row.first.kind is Kind.FINDING]
    runs = [row for row in rows if row.first.kind is Kind.RUN]
    unended = work.unended(runs)
    unchecked = [one for one in case.subjects if one not in {row.subject for row in runs}]
    text = _("%(subject)s: the check of eligibility was not run yet")
    decides = _("whether to enrol is for the investigator to decide")
    who = {"subject": joint().join(unchecked)}
    made = [Part(text % who, notes=(decides,))] if unchecked else []
    stand = work.word_work(Kind.RUN, unended, case.reader, case.marks) if unended else []
    made += noted(stand, [decides]) if stand else []
    made += work.word_work(Kind.FINDING, found, case.reader, case.marks) if found else []
    beside, known = list[Part](), list[Fact]()
    for fact in case.answer.facts:
        line = case.sheet.line(case.reader.criteria.get(fact.field, ""))
        if line is not None:
            beside.append(_beside(fact, line, case))
        elif not words.is_blank(fact) or fact.value == ():
            known.append(fact)
    # What is written in words is as long as it is: it stands last.
    texts = [fact for fact in known if fact.text and fact.text == fact.value]
    for facts in ([fact for fact in known if fact not in texts], texts):
        told = values.word_values(facts, case.reader, case.marks, values.Asking()) if facts else []
        beside += told
    made += beside
    none = _("no open finding of the rules; whether to enrol is for the investigator to decide")
    return made if found or unchecked or unended else noted(made or [nothing(case)], [none])


def _beside(fact: Fact, line: Line, case: Case) -> Part:
    """P004 ECOG评分 3分(研究方案 §4.1:「4. ECOG 体能状态评分为 0～2 分」): the criterion's first clause."""
    text = _CLAUSE.split(line.text.partition(": ")[2].removeprefix(line.lead))[0]
    rule = f"{line.section}{colon()}「{text}」"
    said = f"{fact.subject} {words.label(fact, case.reader)} {words.value(fact, case.reader)}"
    return plain(said + words.bracketed(rule), (*case.marks([fact]), line.mark))
