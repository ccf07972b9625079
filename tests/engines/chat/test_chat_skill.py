"""A `general_chat` skill shapes what the chat sends (seed 002, skill types): its text and its switches."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client

from engines.assistant import prompt_preview as preview
from engines.models import AgentTrace, TaskRun
from projects.models import Member
from skills.models import Skill
from skills.services import save_skill
from tests.engines.chat.kit import ask, prompts, say, sent
from tests.support.study import Study

QUESTION = "V2 的窗口期是多少天?"
TRUE = "V2 的窗口期为第 28 天前后各 7 天。"
STEPS = "帮我查下最近那个爱抱怨的病人是谁"
OPEN = "大家最近都在忙些啥"
VAGUE = "就是那个啥来着"
WORDS = "称呼研究者为老师,先说结论。"
GRAPH = {
    "start_node": "a",
    "nodes": {"a": {"type": "human_review", "description": "x", "reviewers": ["CRC"]}},
}


def skill(study: Study, config: Any, **more: Any) -> Skill:
    given = {"skill_type": "general_chat", "name": "对话"} | more
    return save_skill(
        skill=Skill(project=study.project, config=config, **given),  # type: ignore[arg-type]
        actor="admin",
    )


def heads(study: Study) -> list[str]:
    return [body["messages"][0]["content"] for body in prompts(study)]


@pytest.mark.parametrize("question", [STEPS, OPEN])
def test_its_text_is_in_every_prompt_of_the_chat(study: Study, question: str) -> None:
    skill(study, {"system_prompt": WORDS})
    ask("zhangyi", question)
    assert heads(study)
    for head in heads(study):
        # Behind the rules of the house, which it does not change.
        assert 0 < head.index("【本研究的补充要求】") < head.index(WORDS)
    told = AgentTrace.objects.latest("created_at").prompt_version
    assert "chat_skill.v1+general_chat.1" in told


def test_without_one_nothing_is_added(study: Study) -> None:
    ask("zhangyi", OPEN)
    assert "补充要求" not in sent(study)


def test_one_that_is_out_of_use_adds_nothing(study: Study) -> None:
    skill(study, {"system_prompt": WORDS}, is_active=False)
    ask("zhangyi", OPEN)
    assert WORDS not in sent(study)


def test_a_change_holds_with_the_next_message_and_is_named_by_its_version(study: Study) -> None:
    made = skill(study, {"system_prompt": WORDS})
    made.config = {"system_prompt": "请用英文回答。"}
    save_skill(skill=made, actor="admin")
    ask("zhangyi", OPEN)
    assert WORDS not in sent(study)
    assert "请用英文回答。" in sent(study)
    assert "general_chat.2" in AgentTrace.objects.latest("created_at").prompt_version


def test_its_text_passes_the_gate_like_everything(study: Study) -> None:
    skill(study, {"system_prompt": "有问题打 13800001234 找我"})
    ask("zhangyi", OPEN)
    assert "13800001234" not in sent(study)


def test_its_text_is_no_source_for_an_answer(study: Study) -> None:
    skill(study, {"system_prompt": "P001 的入组日期是 2031-05-06。"})
    study.stand_ins.script(say("P001 入组日期 2031-05-06。"), say("P001 入组日期 2031-05-06。"))
    assert "2031" not in ask("zhangyi", OPEN).text


@pytest.mark.full
def test_what_is_switched_off_is_not_sent(study: Study) -> None:
    ask("zhangyi", OPEN)
    ask("zhangyi", OPEN)
    before = sent(study)
    assert "[Hot Memory]" in before
    study.stand_ins.reset()
    skill(study, {"switches": {"hot_memory": False, "session": False, "own_memory": False}})
    ask("zhangyi", OPEN)
    after = sent(study)
    assert after
    assert "[Hot Memory]" not in after
    assert "用户:" not in after


@pytest.mark.parametrize("question", [QUESTION, "你好", STEPS, VAGUE])
def test_without_the_model_answers_are_the_data_alone(study: Study, question: str) -> None:
    skill(study, {"switches": {"model": False}})
    reply = ask("zhangyi", question)
    assert reply.text
    assert not reply.outside_down
    assert prompts(study) == []
    if question == QUESTION:
        assert "Day 28" in reply.text


@pytest.mark.parametrize("on", [True, False])
def test_the_small_model_is_asked_what_is_meant_or_not(study: Study, on: bool) -> None:
    skill(study, {"switches": {"ask_intent": on}})
    ask("zhangyi", "P016这人最近感觉咋样了呀")
    assert bool(prompts(study)) is on


def test_the_preview_shows_it(study: Study) -> None:
    skill(study, {"system_prompt": WORDS})
    member = Member.objects.select_related("project", "person").get(pk=study["admin"].pk)
    shown = preview.preview(member, OPEN).prompts[0]
    assert WORDS in shown.messages[0][1]


@pytest.mark.parametrize(
    "config",
    [
        {"system_prompt": "长" * 2001},
        {"system_prompt": 7},
        {"switches": {"hot_memory": "no"}},
        {"switches": {"telepathy": True}},
        {"prompt": "x"},
        ["system_prompt"],
    ],
)
def test_what_is_no_chat_skill_is_refused(study: Study, config: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        skill(study, config)
    assert list(refused.value.message_dict) == ["config"]


def test_it_has_no_schedule_and_belongs_to_its_type(study: Study) -> None:
    with pytest.raises(ValidationError):
        skill(study, {"system_prompt": WORDS}, trigger_type="cron", cron_schedule="0 9 * * *")
    with pytest.raises(ValidationError):
        skill(study, {"system_prompt": WORDS}, skill_type="qc_process:chat")


def test_a_graph_under_this_type_stays_a_workflow(study: Study) -> None:
    skill(study, GRAPH)
    assert ask("zhangyi", QUESTION).text
    assert "补充要求" not in sent(study)


def test_it_cannot_be_ordered(study: Study, client: Client) -> None:
    made = skill(study, {"system_prompt": WORDS})
    client.force_login(User.objects.get(username="admin"))
    order = {"project": study.project.code, "skill_type": "general_chat", "record_id": "P001"}
    answer = client.post("/api/v1/task-runs/start/", order, content_type="application/json")
    assert answer.status_code == 400
    assert not TaskRun.objects.filter(skill=made).exists()


@pytest.mark.full
def test_the_console_takes_it(study: Study, client: Client) -> None:
    made = skill(study, {"system_prompt": WORDS})
    client.force_login(User.objects.get(username="admin"))
    url = f"/admin/skills/skill/{made.pk}/change/"
    assert client.get(url).status_code == 200
    checked = client.post(
        "/admin/skills/skill/check/",
        {"project": str(study.project.pk), "config": '{"switches": {"model": 3}}'},
    )
    assert "switches.model" in checked.content.decode()
