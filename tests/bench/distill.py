"""What remembering costs: LLM tokens for a day of 500 messages (issue 4, must show 6).

The demo study with its stand-ins over HTTP. 500 messages of the intent detector's held-out sets (about one in
ten tells or rates something), spread evenly, from the four people in turn. What is to be remembered or rated
goes through `engines.assistant.chat.answer_message`; of the others, which leave nothing else to the memories,
only what follows the reply is done. After each message the Memory Manager reads what its offline screen lets
through (`save_info`), and the day ends with the distillation into hot memory. Tokens in (forms of answers
included) and out by our own offline counter; answers to people are not counted here.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from tests.bench._demo import Call, calls, study
from tests.bench._measure import Row, missing, row
from tests.bench.intents import FILES

MESSAGES = 500
PEOPLE = ("zhangyi", "wanghushi", "crc_b", "admin")
TOLD = {"remember", "feedback"}
# Purposes of calls, as they stand in iit_llm_usage.
AGENT, DAILY = "remember", "distil"


def run() -> list[Row]:
    """Tokens of the Memory Manager, of the daily distillation, and both."""
    texts = _messages()
    if not texts:
        return [missing("distill: tokens a day", "-", "-", "no messages")]
    with study() as project, calls() as made:
        for number, text in enumerate(texts):
            _say(project, PEOPLE[number % len(PEOPLE)], text)
        statements = _end_of_day(project)
    agent = [call for call in made if call.purpose == AGENT]
    daily = [call for call in made if call.purpose == DAILY]
    of_agent = f"distill: Memory Manager, {len(agent)} of {MESSAGES} messages read, tokens a day"
    of_day = f"distill: daily distillation of {statements} statements, tokens a day"
    return [
        row(of_agent, _told(agent)),
        row(of_day, _told(daily)),
        row(f"distill: both, tokens for a day of {MESSAGES} messages", _sum([*agent, *daily])),
    ]


def _told(made: list[Call]) -> str:
    return f"{sum(call.input for call in made)} + {sum(call.output for call in made)}"


def _sum(made: list[Call]) -> int:
    return sum(call.input + call.output for call in made)


def _messages() -> list[str]:
    """Every n-th of the messages, so that all sets have their share."""
    lines = [
        line for path in FILES if path.exists() for line in path.read_text("utf-8").split("\n")
    ]
    texts = [json.loads(line)["text"] for line in lines if line]
    return [texts[at * len(texts) // MESSAGES] for at in range(MESSAGES)] if texts else []


def _say(project: Any, userid: str, text: str) -> None:
    from engines.assistant.chat import answer_message
    from engines.assistant.read.offline import detect
    from memory.people.turns import after_reply
    from projects.models import Member

    member = Member.objects.get(project=project, wecom_userid=userid)
    if TOLD & set(detect(text).intents):
        answer_message(person=member.person, text=text)
        return
    after_reply(member, text, at=datetime.now(UTC), wake=lambda _pk: None)


def _end_of_day(project: Any) -> int:
    """Distil today; returns how many statements there were."""
    from core.house import clock
    from memory.hot import distill, distill_material

    today = clock.today(project.timezone)
    found = len(distill_material.statements(project, today))
    distill.distil(project, today)
    return found
