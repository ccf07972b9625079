"""Tokens of the five conversations that seed 003 prices (6, "Token消耗统计"; average 486 in, 554 in all).

The demo study with its stand-ins over HTTP; every call to the LLM that a question takes counts, all messages
of the request and the model's answer, by our own offline counter. The compared figure leaves out hot memory
(the seed's prompts had none) and the retrieved passages (their length is the knowledge base's), which are
printed apart, as the average of a question too.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from bench._demo import calls, study
from bench._measure import Row, row

MEMBER = "admin"
SEED_INPUT, SEED_ALL = 486, 554
# The seed's conversations (its own words where it prints them) with its input and output.
SCENARIOS = (
    ("exclusion criteria", "这个研究的排除标准是什么?", "340 + 79"),
    ("CRF items", "CRF表格里要填写哪些指标?", "434 + 75"),
    ("subject 7", "查询ID 7的患者情况", "627 + 88"),
    ("purpose", "这个研究的研究目的是什么?", "522 + 57"),
    ("counts", "目前有多少位患者入组?", "505 + 42"),
)
APART = {"hot": "hot memory", "documents": "retrieved passages"}


@dataclass(frozen=True)
class Asked:
    """What one question took; `apart` is in `input` too."""

    calls: int
    input: int
    output: int
    apart: dict[str, int]

    @property
    def compared(self) -> int:
        """Input without hot memory and passages."""
        return self.input - sum(self.apart.values())


def run() -> list[Row]:
    """The averages against the seed's, what they leave out, each question beside the seed's figures."""
    with study():
        asked = [_ask(text) for _name, text, _seed in SCENARIOS]
    rows = [
        _against("input", mean(one.compared for one in asked), SEED_INPUT),
        _against("in all", mean(one.compared + one.output for one in asked), SEED_ALL),
    ]
    for part, name in APART.items():
        told = mean(one.apart[part] for one in asked)
        rows.append(row(f"tokens: {name}, printed apart, average a question", round(told)))
    for (name, _text, seed), one in zip(SCENARIOS, asked, strict=True):
        told = f"{one.compared} + {one.output}"
        calls_made = "" if one.calls == 1 else f", {one.calls} calls"
        rows.append(row(f"tokens: {name}{calls_made}", told, peer="seed 003", of_peer=seed))
    return rows


def _against(what: str, ours: float, seed: int) -> Row:
    return row(
        f"tokens: {what}, average of the five conversations of seed 003",
        round(ours),
        peer="seed 003",
        of_peer=seed,
        times=ours / seed,
        goal=f"≤ {seed}",
        met=ours <= seed,
    )


def _ask(text: str) -> Asked:
    from django.core.cache import cache

    from engines.chat import answer_message
    from engines.context import watched

    cache.clear()  # five conversations, not one
    with watched() as prompts, calls() as made:
        reply = answer_message(userid=MEMBER, text=text)
    chat = [call for call in made if call.purpose != "intent"]
    if len(prompts) != 1 or not chat or reply.outside_down:
        raise RuntimeError(f"not the conversation that was meant: {text} {reply.text}")
    parts = prompts[0].parts
    return Asked(
        calls=len(made),
        input=sum(call.input for call in made),
        output=sum(call.output for call in made),
        apart={part: _content(part, parts.get(part, 0)) * len(chat) for part in APART},
    )


def _content(part: str, told: int) -> int:
    """Tokens of a part without the words that our template puts around it."""
    from engines import prompts
    from integrations import tokens

    around = prompts.load(part, **{part: ""})
    return max(told - tokens.count(around.text), 0)
