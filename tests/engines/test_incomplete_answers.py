"""Nobody who asks a model takes an answer that was cut, however whole it looks."""

from __future__ import annotations

import pytest

from core.llm import breaker
from core.llm.job_llm import ModelDown
from core.llm.models import LlmUsage
from core.llm.providers import clients_for
from memory.people.extraction import read_message
from memory.people.schemas import current
from projects.endpoints import Purpose
from projects.models import Member
from tests.engines.chat.kit import ask
from tests.engines.sop.kit import new_skill, run_of, soft
from tests.engines.sop.test_soft_lies import asked, detail, said, waits_for_a_person
from tests.memory import weekly_kit
from tests.support.study import Study

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.parametrize("reason", ["length", "content_filter"]),
]


@pytest.mark.full
def test_a_verdict_goes_to_a_person_and_the_model_is_told(study: Study, reason: str) -> None:
    study.stand_ins.script(*[said() | {"finish_reason": reason}] * 3)
    run = run_of(study, new_skill(study, {"judge": soft(on_fail="end_bad")}), "P001")

    assert waits_for_a_person(run)
    assert "没有写完" in asked(study)[1]["messages"][-1]["content"]
    assert len(detail(run)["problems"]) == 3
    assert {row.ok for row in LlmUsage.objects.all()} == {False}
    assert all(row.output_tokens for row in LlmUsage.objects.all()), "cut answers cost, too"
    client = clients_for(study.project, Purpose.ENGINES)[0]
    assert not breaker.is_open(client.endpoint), "who cuts is not down"


def test_an_answer_in_chat_is_the_plain_one(study: Study, reason: str) -> None:
    true = "V2 的窗口期为前后 7 天"
    cut = {"content": f"{true}{{V2|窗口期前 7 天}}。", "finish_reason": reason}
    study.stand_ins.post("llm/script", [cut, cut])
    reply = ask("zhangyi", "V2 的窗口期是多少天?")
    assert true not in reply.text
    assert "7" in reply.text


def test_what_was_said_of_oneself_is_read_later(study: Study, reason: str) -> None:
    items = '{"items": [{"field": "hobby", "value": "跑步", "quote": "跑步"}]}'
    study.stand_ins.script({"content": items, "finish_reason": reason})
    nurse = Member.objects.named(study.project, "wanghushi").get()
    with pytest.raises(ModelDown):
        read_message(nurse, current(), "我喜欢跑步", {})


@pytest.mark.full
def test_a_weekly_report_waits_for_its_narrative(study: Study, reason: str) -> None:
    weekly_kit.forget(study)
    weekly_kit.said(study, weekly_kit.DECISION)
    study.stand_ins.script(*[weekly_kit.told() | {"finish_reason": reason}] * 4)
    weekly_kit.write()
    assert weekly_kit.report(study).narrated_at is None
