"""The command's inputs as the seed documents them, turn limits, and what each reader may see of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.timezone import now

from memory.models import MemoryQuestion, UserMemory, UserProfile
from memory.people import schemas, screen
from study.models import Subject, SyncState
from tests.engines.chat.kit import ask, sent
from tests.memory.agent.kit import extracted, invoke, item, kept, reading, save
from tests.memory.hot_kit import browser
from tests.support.study import Study


def test_what_is_optional_may_be_null_or_absent(study: Study) -> None:
    given: list[dict[str, Any]] = [
        {"action": "save_info", "userMessage": "你好"},
        {"action": "save_info", "userMessage": "你好", "existingInfo": None},
        {"action": "save_info", "userMessage": "你好", "assistantMessage": None},
    ]
    for found in invoke("zhangyi", *given):
        assert found == {
            "action": "save_info",
            "extracted_info": {},
            "saved_count": 0,
            "saved_memories": [],
            "skipped_fields": [],
        }


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        "3",
        "null",
        '{"action": "nope"}',
        '{"action": "load_context"}',
        '{"action": "load_context", "query": null}',
        '{"action": "save_info"}',
        '{"action": "summarize", "extra": 1}',
        '{"action": "summarize", "action": "summarize"}',
        '{"action": "\\ud800"}',
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_a_bad_line_is_an_error_and_the_next_one_an_answer(study: Study, line: str) -> None:
    bad, good = invoke("zhangyi", line, {"action": "summarize"})
    assert list(bad) == ["error"]
    assert good["action"] == "summarize"


def test_nothing_is_sent_where_no_identifier_could_be_recognised(study: Study) -> None:
    Subject.objects.all().delete()
    SyncState.objects.all().delete()
    study.stand_ins.fault("redcap", "status", 403, times=9)
    (found,) = invoke("zhangyi", {"action": "save_info", "userMessage": "我负责 A 中心的访视安排"})
    assert found == {"error": "RedcapPermissionError"}
    assert not list(reading(study))


def test_save_info_has_two_turns_and_the_others_none(study: Study) -> None:
    study.stand_ins.script(*({"content": "no json"} for _ in range(4)))
    assert save("zhangyi", "我在心内科做主治医师")["saved_count"] == 0
    assert len(list(reading(study))) == 2
    invoke("zhangyi", {"action": "load_context", "query": "背景"}, {"action": "summarize"})
    assert len(study.stand_ins.requests("llm")) == 2


@pytest.mark.full
def test_vague_words_give_way_to_exact_ones_and_not_the_other_way(
    study: Study, immigration: Any
) -> None:
    steps = [
        ("我今年三十多岁", "30", "用户30+岁", []),
        ("我今年35岁", "35", "用户35岁", []),
        ("我今年三十多岁", "30", "用户35岁", ["age"]),
        ("我今年三十五六岁", "35", "用户35岁", ["age"]),
        ("我四十出头了", "40", "用户40+岁", []),
        ("我快五十了", "50", "用户近50岁", []),
    ]
    for words, value, content, skipped in steps:
        study.stand_ins.script(extracted(item("age", value, words)))
        assert save("zhangyi", words)["skipped_fields"] == skipped
        assert kept("zhangyi") == [content]
    assert UserMemory.objects.count() == 4, "superseded, not erased"


def test_a_range_against_a_number_is_asked_not_stored(study: Study, immigration: Any) -> None:
    words = "我今年30到35岁,哦我今年36岁"
    study.stand_ins.script(
        extracted(item("age", "30-35", "我今年30到35岁"), item("age", "36", "我今年36岁"))
    )
    assert save("zhangyi", words)["saved_count"] == 0
    asked = MemoryQuestion.objects.get()
    assert [option["said"] for option in asked.options] == ["30-35岁", "36岁"]


@pytest.mark.parametrize(
    "words",
    [
        "我主要管筛选",
        "别给我发长消息",
        "我主要看不良事件",
        "我负责一百来例随访",
        "以后早上8点半提醒我",
        "我换到肿瘤科了",
    ],
)
def test_the_screen_lets_everyday_words_through(study: Study, words: str) -> None:
    assert screen.has_news(study["zhangyi"], words)


@pytest.mark.parametrize("words", ["我快四十了", "我二十出头", "我年近五十", "我三十好几"])
def test_the_screen_knows_an_age_without_its_unit(
    study: Study, immigration: Any, words: str
) -> None:
    assert screen.has_news(study["zhangyi"], words)


@pytest.mark.parametrize(
    "words",
    ["王主任是PI,在肿瘤科", "40岁以上的患者有几例", "我想问下40岁以上能入组吗", "查下P001"],
)
def test_the_screen_keeps_the_rest_out(study: Study, settings: Any, words: str) -> None:
    for settings.MEMORY_SCHEMA in schemas.NAMES:
        assert not screen.has_news(study["zhangyi"], words)


@pytest.fixture
def moved(study: Study) -> str:
    """crc_b worked with a subject that is of the other site now; returns its id."""
    record = Subject.objects.filter(project=study.project, site="site_a", record_id__startswith="P")
    found = record.order_by("record_id").values_list("record_id", flat=True)[0]
    for content in (f"负责:{found}的随访", "负责:药品管理"):
        UserMemory.objects.create(
            project=study.project,
            user_id="crc_b",
            memory_type="FACT",
            importance=70,
            field="study_duties",
            value=content,
            content=content,
            evidence=content,
        )
    return str(found)


def test_a_memory_about_a_hidden_record_is_left_out(study: Study, moved: str) -> None:
    loaded, summary = invoke(
        "crc_b", {"action": "load_context", "query": "职责"}, {"action": "summarize"}
    )
    assert [row["content"] for row in loaded["memories"]] == ["负责:药品管理"]
    assert loaded["total_memories"] == 1
    assert moved not in str(summary)


@pytest.mark.full
@pytest.mark.parametrize("question", ["我负责什么来着?", "我们为什么暂停了筛选?", "你好"])
def test_no_reply_and_no_request_names_it(study: Study, moved: str, question: str) -> None:
    reply = ask("crc_b", question)
    assert moved not in reply.text
    assert moved not in sent(study)


@pytest.mark.full
def test_nor_does_the_api_or_the_console(study: Study, moved: str) -> None:
    told = {"project": study.project, "user_id": "crc_b"}
    UserProfile.objects.create(**told, narrative=f"负责{moved}的随访", last_at=now())
    MemoryQuestion.objects.create(**told, field="角色", options=[{"said": f"{moved}的护士"}])
    client = browser("crc_b")
    rows = client.get("/api/v1/user-memory/").json()
    assert [row["content"] for row in rows["results"]] == ["负责:药品管理"]
    assert rows["count"] == 1
    hidden, seen = UserMemory.objects.filter(user_id="crc_b").order_by("content")[::-1]
    if moved not in hidden.content:
        hidden, seen = seen, hidden
    UserMemory.objects.filter(pk=hidden.pk).update(superseded_by=seen)
    assert client.get(f"/api/v1/user-memory/{hidden.pk}/").status_code == 404
    assert client.post(f"/admin/memory/usermemory/{hidden.pk}/forget/").status_code == 404
    for page in ("usermemory", f"usermemory/{seen.pk}/change", "userprofile", "memoryquestion"):
        answer = client.get(f"/admin/memory/{page}/")
        assert answer.status_code == 200
        assert moved not in answer.content.decode()
    assert browser("admin").get("/api/v1/user-memory/").json()["count"] == 2
