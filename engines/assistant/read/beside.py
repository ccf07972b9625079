"""Names of a list that the study has no word for, or does not show, taken out of it: the others are told."""

from __future__ import annotations

from dataclasses import replace

from engines.assistant.read import talk
from engines.assistant.read.grammar import fast
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting
from engines.assistant.read.task import State, Task, TaskKind
from engines.assistant.read.tokens import Kind, Token

_LEADS = frozenset({Kind.SUBJECT, Kind.PRONOUN, Kind.PLACE, Kind.FILL, Kind.AND})
_ASKS = frozenset({Kind.WHAT, Kind.FILL, Kind.BREAK, Kind.EACH})
_KNOWN = _ASKS | {Kind.FIELD, Kind.FORM, Kind.ENROLLED}
_UNKNOWN = frozenset({Kind.LEFT, Kind.TERM, Kind.ABSENT, Kind.IDENTIFIER})
_MOST_TOKENS = 40


def apart(said: str, setting: Setting, state: State) -> tuple[list[Task], list[str]]:
    """The task of the names of a list that are known, and the others; ([], []) where it is no list.

    An identifier is refused by a task of its own. What is withheld is no word of the reader's study, so that it
    reads like what does not exist.
    """
    tokens = scan(said, setting)
    size = next((at for at, t in enumerate(tokens) if t.kind not in _LEADS), len(tokens))
    lead, names = tokens[:size], _names(tokens[size:])
    if len(tokens) > _MOST_TOKENS or not {Kind.SUBJECT, Kind.PRONOUN} & {t.kind for t in lead}:
        return [], []
    known = [name for name in names if {t.kind for t in name} <= _KNOWN]
    known = [name for name in known if not {t.kind for t in name} <= _ASKS]
    other = [name for name in names if name not in known]
    if not known or not all(map(_is_unknown, other)) or not other:
        return [], []
    task = fast(_text(lead) + "、".join(map(_text, known)), setting, state)
    if task is None:
        return [], []
    hidden = [one for one in other if any(t.kind is Kind.IDENTIFIER for t in one)]
    refused = [Task(TaskKind.TALK, said, topic=talk.IDENTIFIER)] if hidden else []
    left = [[t for t in one if t.kind not in _ASKS] for one in other if one not in hidden]
    places = [(said.casefold().find(text), text) for text in map(_text, left) if text]
    typed = [said[at : at + len(text)] if at >= 0 else text for at, text in places]
    return [replace(task, said=said), *refused], typed


def _names(tokens: list[Token]) -> list[list[Token]]:
    """The words between the ands."""
    names: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind is Kind.AND and token.said != ",":
            names.append([])
        else:
            names[-1].append(token)
    return names


def _is_unknown(name: list[Token]) -> bool:
    """Whether no word is the study's; behind one that it does not collect any may be (EGFR突变状态)."""
    said = [t.kind for t in name if t.kind not in _ASKS]
    return {*said} <= _UNKNOWN or said[:1] == [Kind.ABSENT]


def _text(tokens: list[Token]) -> str:
    return "".join(t.said for t in tokens)
