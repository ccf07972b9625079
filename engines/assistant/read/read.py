"""From a message to its tasks: orders, talk, the grammar, one call of a model for what is left, or asked back.

What was not understood beside what was is said, never dropped; a neighbouring question is never answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from core.language.numerals import numeral_value
from core.llm import prompts
from engines.assistant.read import ask, orders, talk
from engines.assistant.read.anchors import problems
from engines.assistant.read.beside import apart
from engines.assistant.read.build import Refused
from engines.assistant.read.grammar import fast, split
from engines.assistant.read.nearest import alike, nearest, offered
from engines.assistant.read.queries import queries
from engines.assistant.read.question import Question, Shape, Topic
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting
from engines.assistant.read.sources import of_sources
from engines.assistant.read.spoken import label, words_of
from engines.assistant.read.task import Nearest, OrderKind, Reading, State, Task, TaskKind, Unclear
from engines.assistant.read.tokens import Kind, Token
from study.query.errors import QueryError
from study.query.run import answer_query
from study.query.schema import parse_query

Call: TypeAlias = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any] | None]
"""System text, user text, strict JSON schema -> the object, None where the model gave none."""

PROMPT, REPAIR = "ask", "ask_repair"
_MOST_CLAUSES, _MOST_TOGETHER, _LONGEST = 24, 4, 400
"""Clauses of a message, clauses of one question, characters of a clause: what is longer is no question."""
_PICKED = re.compile(r"(?:我?要?选|就)?第?([1-9一二三四五])(?:个|项|条|号)?[。.!]?")
_KINDS = {
    "protocol": TaskKind.PASSAGE,
    "history": TaskKind.HISTORY,
    "memory": TaskKind.MEMORY,
    "agenda": TaskKind.AGENDA,
    "reason": TaskKind.REASON,
    "entry": TaskKind.ENTRY,
}
_ELSEWHERE = (TaskKind.PASSAGE, TaskKind.AGENDA, TaskKind.HISTORY, TaskKind.MEMORY, TaskKind.TALK)
_IDLE = frozenset({Kind.FILL, Kind.BREAK, Kind.AND, Kind.FOLLOW})
_OF_STUDY = frozenset(
    (
        Kind.SUBJECT,
        Kind.FIELD,
        Kind.FORM,
        Kind.CHOICE,
        Kind.PLACE,
        Kind.VISIT,
        Kind.ENROLLED,
        Kind.ROWS,
    )
)
_ASKING = frozenset(
    {Kind.WHO, Kind.COUNT, Kind.COUNT_ROWS, Kind.WHEN, Kind.YES_NO, Kind.SHARE, Kind.AGGREGATE}
    | {Kind.LASTED, Kind.TIMES, Kind.DIFFERENCE, Kind.ROWS, Kind.WHAT, Kind.EACH_SITE, Kind.GROUP}
)
_OF_SUBJECTS = frozenset(
    {Kind.WHO, Kind.COUNT, Kind.COUNT_ROWS, Kind.SHARE, Kind.AGGREGATE, Kind.EACH_SITE}
)


@dataclass
class _Found:
    """What the clauses of a message came to, each at its place, and what the next clause may refer to."""

    state: State
    tasks: dict[int, list[Task]] = field(default_factory=dict)
    left: dict[int, str] = field(default_factory=dict)

    def add(self, place: int, task: Task, named: Sequence[str]) -> None:
        """Keep the task of a clause."""
        self.tasks[place] = [task]
        self.state = replace(_after([task], self.state, named), here=task.question is not None)


def read(
    message: str,
    setting: Setting,
    state: State,
    call: Call | None = None,
    is_ruled: Callable[[str], bool] | None = None,
) -> Reading:
    """All tasks of a message in order, what could not be read, and what the next message may refer to.

    `state`: what was asked before. `call`: asks a model; None: there is none. `is_ruled`: whether the study's
    documents are sure to answer some words, so that no model is asked what they mean.
    """
    said = _picked(message, state)
    record_ids = _named(scan(said, setting))
    found = _Found(replace(state, here=False))
    clauses = _clauses(said, setting)
    place = 0
    while place < len(clauses):
        place += _take(clauses[place:], setting, found, place, record_ids)
    unread = _rest(said, setting, state, found, call, is_ruled) if found.left else []
    tasks = tuple(task for at in sorted(found.tasks) for task in found.tasks[at])
    if any(task.topic in (talk.IDENTIFIER, talk.INSTRUCTIONS) for task in tasks):
        # What leads up to what is refused asks nothing, and what is refused is so once.
        leads = (TaskKind.PASSAGE, TaskKind.ENTRY, TaskKind.ASK_BACK)
        kept = {(task.kind, task.topic or task.said): task for task in tasks}
        tasks, unread = tuple(task for task in kept.values() if task.kind not in leads), []
    unread += split(said)[_MOST_CLAUSES:][:1]
    if not tasks and not unread:
        tasks = (Task(TaskKind.ASK_BACK, said, unclear=(Unclear(said[:_LONGEST]),)),)
    return Reading(tasks, _after(tasks, state, record_ids), record_ids, tuple(unread))


def _picked(message: str, state: State) -> str:
    """The message that a number stands for: one of the readings offered."""
    hit = _PICKED.fullmatch(message.strip())
    place = int(numeral_value(hit[1]) or 0) if hit else 0
    return state.offered[place - 1] if 0 < place <= len(state.offered) else message


def _named(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(t.value for t in tokens if t.kind is Kind.SUBJECT))


def _clauses(said: str, setting: Setting) -> list[str]:
    """The clauses; those that only name subjects go to the next one (P001,P002的ALT), idle ones go."""
    found: list[str] = []
    waiting = ""
    for clause in orders.joined([part[:_LONGEST] for part in split(said)[:_MOST_CLAUSES]]):
        tokens = [t for t in scan(clause, setting) if len(t.said) > 1 or t.kind is not Kind.LEFT]
        kinds = {t.kind for t in tokens} - _IDLE
        if kinds == {Kind.SUBJECT}:
            waiting += f"{clause}、"
        elif kinds or not tokens or talk.topic_of(clause, setting.pattern):
            found.append(waiting + clause)
            waiting = ""
    return [*found, waiting.rstrip("、")] if waiting else found


def _take(
    clauses: list[str], setting: Setting, found: _Found, place: int, named: Sequence[str]
) -> int:
    """Read the longest stretch of clauses that one task takes whole; how many it has, left or not."""
    first = _one(clauses[0], setting)
    if first is not None and first.topic == talk.IDENTIFIER:
        told, _left = apart(clauses[0], setting, found.state)
        if told:
            found.add(place, told[0], _named(scan(clauses[0], setting)))
            found.tasks[place] = told
            return 1
    if first is not None:
        size = _kept(first, clauses, setting)
        found.add(place, replace(first, said=",".join(clauses[:size])), ())
        return size
    last = next((i for i, c in enumerate(clauses) if i and _one(c, setting)), len(clauses))
    for size in range(min(last, _MOST_TOGETHER), 0, -1):
        text = ",".join(clauses[:size])
        if size > 1 and clauses[size - 1].endswith("呢"):
            continue  # a follow-up is a question of its own
        kinds = {t.kind for t in scan(clauses[0], setting)}
        if size == 1 and last > 1 and not kinds & (_ASKING | {Kind.SUBJECT, Kind.PRONOUN}):
            break  # about nobody, and asking nothing, it says what the next one is about
        task = fast(text, setting, found.state)
        if task is not None:
            found.add(place, task, _named(scan(text, setting)))
            return size
    tokens = scan(clauses[0], setting)
    # What is complained of is what the past is asked for.
    later = of_sources(clauses[1], scan(clauses[1], setting), setting) if last > 1 else None
    if later is not None and not {t.kind for t in tokens} & (
        _ASKING - {Kind.ROWS} | {Kind.SUBJECT}
    ):
        search = f"{clauses[0]} {later.search}"
        found.add(place, replace(later, said=",".join(clauses[:2]), search=search), ())
        return 2
    source = of_sources(clauses[0], tokens, setting)
    # Behind a subject its own days are asked for.
    if source is not None and (_named(tokens) or not named):
        found.add(place, source, _named(tokens))
        return 1
    # A clause that asks nothing says of whom the next one asks; clauses side by side are one.
    size = 1
    while size < last and not {t.kind for t in scan(clauses[size - 1], setting)} & _ASKING:
        size += 1
    before = (at for at, text in found.left.items() if at + text.count("\n") + 1 == place)
    at = next(before, place)
    found.left[at] = "\n".join([*found.left.get(at, "").split("\n"), *clauses[:size]]).lstrip("\n")
    own = _named(scan(",".join(clauses[:size]), setting))
    found.state = replace(found.state, subjects=own or found.state.subjects)
    return size


def _kept(task: Task, clauses: Sequence[str], setting: Setting) -> int:
    """How many clauses an order has: what is to be remembered goes on over those that ask and name nothing."""
    size = 1
    while task.order and task.order.kind is OrderKind.REMEMBER and size < len(clauses):
        kinds = {t.kind for t in scan(clauses[size], setting)}
        if kinds & (_ASKING | _OF_STUDY) or _one(clauses[size], setting):
            break
        size += 1
    return size


def _one(clause: str, setting: Setting) -> Task | None:
    """What the form of a clause tells; an order is of the subjects as the study knows them."""
    task = talk.told_by_form(clause, setting.pattern)
    if task is None or task.order is None:
        return task
    known = _named(scan(clause, setting)) or task.order.record_ids
    return replace(task, order=replace(task.order, record_ids=known))


def _rest(
    said: str,
    setting: Setting,
    state: State,
    found: _Found,
    call: Call | None,
    is_ruled: Callable[[str], bool] | None,
) -> list[str]:
    """What the grammar left, by the model, else searched for or asked back; the clauses that stay unread."""
    parts = {at: text.replace("\n", ",") for at, text in sorted(found.left.items())}
    asked: list[Question] = []
    for at, text in list(parts.items()):
        task, tokens = _not_read(text, setting, found, ()), scan(text, setting)
        ruled = call and is_ruled and task.kind is TaskKind.PASSAGE and is_ruled(text)
        # A pronoun for somebody who was never named: no model can know them either.
        known = _named(tokens) or found.state.subjects
        nobody = not known and any(t.kind is Kind.PRONOUN for t in tokens)
        if ruled or nobody or _unseen(tokens, setting):
            found.tasks[at] = [task]
            del parts[at]
    if call is not None and parts and len(said) <= 2 * _LONGEST:
        # With what the grammar read of the same message: a clause by itself may say only half of it.
        data = {at: told[0].said for at, told in found.tasks.items() if told[0].question}
        alone = data.keys() == found.tasks.keys()
        whole = said if alone else ",".join(text for _at, text in sorted((parts | data).items()))
        tasks, asked = by_model(whole, setting, state if data else found.state, call)
        if tasks:
            kept = {at: told for at, told in found.tasks.items() if at not in data}
            found.tasks = kept | {min(parts | data): tasks}
            return []
    unread: list[str] = []
    for at, text in parts.items():
        told, left = apart(text, setting, found.state)
        if told:
            found.tasks[at], unread = told, unread + left
            continue
        task = _not_read(text, setting, found, asked)
        if task.kind is TaskKind.ASK_BACK and found.tasks and not task.unclear[0].readings:
            unread.append(text)
        else:
            found.tasks[at] = [task]
    return unread


def _not_read(text: str, setting: Setting, found: _Found, asked: Sequence[Question]) -> Task:
    """A clause about nobody that has words of its own is searched for in the documents, others are asked back.

    What asks of data in known words alone is asked back too: no document answers it.
    """
    tokens = scan(text, setting)
    if (unseen := _unseen(tokens, setting)) is not None:
        return replace(unseen, said=text)
    kinds = {t.kind for t in tokens}
    near = Unclear(text, nearest(text, setting, found.state, fast, asked))
    last = found.state.last
    follows = last is not None and (Kind.FOLLOW in kinds or text.endswith("呢"))
    unknown = sum(len(t.said) for t in tokens if t.kind in (Kind.LEFT, Kind.TERM))
    of_data = unknown < 2 and bool(kinds & _OF_SUBJECTS and kinds & _OF_STUDY)
    empty = bool(found.tasks or last) and unknown < 3 and not kinds & _OF_STUDY
    of_one = any(t.question and t.question.subjects for told in found.tasks.values() for t in told)
    about = kinds & {Kind.SUBJECT, Kind.PRONOUN} or follows or of_data or empty or of_one
    if about and Kind.RULE not in kinds:
        return Task(TaskKind.ASK_BACK, text, unclear=(near,))
    if (source := of_sources(text, tokens, setting)) is not None:
        return source
    # A rule behind a question of data is about its fields.
    beside = last.select[:2] if last is not None and found.tasks else ()
    search = " ".join([text, *(label(name, setting) for name in beside)])
    return Task(TaskKind.PASSAGE, text, search=search, unclear=(near,))


def _unseen(tokens: Sequence[Token], setting: Setting) -> Task | None:
    """Of nobody but who is not there, or not for this reader: whatever was asked, that alone is answered."""
    named = _named(tokens)
    if not named or {*named} & {*setting.subjects}:
        return None
    return fast("、".join(named) + "的基本情况", setting, State())


def by_model(
    said: str, setting: Setting, state: State, call: Call
) -> tuple[list[Task], list[Question]]:
    """The tasks of a message as a model reads it, [] where that does not hold; and the questions it read."""
    tokens = tuple(scan(said, setting))
    # A pronoun means whom its own message names before whom the talk was about.
    state = replace(state, subjects=_named(tokens) or state.subjects)
    asked = ask.Asked(setting, state, tokens, said)
    names = ask.names_for(tokens, setting, state)
    shown: dict[str, Any] = {
        "today": setting.calendar.today.isoformat(),
        "places": " ".join(v.visit for v in setting.design.plan.visits),
        "sites": " ".join(setting.sites.values()),
        "last": words_of(state.last, setting) if state.last else "无",
        "fields": " ".join(f"{n} {label(n, setting)}" for n in list(names)[: ask.MOST_LABELS]),
    }
    system, strict = prompts.load_prompt(PROMPT, **shown).text, ask.schema(list(names))
    reply = call(system, said, strict)
    tasks, faults, read_ = _judged(reply, said, asked)
    if faults and reply is not None:
        before = re.sub(r"\s+", " ", str(reply.get("tasks", "")))[:600]
        again = prompts.load_prompt(REPAIR, before=before, faults=" ".join(faults))
        tasks, faults, later = _judged(call(system, f"{said}\n\n{again.text}", strict), said, asked)
        read_ = later or read_
    return ([] if faults else tasks), read_


def _judged(
    reply: Mapping[str, Any] | None, said: str, asked: ask.Asked
) -> tuple[list[Task], list[str], list[Question]]:
    """The tasks of a reply, what is wrong with it, and its questions."""
    items = ask.parse(reply)
    if not items:
        return [], ["?"], []
    tasks: list[Task] = []
    read_: list[Question] = []
    faults: list[str] = []
    follows = any(item.follows for item in items)
    for item in items:
        try:
            tasks += _tasks_of(item, said, asked)
        except (Refused, QueryError) as error:
            faults.append(f"?{error}")
    read_ = [task.question for task in tasks if task.question is not None]
    words = [word for item in items for word in item.words]
    if read_ or not tasks:
        last = asked.state.last if follows else None
        of_rules = [w for item in items if item.task == "protocol" for w in item.quotes]
        tokens = _beside_rules(asked, of_rules) if read_ else asked.tokens
        faults += problems(tokens, read_, asked.setting, words, last)
    elif all(task.kind in _ELSEWHERE for task in tasks):
        ruled = any(task.kind is TaskKind.PASSAGE for task in tasks)
        faults += _of_data_alone(asked.tokens, ruled)
    return tasks, faults, read_


def _beside_rules(asked: ask.Asked, quotes: Sequence[str]) -> Sequence[Token]:
    """The words of the clauses that ask of data, where others of the message ask for a rule."""
    parts = split(asked.message) if quotes else []
    left = [part for part in parts if not any(ask.said_in(one, part) for one in quotes)]
    ruled = [scan(part, asked.setting) for part in parts if part not in left]
    if not left or any(t.kind is Kind.SUBJECT for tokens in ruled for t in tokens):
        return asked.tokens
    return scan(",".join(left), asked.setting)


def _of_data_alone(tokens: Sequence[Token], ruled: bool) -> list[str]:
    """The words of a message that only data answer: somebody's id, or nothing but known words of the study.

    `ruled`: a rule of the documents is looked for, which may be asked in such words (谁来判定SAE的相关性).
    """
    kinds = {t.kind for t in tokens}
    unknown = sum(len(t.said) for t in tokens if t.kind in (Kind.LEFT, Kind.TERM))
    if kinds & {Kind.RULE, Kind.TODO} or any("方案" in t.said for t in tokens):
        return []
    known = not ruled and unknown < 2 and kinds & _OF_SUBJECTS and kinds & _OF_STUDY
    return [
        f"-{t.said}" for t in tokens if t.kind is Kind.SUBJECT or (known and t.kind in _OF_STUDY)
    ]


def _tasks_of(item: ask.Item, said: str, asked: ask.Asked) -> list[Task]:
    """An item as tasks: its question, and what it hands back. Raises Refused, QueryError."""
    setting = asked.setting
    doubts = tuple(_doubt(doubt, said, asked) for doubt in item.unclear)
    back = [Task(TaskKind.ASK_BACK, said, unclear=doubts, by_model=True)] if doubts else []
    if item.task == "talk" or item.task in _KINDS:
        kind = _KINDS.get(item.task, TaskKind.PASSAGE)
        if (
            item.task == "talk"
            and not any(t.kind in _OF_STUDY for t in asked.tokens)
            and not item.search
        ):
            return back or [Task(TaskKind.TALK, said, topic=talk.OFF_TOPIC, by_model=True)]
        topic = "study" if kind is TaskKind.MEMORY else ""
        return back or [Task(kind, said, search=item.search or said, topic=topic, by_model=True)]
    if back and not (item.fields or item.where):
        return back
    question = ask.question_of(item, asked)
    for query in queries(question, setting):
        answer_query(parse_query(query), setting.design, [], today=setting.calendar.today)
    told = {t.value for t in asked.tokens if t.kind is Kind.SUBJECT}
    carried = tuple(name for name in question.subjects if name not in told)
    if item.follows and not item.fields:
        carried += tuple(label(name, setting) for name in question.select[:2])
    return [Task(TaskKind.DATA, said, question, carried=carried, by_model=True), *back]


def _doubt(doubt: ask.Doubt, said: str, asked: ask.Asked) -> Unclear:
    """A word that is handed back, with the message as it would be for each of its readings."""
    if not ask.said_in(doubt.word, said):
        raise Refused(doubt.word)
    setting = asked.setting
    known = setting.design.metadata.fields
    held = [n for n, texts in setting.terms.items() if any(doubt.word in text for text in texts)]
    # What a free text holds is asked for by it; of another one that word is not.
    names = [*doubt.options, *alike(doubt.word, setting)]
    names = [name for name in names if not (held and setting.is_free_text(name))]
    labels = [f"{label(name, setting)}有{doubt.word}" for name in held]
    labels += [label(name, setting) if name in known else name for name in names]
    texts = [said.replace(doubt.word, told, 1) for told in dict.fromkeys(labels)]
    near = [found for text in texts if (found := offered(text, setting, fast)) is not None]
    unique: dict[str, Nearest] = {one.label: one for one in near}
    return Unclear(doubt.word, tuple(unique.values())[:3])


def _after(tasks: Sequence[Task], state: State, named: Sequence[str]) -> State:
    """What may be referred to next: it ends with a new topic or an order, what is asked back keeps it."""
    offered_ = tuple(n.text for task in tasks for one in task.unclear for n in one.readings)
    last, subjects = state.last, tuple(named) or state.subjects
    for task in tasks:
        if task.question is not None and task.question.topic is not Topic.DICTIONARY:
            last = task.question
            # Whoever was found is meant, no more whom the talk was about before.
            found = last.shape in (Shape.LIST, Shape.EXTREME)
            subjects = last.subjects or tuple(named) or (() if found else subjects)
        elif task.order is not None:
            last, subjects = None, task.order.record_ids or subjects
        elif task.question is None and task.kind not in (TaskKind.TALK, TaskKind.ASK_BACK):
            last = None
    return State(last, subjects, offered_)
