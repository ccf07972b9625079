"""Rule 4 of intents_labels.md: tasks in the order in which they must be carried out."""

import re

from engines.assistant.intents.types import Intent

_BEFORE_CLAUSE = re.compile(r"(?:之前|以前|前)[,、:\s]*$")
_FIRST = re.compile(
    r"^[,、;。\s]*(?:不过|但是?|可是?|只是|嗯|哦)?[,\s]*(?:得|要|你|请|麻烦)?(?:先|在?(?:那|此|这)?之前|[出跑录写发做]之?前)"
)
_LATER = re.compile(
    r"(?:最后|待会儿?|等会儿?|等下|回头|晚点|稍后|一会儿?|过会儿?).{0,4}[出做跑录写再弄]|放(?:到)?最?后|不急"
)
_ACTIONS = {Intent.GENERATE_REPORT, Intent.QC_TASK, Intent.DATA_ENTRY}


def execution_order(parts: list[tuple[str, str]]) -> list[int]:
    """Return the indexes of (marked text, intent) parts in order of execution.

    A complaint comes first (rule 9); "before X, do Y" and "X, but first Y" put Y before X.
    """
    order: list[int] = []
    waiting: list[int] = []
    for at, (_, intent) in enumerate(parts):
        if intent == Intent.FEEDBACK:
            order.insert(0, at)
        elif _waits(parts, at):
            waiting.append(at)
        else:
            order.append(at)
    return [*order, *waiting]


def _waits(parts: list[tuple[str, str]], at: int) -> bool:
    text, intent = parts[at]
    if at + 1 == len(parts):
        return False
    following = parts[at + 1][0]
    if _BEFORE_CLAUSE.search(text):
        return True
    asked_later = bool(_LATER.search(text))
    return bool(_FIRST.search(following)) and (asked_later or intent in _ACTIONS)
