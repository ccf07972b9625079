"""What the grammar did not read, asked of a model in one call: a flat, strict object of enums and quoted words.

The model names fields and copies words; numbers, dates, choices and limits are read from those words here, and
what the study does not take is a fault. Nothing that it returns is trusted more than a stranger's typing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.build import (
    MEANS,
    SIDES,
    SIGN,
    TURNED,
    Refused,
    beyond,
    fields_to_show,
    forms_of,
    grouped,
    lasted,
    limit,
    picked,
)
from engines.assistant.read.naming import fold
from engines.assistant.read.question import Query, Question, Shape, Topic, condition_fields
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting
from engines.assistant.read.task import State
from engines.assistant.read.tokens import CODED, Days, Kind, Token, iso
from study.facts import json_value

MOST_TASKS, MOST_FIELDS, MOST_LABELS = 4, 40, 20
OTHERS = ("protocol", "history", "memory", "agenda", "reason", "entry", "talk")
_TARGETS = {"left": Shape.TARGET_LEFT, "rate": Shape.TARGET_RATE, "pace": Shape.TARGET_PACE}
_WORDED = (Shape.TARGET, *_TARGETS.values(), Shape.VISITS, Shape.NEXT_VISIT)
_CHANGES = ("diff", "percent", "ratio")
_STATES = ("next", "last", "due", "overdue", "late", "early", "missing", "pending", "closing")
_ASPECTS = {
    Topic.VISITS: (*_STATES, "actual"),
    Topic.FINDINGS: ("why", "new", "undecided", "mine"),
    Topic.RUNS: ("failed", "missing"),
    Topic.CHANGES: ("review",),
    Topic.DICTIONARY: ("choices", "unit", "fields", "forms", "collected"),
}
_FIGURES = ("none", *MEANS, "range", *_CHANGES, "since", *_TARGETS, *chain(*_ASPECTS.values()))
_ENUMS = {
    "task": (*(topic.value for topic in Topic), *OTHERS),
    "shape": (*(shape.value for shape in Shape if shape not in _WORDED), "same"),
    "rows": ("none", "latest", "first", "highest", "lowest", "nth", "nth_last"),
    "figure": tuple(dict.fromkeys(_FIGURES)),
    "op": ("=", "!=", ">", ">=", "<", "<=", "between", "contains", "blank", "filled"),
    "by": ("field", "site", "status", "month", "week", "quarter", "event", "subject"),
}
_COLUMNS = {"@enrolled": "入组日期", "@status": "状态", "@site": "中心"}
_EITHER = ("或", "or", "任")
_OPEN = ("现在", "至今", "今天", "目前")
_NEWEST_CHANGES = 50


def _listed(word: str, info: ValidationInfo) -> str:
    if word not in _ENUMS[str(info.field_name)]:
        raise ValueError(word)
    return word


class Where(BaseModel):
    """A condition as a model writes it."""

    model_config = ConfigDict(frozen=True)
    field: str
    op: str
    value: str = ""
    negated: bool = Field(default=False, alias="not")
    quote: str = ""

    @field_validator("op")
    @classmethod
    def _known(cls, word: str, info: ValidationInfo) -> str:
        return _listed(word, info)


class Doubt(BaseModel):
    """A word that the study does not collect, or that may mean several things."""

    word: str
    options: tuple[str, ...] = ()


class Item(BaseModel):
    """One task as a model writes it; what it leaves out is as good as empty."""

    task: str
    shape: str = "value"
    subjects: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    site: tuple[str, ...] = ()
    where: tuple[Where, ...] = ()
    of: tuple[str, ...] = ()
    rows: str = "none"
    n: int = 0
    figure: str = "none"
    by: tuple[str, ...] = ()
    first: str = Field(default="", alias="from")
    last: str = Field(default="", alias="to")
    versus: tuple[str, ...] = ()
    follows: bool = False
    quotes: tuple[str, ...] = ()
    unclear: tuple[Doubt, ...] = ()
    search: str = ""

    @field_validator("task", "shape", "rows", "figure")
    @classmethod
    def _known(cls, word: str, info: ValidationInfo) -> str:
        return _listed(word, info)

    @property
    def words(self) -> tuple[str, ...]:
        """All words of the message that it says it has read."""
        told = [w for c in self.where for w in (c.quote, c.value)]
        doubts = [doubt.word for doubt in self.unclear]
        return (*self.quotes, *told, self.first, self.last, *doubts, self.search, *self.versus)


def parse(reply: Mapping[str, Any] | None) -> tuple[Item, ...] | None:
    """The tasks of a reply, at most four; None for what is no such object."""
    try:
        items = (reply or {})["tasks"]
        return tuple(Item.model_validate(item) for item in items[:MOST_TASKS]) or None
    except (ValidationError, KeyError, TypeError):
        return None


def schema(names: Sequence[str]) -> dict[str, Any]:
    """The schema of the reply: closed objects, every key required, nothing but types and enums."""
    enums = {**_ENUMS, "fields": names, "field": names}

    def of(kind: Any, key: str) -> dict[str, Any]:
        if get_origin(kind) is tuple:
            return {"type": "array", "items": of(get_args(kind)[0], key)}
        if issubclass(kind, BaseModel):
            return closed(kind)
        enum = {"enum": list(enums[key])} if key in enums else {}
        return {"type": {str: "string", int: "integer", bool: "boolean"}[kind]} | enum

    def closed(model: type[BaseModel]) -> dict[str, Any]:
        parts = {f.alias or name: of(f.annotation, name) for name, f in model.model_fields.items()}
        told = {"type": "object", "properties": parts, "required": list(parts)}
        return told | {"additionalProperties": False}

    tasks = {"type": "array", "items": closed(Item)}
    told = {"type": "object", "properties": {"tasks": tasks}, "required": ["tasks"]}
    return told | {"additionalProperties": False}


def names_for(tokens: Sequence[Token], setting: Setting, state: State) -> dict[str, str]:
    """The fields, forms and columns that a model may name, with their labels, nearest first.

    Of more than forty those that the message names, then those of the forms it names, then those whose label
    shares most characters with it.
    """
    design = setting.design
    hidden = design.hidden | design.metadata.identifier_fields | {design.metadata.record_id_field}
    shown = [n for n in design.metadata.fields if n not in hidden and setting.column_kind(n)]
    labels = {name: design.metadata.label(name) for name in shown}
    labels |= {form: design.metadata.form_label(form) for form in design.shown_forms}
    # The digits of a subject's id say nothing of V1 and V5.
    said = {sign for token in tokens for sign in token.said if not sign.isdigit()}
    meant = {r.name: r.weight for t in tokens for r in t.readings}
    units = (t.value or "岁" for t in tokens if t.kind is Kind.NUMBER)
    meant |= {r.name: 1.0 for unit in units for r in setting.vocabulary.units.get(unit, ())}
    last = state.last.select if state.last else ()

    heads = {design.status_field, design.sex_field, *map(setting.naming_field, design.shown_forms)}
    forms = {design.form_of(name) for name in meant}

    def near(name: str) -> float:
        told = 3 * meant.get(name, 0.0) + 2 * (name in last) + 1.5 * (name in heads)
        form = design.form_of(name)
        rows = 2 * (name in design.repeating_forms) + 0.8 * setting.repeats(form)
        alike = len(said & {*labels[name]}) / (1 + len({*labels[name]}))
        return told + rows + (form in meant) + 0.5 * (form in forms) + alike

    best = sorted(labels, key=lambda name: -near(name))[:MOST_FIELDS]
    return {name: labels[name] for name in best} | _COLUMNS


@dataclass(frozen=True, slots=True)
class Asked:
    """What the words of an item are read in."""

    setting: Setting
    state: State
    tokens: tuple[Token, ...]
    message: str = ""


def question_of(item: Item, asked: Asked) -> Question:
    """The question of an item of the study's data. Raises Refused.

    `asked.tokens`: of the whole message, which say whom a pronoun means and whether all centres are meant.
    """
    both, of = _versus(item, asked), {quote for quote in item.of if quote}
    base = Question(
        topic=Topic(item.task),
        subjects=tuple(dict.fromkeys(_subject(said, asked) for said in both.subjects)),
        select=tuple(dict.fromkeys(_field(name, asked.setting) for name in item.fields)),
        where=_conditions(item, [w for w in item.where if w.quote not in of], asked),
        of=_conditions(item, [w for w in item.where if w.quote in of], asked),
        site=tuple(dict.fromkeys(_site(said, asked) for said in both.site)),
        place=tuple(dict.fromkeys(p for said in both.place for p in _places(said, asked))),
        period=_period(item, asked),
    )
    if not base.subjects and any(t.kind is Kind.PRONOUN for t in asked.tokens):
        base = replace(base, subjects=asked.state.subjects)
    if item.shape == "yes_no" and not base.where:
        base = _limited(base, asked)
    if item.follows and asked.state.last is not None:
        return _followed(item, base, asked)
    why = any(t.kind is Kind.WHAT and t.value == "why" for t in asked.tokens)
    if why and base.topic is Topic.RUNS and len(base.subjects) == 1:
        # Why a run did not pass: what it found says it.
        return replace(base, topic=Topic.FINDINGS, shape=Shape.ROWS, aspect="why")
    return (_data if base.topic is Topic.DATA else _work)(item, base, asked.setting)


def _limited(base: Question, asked: Asked) -> Question:
    """高不高: whether the values that are named lie beyond their limits, or that these have none."""
    sides = {t.value for t in asked.tokens if t.kind is Kind.LIMIT and t.value in SIDES}
    if len(sides) != 1 or not base.select or not all(map(asked.setting.is_number, base.select)):
        return base
    found = beyond([*base.select], sides.pop(), asked.setting)
    return replace(base, where=({"any": found},)) if found else replace(base, aspect="unlimited")


def _versus(item: Item, asked: Asked) -> Item:
    """The other side of a comparison put beside the first one, by what kind of word it is."""
    for said in item.versus:
        kinds = {t.kind for t in scan(said, asked.setting)}
        for key, kind in (("subjects", Kind.SUBJECT), ("place", Kind.PLACE), ("site", Kind.SITE)):
            if kind in kinds and said not in getattr(item, key):
                item = item.model_copy(update={key: (*getattr(item, key), said)})
    return item


def _subject(said: str, asked: Asked) -> str:
    named = {t.value for t in asked.tokens if t.kind is Kind.SUBJECT}
    read = [t.value for t in scan(said, asked.setting) if t.kind is Kind.SUBJECT]
    found = next((n for n in (said, *read) if n in named or n in asked.setting.subjects), "")
    if not found and not read:
        raise Refused(said)
    return found or read[0]


def _field(name: str, setting: Setting) -> str:
    known = name in _COLUMNS or setting.column_kind(name) or name in setting.design.shown_forms
    design = setting.design
    if not known or name in design.hidden | design.metadata.identifier_fields:
        raise Refused(name)
    return name


def _site(said: str, asked: Asked) -> str:
    setting = asked.setting
    if said in setting.sites:
        return said
    for token in scan(said, setting):
        if token.kind is Kind.SITE:
            return token.value
        if token.kind is Kind.OWN_SITE and setting.own_site:
            return setting.own_site
    raise Refused(said)


def _places(said: str, asked: Asked) -> list[str]:
    if asked.setting.events_at(said):
        return [said]
    found = [r.name for t in scan(said, asked.setting) if t.kind is Kind.PLACE for r in t.readings]
    if not found:
        raise Refused(said)
    return found


def _period(item: Item, asked: Asked) -> tuple[str | None, str | None] | None:
    """The days of the words quoted, also where the second end does not stand alone."""
    if not (item.first or item.last):
        return None
    said = [item.first, item.last]
    if item.first and item.last in _OPEN:
        begin = _days(item.first, asked)
        return iso((begin[0], None)) if begin else None
    whole = _days(f"{item.first}到{item.last}", asked) if item.first and item.last else None
    if whole and whole[0] and whole[1] and whole != _days(item.first, asked):
        return iso(whole)
    first, last = (_days(words, asked) if words else None for words in said)
    if (not first and not last) or (item.last and not last):
        raise Refused(item.last or item.first)
    if first and last and item.first != item.last:
        return iso((first[0], last[1]))
    return iso(first or last or (None, None))


def _days(said: str, asked: Asked) -> Days | None:
    named = [t for t in asked.tokens if t.kind is Kind.PERIOD]
    # A day that only the message can place is read as it was read there.
    tokens = [t for t in named if t.said == fold(said)]
    tokens = tokens or [t for t in scan(said, asked.setting) if t.kind is Kind.PERIOD]
    tokens = tokens or [t for t in named if fold(said) in t.said]
    return tokens[0].days if len(tokens) == 1 else None


def _conditions(item: Item, items: Sequence[Where], asked: Asked) -> tuple[Query, ...]:
    """The conditions; several of one quote that says or, or that is one word of several fields, are an any."""
    found: list[Query] = []
    # Of one subject it is asked whether there is such a reading: a no is told over all of them.
    asks = item.shape == "yes_no" and bool(item.subjects or item.follows)
    while items:
        same = [one for one in items if one.quote and one.quote == items[0].quote]
        alike = same if len(same) > 1 and _is_either(same, asked) else items[:1]
        items = [one for one in items if one not in alike]
        told = [_condition(one, asked, asks) for one in alike]
        found.append(told[0] if len(told) == 1 else {"any": told})
    return tuple(found)


def _is_either(items: Sequence[Where], asked: Asked) -> bool:
    quote = fold(items[0].quote)
    tokens = scan(quote, asked.setting)
    named = [{r.name for r in t.readings} for t in tokens if len(t.readings) > 1]
    fields = {one.field for one in items}
    return any(word in quote for word in _EITHER) or any(fields <= names for names in named)


def said_in(words: str, message: str) -> bool:
    """Whether a message has these words, whatever blanks and marks stand between them."""
    bare = ("".join(c for c in fold(text) if c.isalnum()) for text in (words, message))
    return next(bare) in next(bare)


def _condition(item: Where, asked: Asked, asks: bool) -> Query:
    setting = asked.setting
    name = _field(item.field, setting)
    if name in setting.design.shown_forms:
        name = setting.naming_field(name)
    tokens = scan(item.value or item.quote, setting)
    if not _is_said(item, name, tokens, asked):
        raise Refused(item.quote or item.value)
    if item.op in ("blank", "filled") or _is_enrolled(name, item, tokens, setting):
        return _filled(name, (item.op in ("filled", "=")) is not item.negated, setting)
    limits = [t.value for t in tokens if t.kind is Kind.LIMIT and t.value in SIDES]
    if limits and setting.is_number(name):
        return _abnormal(name, limits[0], item, asks, setting)
    value = _value(name, item, tokens, setting)
    op, denied = item.op, item.negated or item.op == "!="
    op = "=" if op == "!=" else op
    text = setting.column_kind(name) is ColumnKind.TEXT and not setting.is_date(name)
    if setting.column_kind(name) is ColumnKind.TICKS or text:
        op = "contains" if op == "=" else op
    elif op == "contains":
        op = "="
    if isinstance(value, list) and op != "between":
        op = "in"
    condition: Query = {"field": name, "op": op, "value": value}
    if setting.is_number(name) and op in TURNED and not asks:
        every = denied or any(t.kind is Kind.ALWAYS for t in asked.tokens)
        turned = condition | {"op": TURNED[op] if denied else op}
        return turned | ({"holds": "every"} if every else {})
    if not denied or (asks and setting.is_number(name)):
        return condition
    if op == "=" and not setting.repeats(setting.design.form_of(name)):
        return condition | {"op": "!="}
    return {"none": [condition]}


def _is_enrolled(name: str, item: Where, tokens: list[Token], setting: Setting) -> bool:
    """Whether it is written as a value of its day that somebody is enrolled or is not."""
    enrols = name in ("@enrolled", setting.design.enrolment_field) and item.op in ("=", "!=")
    return enrols and not any(t.kind in (Kind.PERIOD, Kind.FIELD) for t in tokens)


def _is_said(item: Where, name: str, tokens: list[Token], asked: Asked) -> bool:
    """Whether the message has the quote, without one some letter of the value, which may be a label.

    Numbers are held to the message with the whole question (anchors).
    """
    if item.quote or not item.value:
        return said_in(item.quote, asked.message) or not asked.message
    flag = asked.setting.column_kind(name) is ColumnKind.FLAG or asked.setting.is_number(name)
    limit = any(t.kind is Kind.LIMIT for t in tokens)
    return flag or limit or bool({*fold(item.value)} & {*fold(asked.message)})


def _filled(name: str, is_filled: bool, setting: Setting) -> Query:
    """Of rows that repeat nobody has one where no row names itself; of others the field is empty."""
    if is_filled:
        return {"field": name, "op": "filled"}
    form = setting.design.form_of(name)
    if setting.repeats(form) and name == setting.naming_field(form):
        return {"none": [{"field": name, "op": "filled"}]}
    return {"field": name, "op": "blank"}


def _abnormal(name: str, said: str, item: Where, asks: bool, setting: Setting) -> Query:
    found = beyond([name], said, setting)
    if not found and said == "normal":
        raise Refused(item.quote or item.value)
    if not found:
        [(op, side), *_rest] = SIDES[said]
        found = [{"field": name, "op": op, "value": limit(side)}]
    if not asks and (said == "normal") is not (item.negated or item.op == "!="):
        found = [c | {"op": TURNED[c["op"]], "holds": "every"} for c in found]
        return found[0] if len(found) == 1 else {"all": found}
    return found[0] if len(found) == 1 else {"any": found}


def _value(name: str, item: Where, tokens: list[Token], setting: Setting) -> Any:
    """What the words of a condition stand for in its field. Raises Refused."""
    said = item.value or item.quote
    kind = setting.column_kind(name)
    numbers = [t.number for t in tokens if t.kind is Kind.NUMBER and t.number is not None]
    sides = [t.value for t in tokens if t.kind is Kind.LIMIT and setting.is_number(name)]
    if kind in CODED or name in ("@status", "@site"):
        return _code(name, item, tokens, setting)
    if sides or (numbers and any(t.value == "倍" for t in tokens)):
        return limit((sides or ["high"])[0], numbers[0] if numbers else None)
    if setting.is_date(name):
        return _day(name, item, tokens, setting)
    others = [t.name for t in tokens if t.kind is Kind.FIELD and t.name != name]
    if setting.is_number(name) and others and not numbers:
        return {"field": others[0]}
    if setting.is_number(name):
        if len(numbers) != (2 if item.op == "between" else 1):
            raise Refused(said)
        return [json_value(n) for n in numbers] if item.op == "between" else json_value(numbers[0])
    if not said:
        raise Refused(name)
    # Where people have another word than the study writes.
    meant = setting.vocabulary.rewrites.get(fold(said), said)
    return fold(meant)


def _code(name: str, item: Where, tokens: list[Token], setting: Setting) -> Any:
    if name == "@site":
        return next((t.value for t in tokens if t.kind is Kind.SITE), item.value)
    field = setting.design.status_field if name == "@status" else name
    choices = setting.design.metadata.choices(field)
    said = fold(item.value or item.quote)
    exact = [code for code, label in choices.items() if said in (fold(label), fold(code))]
    told = [*tokens, *(scan(item.quote, setting) if item.quote else ())]
    codes = exact or [r.code for t in told for r in t.readings if r.name == field and r.code]
    if not codes and choices.keys() >= {"0", "1"} and len(choices) == 2:
        no = any(t.kind is Kind.NOT for t in tokens) or said in ("否", "无", "no")
        return "0" if no else "1"
    numbers = [str(json_value(t.number)) for t in tokens if t.number is not None]
    codes = codes or [n for n in numbers if n in choices]
    inside = [c for c, label in choices.items() if len(said) > 1 and said in fold(label)]
    codes = list(dict.fromkeys(codes or inside))
    if not codes or (len(codes) > 1 and item.op not in ("=", "!=", "contains", "between")):
        raise Refused(item.value or item.quote)
    return codes[0] if len(codes) == 1 else codes


def _day(name: str, item: Where, tokens: list[Token], setting: Setting) -> Any:
    days = [t.days for t in tokens if t.kind is Kind.PERIOD]
    if days:
        first, last = iso(days[0])
        if item.op in ("<", ">="):
            return first or last
        if item.op in (">", "<="):
            return last or first
        return [first or last, last or first] if item.op == "between" or first != last else first
    known = {Kind.ENROLLED: setting.design.enrolment_field}
    others = [known.get(t.kind, t.name) for t in tokens if t.kind in (Kind.FIELD, Kind.ENROLLED)]
    other = next((n for n in others if n != name and setting.is_date(n)), "")
    if not other:
        raise Refused(item.value or item.quote)
    return {"field": other}


def _data(item: Item, base: Question, setting: Setting) -> Question:
    shape = Shape(item.shape) if item.shape != "same" else Shape.VALUE
    if item.figure in MEANS and shape in (Shape.VALUE, Shape.LIST, Shape.COUNT):
        shape = Shape.AGGREGATE
    told = shape in (Shape.SHARE, Shape.AGGREGATE, Shape.GROUPS, Shape.WHEN) and base.select
    status = {setting.design.status_field, "@status", "@enrolled"}
    if setting.status_reason in base.select and {*condition_fields(base.where)} <= status:
        # Why somebody left or was never enrolled stands with the status.
        select = (setting.design.status_field, *(n for n in base.select if n not in status))
        return replace(base, shape=Shape.VALUE, select=select, where=())
    base = replace(base, shape=shape, select=base.select if told else fields_to_show(base, setting))
    if shape in (Shape.OVERVIEW, Shape.BLANKS):
        return replace(base, select=forms_of(base, setting) or setting.design.shown_forms)
    base = grouped(base, item.by, setting)
    of_groups = [Shape.EXTREME] if base.by and not base.select else []
    figured = (Shape.COUNT, Shape.COUNT_ROWS, Shape.SHARE, Shape.AGGREGATE, Shape.GROUPS)
    if shape in (*figured, *of_groups):
        return _figured(item, base, setting)
    if shape is Shape.LASTED:
        return lasted(base, item.figure, setting)
    if shape is Shape.RATIO_TO_LIMIT:
        return replace(picked(base, item.rows, item.n, setting), shape=shape, change="limit:high")
    if shape is Shape.CHANGE or (item.figure in _CHANGES and shape is not Shape.DIFFERENCE):
        base = replace(base, shape=Shape.CHANGE)
        if len(base.place) == 2:
            return replace(base, change="places:than" if item.versus else "places:diff")
        how = item.figure if item.figure in _CHANGES else "diff"
        return replace(
            picked(base, item.rows, item.n, setting), shape=Shape.CHANGE, change=f"baseline:{how}"
        )
    return picked(base, item.rows, item.n, setting)


def _figured(item: Item, base: Question, setting: Setting) -> Question:
    figure = item.figure if item.figure in MEANS else "min,max" if item.figure == "range" else ""
    if base.shape is Shape.SHARE:
        return replace(
            base, aggregate="share", select=(), shape=Shape.GROUPS if base.by else base.shape
        )
    if base.shape is Shape.AGGREGATE or (base.shape is Shape.GROUPS and figure):
        if not figure or not base.select:
            raise Refused(item.figure)
        every = "all" if "event" in base.by else None
        shape = Shape.GROUPS if base.by else Shape.AGGREGATE
        return replace(base, aggregate=figure, select=base.select[:1], rows=every, shape=shape)
    held = {*condition_fields(base.where)}
    rows = {n: setting.design.form_of(n) or n for n in base.select if n not in held}
    rows = {n: form if setting.repeats(form) else n for n, form in rows.items()}
    base = replace(base, aggregate="count", select=tuple(dict.fromkeys(rows.values())))
    if base.by:
        base = replace(base, shape=Shape.GROUPS)
    if base.by and item.rows in ("highest", "lowest"):
        # Of sites all are told, so that a tie is seen.
        most = None if base.by == ("@site",) else item.n or 1
        return replace(base, order=f"{SIGN[item.rows]}value", limit=most)
    return replace(base, rows=item.rows) if item.rows in ("latest", "first") else base


def _work(item: Item, base: Question, setting: Setting) -> Question:
    """Questions of visits, findings, reviews, runs, changes, the target, the dictionary, eligibility."""
    topic = base.topic
    if topic is Topic.TARGET:
        return replace(base, shape=_TARGETS.get(item.figure, Shape.TARGET))
    aspect = item.figure if item.figure in _ASPECTS.get(topic, ()) else ""
    base = replace(base, aspect=aspect, shape=Shape.ROWS)
    if item.shape in ("count", "count_rows", "groups"):
        base = grouped(replace(base, shape=Shape(item.shape)), item.by, setting)
        return replace(_figured(item, base, setting), select=())
    if topic is Topic.VISITS:
        when = Shape.WHEN if item.shape == "when" and base.subjects else Shape.VISITS
        if aspect == "closing" and base.subjects and base.place:
            # A visit that is named is told with its window, whether that closes soon or not.
            base = replace(base, aspect="")
        base = replace(base, shape=Shape.NEXT_VISIT if aspect == "next" else when)
    elif item.shape in ("yes_no", "list", "when"):
        base = replace(base, shape=Shape(item.shape))
    if topic is Topic.CHANGES:
        return replace(base, order="-@changes.at", limit=_NEWEST_CHANGES)
    if topic is Topic.FINDINGS and item.rows in SIGN:
        # The newest is the one that is open for the shortest time.
        age = "+" if item.rows in ("latest", "lowest") else "-"
        base = replace(base, order=f"{age}@findings.age", limit=item.n or 1)
    if topic is Topic.FINDINGS:
        # What the rows of a form are called says which form.
        form_of = setting.design.form_of
        rows = {n: form_of(n) for n in condition_fields(base.where) if setting.repeats(form_of(n))}
        where = tuple(c for c in base.where if rows.keys().isdisjoint(condition_fields([c])))
        return replace(base, select=(*base.select, *dict.fromkeys(rows.values())), where=where)
    return base if topic is Topic.DICTIONARY else replace(base, select=())


def _followed(item: Item, base: Question, asked: Asked) -> Question:
    """The last question with what this one names; a field or condition of its own replaces the old one."""
    setting, last = asked.setting, asked.state.last or Question()
    new = (_data if base.topic is Topic.DATA else _work)(item, base, setting)
    shaped = new
    if item.shape == "same":
        rows = replace(last, rows=None, order="", limit=None)
        shaped = last if item.rows == "none" else picked(rows, item.rows, item.n, setting)
    fields = {*condition_fields(base.where)}
    kept = (c for c in last.where if fields.isdisjoint(condition_fields([c])))
    scope = Question() if any(t.kind is Kind.EVERYONE for t in asked.tokens) else last
    return replace(
        shaped,
        subjects=base.subjects or scope.subjects,
        select=new.select or last.select,
        where=(*kept, *base.where),
        of=base.of or last.of,
        site=base.site or scope.site,
        # The next visit is none that was spoken of.
        place=base.place or (() if shaped.shape is Shape.NEXT_VISIT else last.place),
        period=base.period or last.period,
    )
