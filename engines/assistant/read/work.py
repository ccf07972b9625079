"""Questions of visits, findings, reviews, runs, changes, the target, the dictionary and eligibility."""

from __future__ import annotations

from dataclasses import replace

from engines.assistant.read.clause import Clause, refuse
from engines.assistant.read.conditions import Conditions
from engines.assistant.read.question import Question, Shape, Topic
from engines.assistant.read.tokens import CODED, Kind

_MOST_CHANGES = 50
_TARGETS = {
    "left": Shape.TARGET_LEFT,
    "pace": Shape.TARGET_PACE,
    "rate": Shape.TARGET_RATE,
    "total": Shape.TARGET,
}
_ASKED = (Kind.COUNT, Kind.COUNT_ROWS, Kind.WHO, Kind.YES_NO)
_OF_ALL = ("overdue", "late", "closing", "due", "early", "actual", "missing", "pending")
_DATA = (Kind.FIELD, Kind.FORM, Kind.TERM, Kind.LIMIT, Kind.COMPARE)


def work(clause: Clause, scope: Question) -> Question | None:
    """The question of a clause that asks for no data of the CRF; None for any other."""
    for asks, read in _TOPICS:
        if asks(clause):
            clause.fill("people", "unit")
            if not scope.subjects and read is not _visits:
                clause.take(Kind.EVERYONE)
            return read(clause, scope)
    return None


def _asks_visits(clause: Clause) -> bool:
    planned = clause.has(Kind.PLACE, value="visit")
    asked = (Kind.WHEN, Kind.YES_NO, Kind.COUNT, Kind.COUNT_ROWS, Kind.WHO, Kind.NOT, Kind.EMPTY)
    came = clause.has(*asked) and _says_came(clause)
    if clause.has(*_DATA, Kind.ENROLLED, Kind.ROWS) and not clause.has(Kind.VISIT):
        return False
    if clause.has(*_DATA, Kind.ENROLLED):
        return False
    return came or clause.has(Kind.VISIT) or (planned and clause.has(*asked))


def _says_came(clause: Clause) -> bool:
    return any((t.kind, t.said) == (Kind.FILL, "来") for t in clause.tokens)


def _visits(clause: Clause, scope: Question) -> Question:
    scope = replace(scope, topic=Topic.VISITS, place=_places(clause) or scope.place)
    people = any(t.value == "people" for t in clause.tokens)
    made = _made(clause, scope, people)
    asks = clause.ends_with_no()
    where = Conditions(clause, many=not scope.subjects).read().where
    refuse(any(q.get("field") == clause.setting.design.status_field for q in where))
    aspect = _aspect(clause, scope, made)
    asked = {t.kind for t in clause.take(*_ASKED, Kind.WHEN)} | ({Kind.YES_NO} if asks else set())
    clause.take(Kind.EVERYONE, Kind.AMONG)
    refuse(clause.fill("all") and {Kind.COUNT, Kind.WHO} & asked)
    clause.fill("now", "from", "to")
    question = replace(scope, where=tuple(where), aspect=_told_aspect(clause, scope, aspect, asked))
    counted = {Kind.COUNT, Kind.COUNT_ROWS} & asked
    by = clause.take(Kind.EACH_SITE)
    if counted or by:
        of_rows = Kind.COUNT_ROWS in asked or scope.subjects or not (people or scope.place)
        shape = Shape.GROUPS if by else Shape.COUNT_ROWS if of_rows else Shape.COUNT
        return replace(question, shape=shape, aggregate="count", by=("@site",) if by else ())
    if question.aspect == "next":
        return replace(question, shape=Shape.NEXT_VISIT)
    if Kind.WHEN in asked and scope.subjects:
        return replace(question, shape=Shape.WHEN)
    whether = Kind.YES_NO in asked and scope.subjects and question.aspect != "pending"
    return replace(question, shape=Shape.YES_NO if whether else Shape.VISITS)


def _told_aspect(clause: Clause, scope: Question, aspect: str, asked: set[Kind]) -> str:
    """The aspect with what the words that ask add to it; not read where nobody and no days are named."""
    lasted, what = clause.take(Kind.LASTED), clause.take(Kind.WHAT, value="")
    counted = {Kind.COUNT, Kind.COUNT_ROWS} & asked
    how_long = any(t.kind is Kind.VISIT and t.said[-1] in "天久" for t in clause.tokens)
    modal = any(t.value == "modal" for t in clause.tokens)
    # What is to be done at a visit stands in the protocol.
    refuse(modal and any(t.said in ("什么", "啥") for t in what))
    refuse("还有" in clause.said and counted)
    came = _says_came(clause) and not (scope.place or scope.period)
    aspect = aspect or ("next" if came and Kind.WHEN in asked else "")
    refuse(not aspect and (counted or Kind.WHO in asked))
    refuse(lasted and aspect not in ("overdue", "late", "early"))
    # Whose visit is meant is not said; that it was made is said of somebody.
    told_apart = asked & {*_ASKED[:3], Kind.WHEN} or scope.subjects or scope.period or scope.site
    refuse(aspect == "actual" and not told_apart and not clause.has(Kind.EACH_SITE))
    refuse(not (scope.subjects or scope.period or scope.site or aspect in _OF_ALL))
    # Without a word that asks it states something.
    refuse(scope.subjects and aspect == "overdue" and not (asked or lasted or what or how_long))
    refuse(aspect in ("next", "last", "open", "close") and not scope.subjects)
    return aspect


def _made(clause: Clause, scope: Question, people: bool) -> bool:
    """Whether visits were made; a word for the end of the study says so of visits and of nobody."""
    done = clause.setting.vocabulary.done_choices
    readings = {i: clause.tokens[i].readings for i in clause.places(Kind.CHOICE)}
    finished = {i for i, rs in readings.items() if {r._replace(weight=1.0) for r in rs} & done}
    clause.free -= finished
    narrowed = clause.has(Kind.COUNT_ROWS) or scope.subjects or scope.place or scope.period
    refuse(finished and (people or clause.has(Kind.FILL, value="all") or not narrowed))
    came = _says_came(clause) and not clause.has(Kind.COUNT_ROWS)
    made = bool(clause.take(Kind.FILL, value="done")) and not came
    return made or bool(finished)


def _aspect(clause: Clause, scope: Question, made: bool) -> str:
    """What is asked of visits: those that are due, were made, are overdue, the next one, the window's end."""
    aspects = {t.value for t in clause.take(Kind.VISIT)} - {"topic"}
    rows = {t.value for t in clause.take(Kind.ROWS) if t.said != "最近" or "closing" not in aspects}
    due, no = clause.take(Kind.FILL, value="modal"), clause.take(Kind.EMPTY, Kind.NOT)
    aspects = {"next"} if aspects == {"next", "due"} else aspects
    # From which day to which: both ends.
    both = clause.has(Kind.WHEN) and any(t.said[0] == "到" for t in clause.tokens)
    aspects -= {"open", "close"} if both or {"open", "close"} <= aspects else set()
    aspects = aspects - {"actual"} or aspects
    aspect = next(iter(aspects), "")
    refuse(not rows <= {"each", "latest"} or len(aspects) > 1)
    if rows == {"latest"}:
        refuse(aspect not in ("", "actual") or not scope.subjects or no or due)
        return "last"
    today = clause.setting.calendar.today.isoformat()
    last = scope.period[1] if scope.period else None
    past = bool(last and last < today)
    if no:
        # Of each visit another thing is asked.
        refuse(len(scope.place) > 1 or (made and any(t.kind is Kind.EMPTY for t in no)))
        refuse(aspect not in ("", "actual", "due") or not (scope.subjects or scope.place) or past)
        # What does not apply to somebody is nothing they have still to do.
        still = scope.subjects or not scope.place or any("还" in t.said for t in clause.tokens)
        return "pending" if still else "missing"
    refuse(due and aspect in ("last", "open", "early"))
    if due and aspect in ("", "actual"):
        aspect = "due"
    if not aspect and scope.period:
        aspect = "actual" if made or past else "due"
    aspect = aspect or ("actual" if made else "")
    return "actual" if aspect == "due" and past else aspect


def _places(clause: Clause) -> tuple[str, ...]:
    names = [r.name for t in clause.take(Kind.PLACE) for r in t.readings]
    planned = {v.visit for v in clause.setting.design.plan.visits}
    refuse(not {*names} <= planned)
    return tuple(dict.fromkeys(names))


def _findings(clause: Clause, scope: Question) -> Question:
    aspects = {t.value for t in clause.take(Kind.FINDING)}
    refuse(clause.take(Kind.RUN) and not scope.subjects)
    named = clause.take(Kind.FIELD, Kind.FORM)
    select = [r.name for t in named for r in t.readings]
    # What the rows of a form are called says which form.
    select += [clause.setting.design.form_of(t.name) for t in clause.take(Kind.TERM)]
    refuse("" in select)
    # Of somebody's findings there is no decision that was taken then.
    then = {i for i in clause.places(Kind.RULE) if clause.tokens[i].said in ("当时", "当初")}
    clause.free -= then if scope.subjects else set()
    aspects |= {"why"} if clause.take(Kind.WHAT, value="why") else set()
    aspects |= {"new"} if clause.fill("new") else set()
    aspects |= {"mine"} if "我的" in clause.said else set()
    clause.fill("now", "all", "done")
    aspect = _only(aspects - {"", "open"})
    refuse((aspect == "why" and len(scope.subjects) != 1) or (aspect == "new" and not scope.period))
    question = replace(scope, topic=Topic.FINDINGS, shape=Shape.ROWS, aspect=aspect)
    return _told(clause, replace(question, select=tuple(dict.fromkeys(select))))


def _only(aspects: set[str]) -> str:
    """The one aspect that is asked for, "" for none."""
    refuse(len(aspects) > 1)
    return next(iter(aspects), "")


def _told(clause: Clause, question: Question) -> Question:
    """The rows, how many, of whom, or whether there is one."""
    by = ("@site",) if clause.take(Kind.EACH_SITE) else ()
    clause.take(Kind.EACH)
    people = any("人" in t.said or t.said in ("几位", "几名") for t in clause.take(Kind.COUNT))
    counted = people or bool({Kind.COUNT, Kind.COUNT_ROWS} & {t.kind for t in clause.tokens})
    clause.take(Kind.COUNT_ROWS)
    bare = [t.said for t in clause.take(Kind.WHAT, value="")]
    who, yes = clause.take(Kind.WHO), clause.take(Kind.YES_NO)
    if counted or by or "多少" in bare:
        shape = Shape.GROUPS if by else Shape.COUNT if people else Shape.COUNT_ROWS
        return replace(question, aggregate="count", shape=shape, by=by)
    if who:
        return replace(question, shape=Shape.LIST)
    return replace(question, shape=Shape.YES_NO if yes else question.shape)


def _reviews(clause: Clause, scope: Question) -> Question:
    clause.take(Kind.REVIEW)
    clause.fill("now", "all")
    # Who did it is not told.
    refuse(scope.subjects and clause.has(Kind.WHO))
    today = clause.setting.calendar.today.isoformat()
    period = None if scope.period == (today, today) else scope.period
    return _told(clause, replace(scope, topic=Topic.REVIEWS, shape=Shape.ROWS, period=period))


def _runs(clause: Clause, scope: Question) -> Question:
    clause.fill("now", "done")
    asks_no, said = clause.ends_with_no() and bool(scope.subjects), clause.tokens
    done = {i for i in clause.places(Kind.VISIT) if said[i].said[:2] in ("什么", "哪天", "几号")}
    status = {i for i in clause.places(Kind.FIELD) if "哪" in said[i].said}
    clause.free -= done | status
    asks = clause.has(*_ASKED, Kind.WHAT, Kind.WHEN) or done or status or asks_no
    values = {t.value for t in clause.take(Kind.RUN)}
    # Without a word that asks it orders something.
    refuse(not asks and values == {""})
    values |= {"result"} if clause.take(Kind.WHAT, value="why") else set()
    rows, no = {t.value for t in clause.take(Kind.ROWS)}, clause.take(Kind.NOT)
    aspect = _only(values - {"", "asks"})
    refuse(not rows <= {"latest"})
    if aspect == "result":
        clause.take(Kind.WHAT, Kind.YES_NO)
        refuse(len(scope.subjects) != 1 or no or rows)
        # What it found, and where it stands.
        return replace(scope, topic=Topic.FINDINGS, shape=Shape.ROWS, aspect="why")
    question = replace(scope, topic=Topic.RUNS, aspect=aspect, shape=Shape.ROWS)
    if asks_no:
        return replace(question, shape=Shape.YES_NO)
    if no and "过" in clause.said and not scope.subjects and clause.take(Kind.WHO, Kind.COUNT):
        return replace(question, aspect="missing", shape=Shape.LIST)
    refuse(no)
    if clause.take(Kind.WHEN) or done:
        return replace(question, shape=Shape.WHEN)
    told = _told(clause, question)
    refuse(not (scope.subjects or scope.site or scope.period or aspect or told.aggregate))
    return told


def _changes(clause: Clause, scope: Question) -> Question:
    """Changes of values; a field or form that is named narrows them."""
    aspects = {t.value for t in clause.take(Kind.CHANGED)} - {""}
    names = [r.name for t in clause.take(Kind.FIELD, Kind.FORM) for r in t.readings]
    rows = {t.value for t in clause.take(Kind.ROWS)}
    clause.take(Kind.WHAT, Kind.YES_NO)
    narrowed = scope.subjects or scope.period or aspects or names or scope.site
    refuse(not rows <= {"latest", "each"} or not narrowed)
    question = replace(scope, topic=Topic.CHANGES, shape=Shape.ROWS, aspect=_only(aspects))
    select = tuple(dict.fromkeys(names))
    return replace(question, select=select, order="-@changes.at", limit=_MOST_CHANGES)


def _target(clause: Clause, scope: Question) -> Question:
    values = [t.value for t in clause.take(Kind.TARGET)]
    clause.take(Kind.ENROLLED)
    clause.fill("now", "to", "from")
    clause.take(Kind.WHAT, value="")
    clause.take(Kind.COUNT, Kind.SHARE)
    finished = clause.take(Kind.CHOICE)
    first = next((value for value in _TARGETS if value in values), "total")
    done = clause.setting.vocabulary.done_choices
    refuse(not all({*t.readings} & done for t in finished))
    first = "rate" if finished else first
    if first == "pace":
        clause.take(Kind.WHEN, Kind.LASTED, Kind.FILL)
    elif first in ("rate", "left"):
        clause.take(Kind.LASTED)
    refuse(scope.subjects or scope.period or scope.place or scope.site)
    return replace(scope, topic=Topic.TARGET, shape=_TARGETS[first])


def _eligibility(clause: Clause, scope: Question) -> Question:
    """Whether somebody who is named is eligible; of nobody it asks for the rule."""
    clause.take(Kind.RULE, Kind.EACH, Kind.YES_NO, Kind.ENROLLED)
    clause.take(Kind.WHAT, value="why")
    refuse(not scope.subjects or scope.place or scope.period)
    return replace(scope, topic=Topic.ELIGIBILITY, shape=Shape.YES_NO)


def _dictionary(clause: Clause, scope: Question) -> Question:
    """What is collected, in which choices and units: of nobody's data."""
    said = {t.value for t in clause.take(Kind.DICTIONARY)}
    order = ("choices", "unit", "fields", "forms", "collected", "crf", "entered")
    aspect = next(word for word in order if word in said)
    fields = [r.name for t in clause.take(Kind.FIELD) for r in t.readings if r.name[:1] != "@"]
    forms = [t.name for t in clause.take(Kind.FORM)]
    asked = clause.take(Kind.WHAT, value="") + clause.take(*_ASKED)
    clause.take(Kind.ROWS, value="each")
    clause.take(Kind.WHAT, value="how")
    clause.take(Kind.AMONG)
    clause.fill("all", "noun")
    named = fields or forms
    refuse(aspect == "fields" and not named)
    if aspect == "entered":
        aspect = "choices"
    refuse(aspect == "choices" and not any(clause.setting.column_kind(n) in CODED for n in fields))
    refuse(aspect == "unit" and not fields)
    if aspect in ("collected", "crf", "forms"):
        aspect = ("fields" if forms and not fields else "collected") if named else "forms"
    bare = not {"collected", "fields", "forms"} & said and aspect == "collected"
    lists = any(t.kind is Kind.YES_NO or t.said[-1] in "些么啥" for t in asked)
    refuse(scope != Question() or (bare and not lists))
    refuse(not asked and aspect not in ("unit", "choices"))
    kept = replace(scope, topic=Topic.DICTIONARY, shape=Shape.ROWS, aspect=aspect)
    return replace(kept, select=tuple(dict.fromkeys(named)))


_TOPICS = (
    (lambda c: c.has(Kind.RULE, value="eligible"), _eligibility),
    (lambda c: c.has(Kind.DICTIONARY), _dictionary),
    (lambda c: c.has(Kind.CHANGED), _changes),
    (lambda c: c.has(Kind.FINDING), _findings),
    (lambda c: c.has(Kind.REVIEW), _reviews),
    (lambda c: c.has(Kind.RUN), _runs),
    (lambda c: c.has(Kind.TARGET) and not c.has(*_DATA, Kind.VISIT, Kind.PLACE), _target),
    (_asks_visits, _visits),
)
