"""True and false answers of a model, said by the stand-in word for word, and what of them reached the reader.

A case is a question with what the model says to it; `{a|b|c}` in it becomes the mark of the first line that
holds all the tokens (contracts.md, Stand-ins). `pre`: turns asked before; `calls`: tools that the model calls
first, where it is offered tools; `lie`: the words of a false answer that must not go out.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from tests.answers.house import AnswerHouse, Asking, Json
from tests.answers.judge import Case

_PLACEHOLDER = re.compile(r"\{[^{}\n]+\}")
_MARK = re.compile(r"\[[FDWMH]\d+[a-z]?\]|\{[^{}\n]*\|[^{}\n]*\}")
_MOST_TIMES = 4
"""A refused answer is asked for once more, one that is too long as well; it is said each time."""


@dataclass(frozen=True, slots=True)
class Played:
    """What the reader got; `requests`: what the model was asked in prose."""

    case: Case
    reply: str
    requests: tuple[Json, ...]

    @property
    def is_delivered(self) -> bool:
        """The whole text stands in the reply; of a lie, its words are enough."""
        texts = {said(self.case), *([] if self.case["true"] else [self.case["lie"]])}
        return any(folded(text) in folded(self.reply) for text in texts)

    @property
    def is_right(self) -> bool:
        """A true answer went out, a lie did not."""
        return self.is_delivered == bool(self.case["true"])

    @property
    def has_marks(self) -> bool:
        """The reader sees a mark, or a placeholder."""
        return bool(_MARK.search(self.reply))


def said(case: Case) -> str:
    """The words of a case without their placeholders."""
    return _PLACEHOLDER.sub("", case["say"])


def folded(text: str) -> str:
    """The form that texts are compared in: full width as half width, no spaces, no stop at the end."""
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", text)).rstrip("。.")


def played(house: AnswerHouse, cases: Iterable[Case]) -> list[Played]:
    """Each case in a session of its own, one after the other: the stand-in has one script."""
    told: list[tuple[Case, str, float, float]] = []
    with house.asking() as asking:
        for case in cases:
            start, reply = time.time(), _once(house, asking, case, [])
            if case.get("calls") and any(r.get("tools") for r in _prose(house, start)):
                start, reply = time.time(), _once(house, asking, case, [_calls(case)])
            told.append((case, reply, start, time.time()))
    requests = house.requests()
    return [
        Played(case, reply, tuple(b for at, b in requests if start <= at <= end and is_prose(b)))
        for case, reply, start, end in told
    ]


def _prose(house: AnswerHouse, since: float) -> list[Json]:
    return [body for at, body in house.requests() if at >= since and is_prose(body)]


def is_prose(request: Json) -> bool:
    """Whether plain words are wanted: no form, no tool that has to be called."""
    free = request.get("tool_choice") in (None, "auto", "none")
    return free and (request.get("response_format") or {}).get("type", "text") == "text"


def _once(house: AnswerHouse, asking: Asking, case: Case, first: list[Json]) -> str:
    house.reset(silent=True)
    for number, text in enumerate(case.get("pre", ())):
        asking.ask({"user": case["user"], "text": text, "new": not number})
    words = {"role": "assistant", "content": case["say"]}
    house.script([*first, *[words] * _MOST_TIMES])
    is_new = not case.get("pre")
    answer = asking.ask({"user": case["user"], "text": case["text"], "new": is_new})
    return str(answer.get("reply") or answer.get("error") or "")


def _calls(case: Case) -> Json:
    """The message that calls the tools of a case."""
    made = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": call["name"],
                "arguments": json.dumps(call["arguments"], ensure_ascii=False),
            },
        }
        for number, call in enumerate(case["calls"])
    ]
    return {"role": "assistant", "content": "", "tool_calls": made}
