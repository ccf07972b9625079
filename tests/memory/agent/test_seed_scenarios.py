"""The three scenarios of seed 004, as decisions.md reads them."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now

from memory.models import UserMemory
from tests.engines.chat.kit import UNREAD, ask, prompts, sent
from tests.memory.agent.kit import (
    SCENARIO,
    SCENARIO_ITEMS,
    extracted,
    invoke,
    item,
    kept,
    reading,
    row_of,
    save,
)
from tests.support.study import Study

pytestmark = pytest.mark.usefixtures("immigration")

WISH = "我对高才通B类非常感兴趣,希望尽快办理"


def told(study: Study) -> None:
    """What the user of the scenarios said in the talks before."""
    study.stand_ins.script(
        extracted(*SCENARIO_ITEMS),
        extracted(
            item("targetCategory", "TTPS", "我对高才通B类非常感兴趣"),
            item("immigrationTimeline", "尽快", "希望尽快办理"),
        ),
        extracted(item("currentIndustry", "互联网", "我在互联网行业")),
    )
    for message in (SCENARIO, WISH, "我在互联网行业"):
        save("zhangyi", message)


def test_scenario_one_keeps_what_was_said(study: Study) -> None:
    study.stand_ins.script(extracted(*SCENARIO_ITEMS))
    found = save("zhangyi", SCENARIO, "感谢您分享这些信息!您的背景很不错...")
    assert found == {
        "action": "save_info",
        "extracted_info": {
            "age": 32,
            "education": "硕士",
            "university": "浙江大学",
            "major": "计算机",
            "currentJobTitle": "前端开发",
            "totalYearsOfExperience": 8,
            "annualIncome": 800000,
            "currentLocation": "杭州",
        },
        "saved_count": 5,
        "saved_memories": [
            {"memoryType": "FACT", "content": "用户32岁", "field": "age"},
            {
                "memoryType": "FACT",
                "content": "浙江大学计算机硕士毕业",
                "field": "education+university+major",
            },
            {
                "memoryType": "FACT",
                "content": "从事前端开发工作8年",
                "field": "currentJobTitle+totalYearsOfExperience",
            },
            {"memoryType": "FACT", "content": "年薪约80万", "field": "annualIncome"},
            {"memoryType": "FACT", "content": "目前在杭州工作", "field": "currentLocation"},
        ],
        "skipped_fields": [],
    }
    assert UserMemory.objects.count() == found["saved_count"]
    assert set(UserMemory.objects.values_list("importance", flat=True)) == {70}


def test_scenario_one_asks_the_small_model_once(study: Study) -> None:
    study.stand_ins.script(extracted(*SCENARIO_ITEMS))
    save("zhangyi", SCENARIO, "您的背景很不错,应该在35岁左右")
    (body,) = list(reading(study))
    assert (body["temperature"], body["max_tokens"]) == (0, 1000)
    words = json.dumps(body["messages"], ensure_ascii=False)
    assert SCENARIO in words
    assert "背景很不错" not in words
    assert "35岁左右" not in words


def test_scenario_two_loads_what_earlier_talks_left(study: Study) -> None:
    told(study)
    before = len(prompts(study))
    (found,) = invoke("zhangyi", {"action": "load_context", "query": "用户的基本背景和移民意向"})
    assert found["total_memories"] == len(found["memories"]) == 8
    by_content = {row["content"]: row for row in found["memories"]}
    assert by_content["用户32岁"] == {
        "type": "FACT",
        "content": "用户32岁",
        "importance": 70,
        "category": None,
        "createdAt": now().date().isoformat(),
    }
    wish = by_content["对高才通B类感兴趣"]
    assert (wish["type"], wish["importance"], wish["category"]) == ("INTENT", 80, "TTPS")
    soon = by_content["计划时间:尽快"]
    assert (soon["type"], soon["importance"]) == ("PREFERENCE", 60)
    assert [row["importance"] for row in found["memories"]] == [80, *[70] * 6, 60]
    assert "浙江大学计算机硕士毕业" in found["user_profile_summary"]
    assert len(prompts(study)) == before


@pytest.mark.full
def test_scenario_two_a_new_session_begins_with_them(study: Study) -> None:
    told(study)
    study.stand_ins.reset()
    ask("zhangyi", UNREAD)
    head = prompts(study)[-1]["messages"][0]["content"]
    assert "用户32岁" in head
    assert "年薪约80万" in head
    study.stand_ins.reset()
    ask("wanghushi", UNREAD)
    assert "年薪约80万" not in sent(study)


def test_scenario_three_sums_up_what_is_known(study: Study) -> None:
    told(study)
    before = len(prompts(study))
    (found,) = invoke("zhangyi", {"action": "summarize"})
    assert found["user_profile"]["basic"] == {
        "age": "32岁",
        "education": "硕士",
        "university": "浙江大学",
        "major": "计算机",
        "nationality": None,
        "location": "杭州",
    }
    assert found["user_profile"]["career"] == {
        "jobTitle": "前端开发",
        "yearsOfExperience": "8年",
        "industry": "互联网",
        "company": None,
        "annualIncome": "约80万",
    }
    assert found["user_profile"]["immigration"] == {
        "targetCategories": ["TTPS"],
        "timeline": "尽快",
        "hasHKEmployer": None,
        "investmentCapacity": None,
    }
    assert set(found["user_profile"]["family"].values()) == {None}
    done = found["completeness"]
    assert set(done["filled_fields"]) == {
        "age",
        "education",
        "university",
        "major",
        "location",
        "jobTitle",
        "industry",
        "yearsOfExperience",
        "annualIncome",
        "targetCategories",
        "timeline",
    }
    assert set(done["missing_fields"]) == {
        "nationality",
        "maritalStatus",
        "hasChildren",
        "languageSkills",
        "hasHongKongEmployer",
        "hasTechBackground",
        "investmentAmount",
    }
    assert done["score"] == 61
    assert "32岁" in found["narrative_summary"]
    assert "国籍" in found["narrative_summary"]
    assert "人民币" not in json.dumps(found, ensure_ascii=False)
    assert len(prompts(study)) == before


@pytest.mark.full
def test_a_later_talk_goes_on_from_the_former(study: Study) -> None:
    told(study)
    with time_machine.travel(now() + timedelta(days=365)):
        study.stand_ins.script(extracted(item("age", "33", "我今年33岁")))
        found = save("zhangyi", "我今年33岁了")
    assert found["extracted_info"] == {"age": 33}
    assert "用户33岁" in kept("zhangyi")
    assert "用户32岁" not in kept("zhangyi")
    old = row_of("用户32岁")
    assert old.superseded_by is not None
    assert old.superseded_by.value == 33
