"""From a message to its tasks: normalise, mark, split, classify, apply the rules, order."""

from dataclasses import dataclass, replace

from engines.intents import features, model, ordering, rules, segment, split
from engines.intents.marks import Span
from engines.intents.normal import normalise
from engines.intents.types import Detection, Intent, Part

MAX_CLASSIFIED = 600
_ABOUT_ONE = {Intent.QUERY_RECORD, Intent.VISIT_WINDOW, Intent.QC_TASK, Intent.DATA_ENTRY, Intent.QUERY_HISTORY}
_EVERYONE = ("全部", "所有", "全员", "全体", "每个", "哪些", "哪个", "谁", "各中心", "大家", "都有", "那个")


@dataclass(frozen=True)
class _Task:
    """A labelled stretch of the marked text."""

    start: int
    end: int
    marked: str
    stripped: str
    intent: str
    confidence: float


def detect(text: str, *, record_id_pattern: str | None = None) -> Detection:
    """Return the intents, subjects and visits of one message.

    `record_id_pattern` is the project's own regular expression; it replaces the default shapes of
    a record id. Any string is accepted; beyond `MAX_CLASSIFIED` characters intents are read from
    the beginning and the end only.
    """
    plain = normalise(text)
    marked, subjects, visits = features.mark(plain, record_id_pattern)
    parts = _carry([_part(task, plain, subjects) for task in _ordered(_tasks(_clip(marked)))], plain)
    return Detection(
        intents=list(dict.fromkeys(part.intent for part in parts)),
        record_ids=list(dict.fromkeys(span.value for span in subjects)),
        visits=list(dict.fromkeys(span.value for span in visits)),
        confidence=min((part.confidence for part in parts), default=0.0),
        parts=parts,
    )


def _clip(marked: str) -> str:
    """Blank out the middle of a very long text; offsets stay."""
    if len(marked) <= MAX_CLASSIFIED:
        return marked
    half = MAX_CLASSIFIED // 2
    return marked[:half] + "\x00" * (len(marked) - 2 * half) + marked[-half:]


def _tasks(marked: str) -> list[_Task]:
    pieces = split.fragments(marked)
    wanted = [p for p in pieces if not rules.negated(features.strip(marked[p.start : p.end]))]
    found = segment.segments(marked, wanted, model.shipped())
    labelled = [_task(marked, s.start, s.end, s.label, s.confidence) for s in found]
    asked = [task for task in labelled if task.intent != model.NONE]
    return _merge(_drop_small_talk(asked)) or [_whole(marked)]


def _task(marked: str, start: int, end: int, label: str, confidence: float) -> _Task:
    text = marked[start:end]
    stripped = features.strip(text)
    intent = rules.decide(stripped, label)
    return _Task(start, end, text.replace("\x00", ""), stripped, intent, confidence)


def _whole(marked: str) -> _Task:
    """Label a message in which no part asks anything by its best intent, with little confidence."""
    if rules.negated(features.strip(marked)):
        return _Task(0, len(marked), "", "", Intent.GENERAL_CHAT, 0.0)
    shipped = model.shipped()
    scores = dict(zip(shipped.classes, shipped.probabilities(features.strip(marked)), strict=True))
    scores.pop(model.NONE, None)
    best = max(scores, key=scores.__getitem__)
    return _task(marked, 0, len(marked), best, scores[best])


def _drop_small_talk(tasks: list[_Task]) -> list[_Task]:
    """Rule 1: greetings and thanks around a request are not labelled."""
    if all(task.intent == Intent.GENERAL_CHAT for task in tasks):
        return tasks
    return [
        task
        for task in tasks
        if task.intent != Intent.GENERAL_CHAT or rules.asks_about_assistant(task.stripped)
    ]


def _merge(tasks: list[_Task]) -> list[_Task]:
    merged: list[_Task] = []
    for task in tasks:
        if merged and merged[-1].intent == task.intent:
            last = merged.pop()
            text = last.marked + task.marked
            confidence = max(last.confidence, task.confidence)
            task = replace(last, end=task.end, marked=text, confidence=confidence)
        merged.append(task)
    return merged


def _ordered(tasks: list[_Task]) -> list[_Task]:
    order = ordering.execution_order([(task.marked, task.intent) for task in tasks])
    return [tasks[at] for at in order]


def _part(task: _Task, plain: str, subjects: list[Span]) -> Part:
    own = [s.value for s in subjects if task.start <= s.start < task.end]
    text = plain[task.start : task.end].strip(" ,。;、\n")
    return Part(text, str(task.intent), round(task.confidence, 4), list(dict.fromkeys(own)))


def _carry(parts: list[Part], plain: str) -> list[Part]:
    """Hand the subject on to later parts that speak of one subject and name none."""
    last: list[str] = []
    carried = []
    for part in parts:
        if part.record_ids:
            last = part.record_ids
        elif part.intent in _ABOUT_ONE and not any(word in part.text for word in _EVERYONE):
            part = replace(part, record_ids=list(last))
        carried.append(part)
    return carried
