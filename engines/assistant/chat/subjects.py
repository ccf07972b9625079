"""Whom a task is about."""

from __future__ import annotations

import re

from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Part

PRONOUN = re.compile(
    r"他|她|它|该(?:患者|受试者|病人)|这位|那位|这个(?:患者|受试者|病人|人)|上面|刚才|^那|呢[?\uff1f]?$"
)


def subjects(turn: Turn, part: Part) -> list[str]:
    """The subjects a task is about: its own, those it names, else those last spoken of."""
    ids = list(part.record_ids)
    for name, found in turn.names.items():
        if name in part.text:
            ids += found
    if not ids and PRONOUN.search(part.text):
        ids = [*turn.detection.record_ids] or [*turn.session.record_ids]
    return list(dict.fromkeys(ids))
