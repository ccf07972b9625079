"""The lines of a user's own profile in hot memory can be forgotten by that user alone (issue 4)."""

from __future__ import annotations

import json

import pytest

from memory.hot import injection
from memory.models import MemoryProposal, MemoryTombstone, ProjectMemoryVersion
from projects.models import AuditEntry
from tests.engines.chat.kit import ask
from tests.memory.hot_kit import LINES, base, lines_of, without, write
from tests.support.study import Study

LINE = "- **偏好**: 只要看结果"


@pytest.fixture
def memory(study: Study) -> Study:
    """A known hot memory, and an LLM that nobody may need."""
    base(study)
    write(study, *LINES, "- 第二条规则")
    base(study)
    study.stand_ins.fault("llm", "status", 500, times=None)
    return study


@pytest.mark.parametrize(
    "text", ["忘掉我的偏好", "把我的喜好忘了吧", "忘掉我只要看结果", "删除你记的我的偏好"]
)
def test_a_line_of_ones_own_profile_goes(memory: Study, text: str) -> None:
    assert "只要看结果" in ask("zhangyi", "你记得我什么").text
    reply = ask("zhangyi", text).text
    assert lines_of(memory) == without(LINE)
    assert "只要看结果" not in reply
    assert "只要看结果" not in ask("zhangyi", "你记得我什么").text
    assert "只要看结果" not in json.dumps(
        list(ProjectMemoryVersion.objects.values_list("content", flat=True)), ensure_ascii=False
    )
    assert memory.stand_ins.requests("llm") == []


def test_everything_of_oneself_leaves_the_others_and_the_rules(memory: Study) -> None:
    ask("zhangyi", "忘掉关于我的一切")
    assert lines_of(memory) == without("- **角色**: PI", LINE)


@pytest.mark.parametrize(
    "text",
    ["忘掉写操作必须经过人工确认", "忘掉入组冲刺期", "忘掉详细步骤,需要解释", "忘掉系统禁令"],
)
def test_no_line_of_the_study_or_of_others_goes(memory: Study, text: str) -> None:
    ask("zhangyi", text)
    assert lines_of(memory) == LINES


def test_rules_that_stand_under_ones_name_are_the_studys(memory: Study) -> None:
    rules = [*LINES, "## 张医生 (user_id: zhangyi)", "- 不得导出数据"]
    base(memory, *rules)
    ask("zhangyi", "忘掉关于我的一切")
    assert "- 不得导出数据" in lines_of(memory)


def test_the_trail_does_not_repeat_the_line(memory: Study) -> None:
    ask("zhangyi", "忘掉我的偏好")
    entry = AuditEntry.objects.filter(action="memory.forget").get()
    assert entry.actor == "zhangyi"
    rows = AuditEntry.objects.filter(pk__gte=entry.pk - 3).exclude(new__isnull=True)
    assert "只要看结果" not in json.dumps(
        list(rows.values_list("new", flat=True)), ensure_ascii=False
    )
    stones = MemoryTombstone.objects.filter(user_id="zhangyi")
    assert stones.count() == 1
    assert "结果" not in json.dumps(list(stones.values("digest", "sketch", "evidence")))


def test_no_job_brings_the_line_back(memory: Study) -> None:
    """The user removed it, not an editor; others may still have the same line."""
    ask("zhangyi", "忘掉我的偏好")
    rest = lines_of(memory)
    mine, theirs = rest.index("- **角色**: PI"), rest.index("- **偏好**: 详细步骤,需要解释")
    added = ["- **偏好**: 结果只要看", *rest[mine + 1 : theirs + 1], LINE]
    write(memory, *rest[: mine + 1], *added, *rest[theirs + 1 :], actor="profiler_job")
    assert lines_of(memory) == [*rest[: theirs + 1], LINE, *rest[theirs + 1 :]]


def test_the_proposal_that_made_the_line_goes_too(memory: Study) -> None:
    MemoryProposal.objects.create(
        project=memory.project,
        action=MemoryProposal.Action.ADD,
        section="profiles",
        profile="zhangyi",
        new=LINE,
        author="profiler_job",
        key="k",
        state=MemoryProposal.State.APPLIED,
    )
    ask("zhangyi", "忘掉我的偏好")
    assert not MemoryProposal.objects.exists()


def test_a_length_that_was_asked_for_holds_no_more(study: Study) -> None:
    base(study, *LINES[:4], "- **禁令**: 回复不超过 40 字", *LINES[4:])
    ask("zhangyi", "忘掉我的禁令")
    assert injection.length_ban(injection.hot_text(study.project), "zhangyi", "") is None
