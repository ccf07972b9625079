"""Tokens of the five conversations that seed 003 prices (6, "Token消耗统计"; average 486 in, 554 in all).

The demo study with its stand-ins over HTTP; every call to the LLM that a question takes counts, all messages
of the request and the model's answer, by our own offline counter; a question that takes none counts nothing.
The compared figure leaves out hot memory (the seed's prompts had none), which is printed apart, as the average
of a question too. Beside the seed's figures stand those of the first version of
the house, and how long an answer took with a model that answers at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import mean

from tests.bench._demo import calls, study
from tests.bench._measure import Row, row

MEMBER = "admin"
SEED_INPUT, SEED_ALL = 486, 554
FIRST_INPUT, FIRST_ALL = 335, 383
"""What the first version of the house took for them, measured as here."""
# The seed's conversations (its own words where it prints them) with its input and output.
SCENARIOS = (
    ("exclusion criteria", "这个研究的排除标准是什么?", "340 + 79"),
    ("CRF items", "CRF表格里要填写哪些指标?", "434 + 75"),
    ("subject 7", "查询ID 7的患者情况", "627 + 88"),
    ("purpose", "这个研究的研究目的是什么?", "522 + 57"),
    ("counts", "目前有多少位患者入组?", "505 + 42"),
)
APART = {"hot": "hot memory"}


@dataclass(frozen=True)
class Asked:
    """What one question took; `apart` is in `input` too; `seconds`: until the answer was there."""

    calls: int
    input: int
    output: int
    apart: dict[str, int]
    seconds: float

    @property
    def compared(self) -> int:
        """Input without hot memory."""
        return self.input - sum(self.apart.values())


def run() -> list[Row]:
    """The averages against the seed's, what they leave out, each question beside the seed's figures."""
    with study():
        asked = [_ask(text) for _name, text, _seed in SCENARIOS]
    rows = [
        *_against("input", mean(one.compared for one in asked), SEED_INPUT, FIRST_INPUT),
        *_against("in all", mean(one.compared + one.output for one in asked), SEED_ALL, FIRST_ALL),
    ]
    for part, name in APART.items():
        told = mean(one.apart[part] for one in asked)
        rows.append(row(f"tokens: {name}, printed apart, average a question", round(told)))
    for (name, _text, seed), one in zip(SCENARIOS, asked, strict=True):
        told = f"{one.compared} + {one.output}, {1000 * one.seconds:.0f} ms"
        calls_made = "" if one.calls == 1 else f", {one.calls} calls"
        rows.append(row(f"tokens: {name}{calls_made}", told, peer="seed 003", of_peer=seed))
    return rows


def _against(what: str, ours: float, seed: int, first: int) -> list[Row]:
    """Our average beside the seed's, which it must not pass, and beside the first version's."""
    name = f"tokens: {what}, average of the five conversations of seed 003"
    ratio = ours / seed
    limit = f"≤ {seed}"
    return [
        row(
            name,
            round(ours),
            peer="seed 003",
            of_peer=seed,
            times=ratio,
            goal=limit,
            met=ratio <= 1,
        ),
        row(name, round(ours), peer="first version", of_peer=first, times=ours / first),
    ]


def _ask(text: str) -> Asked:
    from django.core.cache import cache

    from engines.assistant.chat import answer_message
    from engines.assistant.context import watched
    from projects.models import Person

    cache.clear()  # five conversations, not one
    start = time.perf_counter()
    with watched() as prompts, calls() as made:
        reply = answer_message(person=Person.objects.of(MEMBER), text=text)
    seconds = time.perf_counter() - start
    if len(prompts) > len(made) or reply.outside_down:
        raise RuntimeError(f"not the conversation that was meant: {text} {reply.text}")
    return Asked(
        calls=len(made),
        input=sum(call.input for call in made),
        output=sum(call.output for call in made),
        apart={
            part: sum(_content(part, one.parts.get(part, 0)) for one in prompts) for part in APART
        },
        seconds=seconds,
    )


def _content(part: str, told: int) -> int:
    """Tokens of a part without the words that our template puts around it."""
    from core.integrations import tokens
    from core.llm import prompts

    around = prompts.load_prompt(part, **{part: ""})
    return max(told - tokens.count(around.text), 0)
