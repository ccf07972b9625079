"""From a message to its tasks: normalise, mark, split, classify, apply the rules, order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engines.assistant.intents import (
    concepts,
    features,
    judge,
    model,
    ordering,
    own,
    rules,
    segment,
    split,
)
from engines.assistant.intents.marks import NAME, RECORD, Span
from engines.assistant.intents.normal import normalise
from engines.assistant.intents.task import Task
from engines.assistant.intents.types import Detection, Intent, Part

MAX_CLASSIFIED = 600
RULE_CONFIDENCE = 0.9
LEAST_ASKED = 0.4
# What is asked of the subject just spoken of is no circumstance, however unusual its words.
_OF_IT = re.compile(r"(?:告诉|发|给|查|看|列|读)[^,。]{0,4}[他她它]的")
_ABOUT_ONE = {
    Intent.QUERY_RECORD,
    Intent.VISIT_WINDOW,
    Intent.QC_TASK,
    Intent.DATA_ENTRY,
    Intent.QUERY_HISTORY,
}
_TOPICS = {Intent.QUERY_RECORD, Intent.VISIT_WINDOW}
_TAKES_TOPIC = {Intent.DATA_ENTRY, Intent.QC_TASK}
_LOOSE = {split.COMMA, split.SPACE}
_EVERYONE = re.compile(r"全部|所有|全员|全体|每个|哪些|哪个(?!组)|谁|各中心|大家|都有|那个")


@dataclass(frozen=True)
class Reading:
    """What is known of a message before it is judged: its candidate tasks and its classes as one."""

    plain: str
    subjects: list[Span]
    visits: list[Span]
    tasks: list[Task]
    whole: dict[str, float]


def detect(text: str, *, record_id_pattern: str | None = None) -> Detection:
    """Return the intents, subjects and visits of one message.

    `record_id_pattern` is the project's own regular expression; it replaces the default shapes of
    a record id. Any string is accepted; beyond `MAX_CLASSIFIED` characters intents are read from
    the beginning and the end only.
    """
    return judged(read(text, model.shipped(), record_id_pattern), judge.shipped())


def read(text: str, classifier: model.Model, record_id_pattern: str | None = None) -> Reading:
    """Return the candidate tasks of one message, its subjects and visits."""
    plain = normalise(text)
    marked, subjects, visits = features.mark(plain, record_id_pattern)
    clipped = _clip(marked)
    odds = lru_cache(maxsize=None)(classifier.odds)
    tasks = _tasks(clipped, odds)
    return Reading(plain, subjects, visits, tasks, _as_one(clipped, odds))


def _as_one(marked: str, odds: model.Odds) -> dict[str, float]:
    """Return the classes of a message as if it asked one thing."""
    chances, _ = odds(features.strip(marked))
    asks = max(1.0 - chances[model.NONE], 1e-6)
    return {label: chance / asks for label, chance in chances.items() if label != model.NONE}


def judged(reading: Reading, by: judge.Judge) -> Detection:
    """Return the detection: the tasks that ask something of their own, and how sure that is."""
    tasks, found = weighed(reading, by)
    confidence = by.right(found)
    parts = _carry([_part(task, reading) for task in in_order(tasks)])
    return Detection(
        intents=list(dict.fromkeys(part.intent for part in parts)),
        record_ids=list(dict.fromkeys(span.value for span in reading.subjects)),
        visits=list(dict.fromkeys(span.value for span in reading.visits)),
        confidence=round(confidence, 4),
        sure=confidence >= by.sure_from,
        parts=parts,
    )


def weighed(reading: Reading, by: judge.Judge) -> tuple[list[Task], judge.Features]:
    """Return the tasks that are kept, and what tells whether they are right."""
    asked = by.asked(reading.tasks, reading.whole)
    least = min(LEAST_ASKED, max(asked))
    pairs = list(zip(reading.tasks, asked, strict=True))
    kept = [(task, chance) for task, chance in pairs if chance >= least]
    dropped = [chance for _, chance in pairs if chance < least]
    tasks = _merge(_drop_small_talk([task for task, _ in kept]))
    return tasks, judge.of_whole(tasks, [chance for _, chance in kept], dropped, reading.whole)


def _clip(marked: str) -> str:
    """Blank out the middle of a very long text; offsets stay."""
    if len(marked) <= MAX_CLASSIFIED:
        return marked
    half = MAX_CLASSIFIED // 2
    return marked[:half] + "\x00" * (len(marked) - 2 * half) + marked[-half:]


def _tasks(marked: str, odds: model.Odds) -> list[Task]:
    pieces = split.fragments(marked)
    texts = [features.strip(marked[p.start : p.end]) for p in pieces]
    wanted = [
        piece
        for at, (piece, text) in enumerate(zip(pieces, texts, strict=True))
        if not _unwanted(text)
        and not (0 < at < len(pieces) - 1 and rules.only_condition(text))
        and not (at < len(pieces) - 1 and own.only_erratum(text))
    ]
    found = segment.segments(marked, wanted, odds)
    labelled = [_task(marked, part) for part in found]
    asked = _of_one([task for task in labelled if task.intent != model.NONE])
    return _join_topics(_drop_introductions(asked)) or [_whole(marked, odds)]


def _unwanted(part: str) -> bool:
    refused = rules.negated(part) and not rules.corrects(part)
    return refused or rules.only_preamble(part)


def _task(marked: str, part: segment.Segment) -> Task:
    text = marked[part.start : part.end]
    stripped = features.strip(text)
    stated = rules.explicit(stripped, part.label)
    intent = stated or rules.decide(stripped, part.label)
    plain = text.replace("\x00", "")
    corrected = intent != part.label
    ruled = stated or corrected
    confidence = max(part.confidence, RULE_CONFIDENCE) if ruled else part.confidence
    return Task(
        part.start,
        part.end,
        part.boundary,
        plain,
        stripped,
        intent,
        confidence,
        part,
        bool(stated),
        corrected,
    )


def _of_one(tasks: list[Task]) -> list[Task]:
    """A finding asked for after a part about one subject is that subject's ("P003下次何时来?有AE吗")."""
    told: list[Task] = []
    for task in tasks:
        after = told and told[-1].intent in _ABOUT_ONE and _names(told[-1])
        if after and task.intent == Intent.QA_QUERY and not rules.of_anybody(task.stripped):
            task = replace(task, intent=Intent.QUERY_RECORD)
        if after and task.intent == Intent.QUERY_RECORD and _OF_IT.search(task.stripped):
            task = replace(task, confidence=max(task.confidence, RULE_CONFIDENCE))
        told.append(task)
    return told


def _names(task: Task) -> bool:
    return RECORD in task.stripped or NAME in task.stripped


def _join_topics(tasks: list[Task]) -> list[Task]:
    """A subject with a noun or a finding belongs to the order that follows ("P003 血压 130 录入").

    After a complaint it is the correction itself (rule 9).
    """
    joined: list[Task] = []
    for task in tasks:
        last = joined[-1] if joined else None
        if last and _leads_to(last, task):
            text = last.marked + task.marked
            joined[-1] = replace(task, start=last.start, boundary=last.boundary, marked=text)
        elif last and _details(last, task):
            joined[-1] = replace(last, end=task.end, marked=last.marked + task.marked)
        elif not (last and last.intent == Intent.FEEDBACK and _is_topic(task)):
            joined.append(task)
    return joined


def _leads_to(topic: Task, task: Task) -> bool:
    """Tell whether a topic or statement ("P003要出差,") only introduces the next part."""
    empty = task.intent in _TAKES_TOPIC or not concepts.FACT.search(topic.stripped)
    reported = topic.intent == Intent.DATA_ENTRY and rules.done(topic.stripped)
    return (reported or (_is_topic(topic) and empty)) and (
        task.boundary in _LOOSE or split.bare_order(task.stripped)
    )


def _details(order: Task, task: Task) -> bool:
    """Tell whether a statement only says what to write down ("记一条AE P003 头晕")."""
    says = _is_topic(task) or rules.corrected_value(task.stripped)
    return order.intent == Intent.DATA_ENTRY and says and task.boundary in _LOOSE


def _is_topic(task: Task) -> bool:
    open_question = rules.asks(task.stripped) or rules.conditional(task.stripped)
    return task.intent in _TOPICS and not open_question


def _whole(marked: str, odds: model.Odds) -> Task:
    """Label a message in which no part asks anything by its best intent, with little confidence."""
    best = segment.classified(marked, 0, len(marked), split.HARD, odds, asks=True)
    if rules.negated(features.strip(marked)):
        return Task(0, len(marked), split.HARD, "", "", Intent.GENERAL_CHAT, 0.0, best)
    return _task(marked, best)


def _drop_small_talk(tasks: list[Task]) -> list[Task]:
    """Rule 1: greetings and thanks around a request are not labelled."""
    if all(task.intent == Intent.GENERAL_CHAT for task in tasks):
        return tasks
    return [
        task
        for task in tasks
        if task.intent != Intent.GENERAL_CHAT or rules.asks_about_assistant(task.stripped)
    ]


def _drop_introductions(tasks: list[Task]) -> list[Task]:
    """Who speaks is no task of its own beside a request; with other things to keep it is one of them."""
    others = [task for task in tasks if not own.introduces(task.stripped)]
    kept = {Intent.REMEMBER, Intent.GENERAL_CHAT}
    return others if others and not kept.issuperset(t.intent for t in others) else tasks


def _merge(tasks: list[Task]) -> list[Task]:
    merged: list[Task] = []
    for task in tasks:
        if merged and merged[-1].intent == task.intent and not _of_plan(merged[-1], task):
            last = merged.pop()
            text = last.marked + task.marked
            confidence = max(last.confidence, task.confidence)
            task = replace(last, end=task.end, marked=text, confidence=confidence)
        merged.append(task)
    return merged


def _of_plan(last: Task, task: Task) -> bool:
    """Tell whether a question about everybody's visits goes before one about a subject's."""
    named = [_names(part) for part in (last, task)]
    return (
        task.intent == Intent.VISIT_WINDOW and named == [False, True] and rules.asks(last.stripped)
    )


def in_order(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks in the order in which they are carried out."""
    order = ordering.execution_order([(task.marked, task.intent) for task in tasks])
    return [tasks[at] for at in order]


def _part(task: Task, reading: Reading) -> Part:
    own = [s.value for s in reading.subjects if task.start <= s.start < task.end]
    text = reading.plain[task.start : task.end].strip(" ,。;、\n")
    confidence = round(task.confidence, 4)
    return Part(text, str(task.intent), confidence, list(dict.fromkeys(own)), NAME in task.marked)


def _carry(parts: list[Part]) -> list[Part]:
    """Hand the subject on to later parts that speak of one subject and name none."""
    last: list[str] = []
    carried = []
    for part in parts:
        if part.record_ids:
            last = part.record_ids
        elif part.intent in _ABOUT_ONE and not part.named and not _EVERYONE.search(part.text):
            part = replace(part, record_ids=list(last))
        carried.append(part)
    return carried
