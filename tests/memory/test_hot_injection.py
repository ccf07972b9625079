"""What of hot memory goes into a prompt (decisions.md, "what is injected over 2000 tokens")."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.integrations import tokens
from memory.hot import injection
from memory.hot.save import (
    MemoryConflict,
    MemoryTooLarge,
    check_size,
    save_memory,
)
from memory.models import ProjectMemory
from projects.models import AuditEntry
from tests.support.study import Study

LONG = "这是一条很长的常见问题说明文字,用来占用令牌。" * 3


def write(study: Study, content: str) -> None:
    ProjectMemory.objects.filter(project=study.project).update(content=content)


def big(faq: int, current: int) -> str:
    parts = [
        "# 用户画像 (User Profiles)",
        "## 张医生 (user_id: zhangyi)",
        "- **偏好**: 只看结论",
        "## 王护士 (user_id: wanghushi)",
        "- **偏好**: 详细步骤",
        "# 当前状态 (Active Context)",
        *(f"- 状态{n}:{LONG}" for n in range(current)),
        "# 常见问题 (FAQ)",
        *(f"- 问题{n}:{LONG}" for n in range(faq)),
        "# 系统禁令 (Rules)",
        "- 写操作必须经过人工确认",
    ]
    return "\n".join(parts)


def test_a_small_memory_goes_in_whole(study: Study) -> None:
    injected = injection.inject(study.project, study["zhangyi"])
    assert injected.text == injection.hot_text(study.project).strip()
    assert injected.left_out == ()


def test_faq_goes_first(study: Study) -> None:
    write(study, big(faq=60, current=5))
    injected = injection.inject(study.project, study["zhangyi"])
    assert tokens.count(injected.text) <= injection.LIMIT
    assert "状态0:" in injected.text
    assert "写操作必须经过人工确认" in injected.text
    assert {row["why"] for row in injected.left_out} == {"size"}
    assert all("问题" in row["line"] for row in injected.left_out)


def test_then_the_oldest_current_lines(study: Study) -> None:
    write(study, big(faq=5, current=80))
    injected = injection.inject(study.project, study["wanghushi"])
    assert tokens.count(injected.text) <= injection.LIMIT
    assert "问题0:" not in injected.text
    assert "状态0:" not in injected.text
    assert "状态79:" in injected.text
    assert "详细步骤" in injected.text
    assert "写操作必须经过人工确认" in injected.text


def test_lines_of_hidden_subjects_are_left_out_without_their_text(study: Study) -> None:
    injected = injection.inject(study.project, study["crc_b"])
    assert "P005" not in injected.text
    assert "当前阶段" in injected.text
    assert [row for row in injected.left_out if row["why"] == "scope"]
    assert not any("P005" in row["line"] for row in injected.left_out)


@pytest.mark.parametrize(
    "line",
    [
        "P005 依从性差",
        "p005 依从性差",
        "Ｐ００５ 依从性差",
        "P 005 依从性差",
        "P-005 依从性差",
        "P零零五 依从性差",
        "受试者P005的SAE",
    ],
)
def test_every_spelling_of_a_hidden_subject_counts(study: Study, line: str) -> None:
    write(study, f"# 当前状态\n- {line}\n- 其他")
    assert injection.inject(study.project, study["crc_b"]).text == "# 当前状态\n- 其他"


def test_what_is_indented_below_a_hidden_line_is_hidden_with_it(study: Study) -> None:
    write(
        study,
        "# 当前状态\n- P005 依从性差\n  - 已两次缺席\n\n    - 家属同意再约\n- 其他\n  - 下周开会\n- P005 换药",
    )
    assert (
        injection.inject(study.project, study["crc_b"]).text == "# 当前状态\n- 其他\n  - 下周开会"
    )
    assert "已两次缺席" in injection.inject(study.project, study["zhangyi"]).text


def test_an_unknown_id_reads_like_a_hidden_one(study: Study) -> None:
    write(study, "# 当前状态\n- P777 待确认\n- V2 Day 28±7,ECOG 2 分,ALT 120")
    assert "P777" not in injection.inject(study.project, study["crc_b"]).text
    assert "ALT 120" in injection.inject(study.project, study["crc_b"]).text
    assert "P777" in injection.inject(study.project, study["zhangyi"]).text


def test_a_member_who_left_sees_no_subject_lines(study: Study) -> None:
    member = study["zhangyi"]
    member.is_active = False
    assert "P005" not in injection.inject(study.project, member).text


@pytest.mark.parametrize(
    ("line", "limit"),
    [
        ("- **禁令**: 回复不超过 100 字", 100),
        ("- **禁令**: 回复不要超过80个字", 80),
        ("- **禁令**: 60字以内", 60),
        ("- **偏好**: 简洁", None),
        ("- **偏好**: 以后周报不超过20字", None),
        ("- **禁令**: 回复不超过 100 字,周报除外", 100),
        ("- **偏好**: 周报不超过20字,回复不超过90字", 90),
        ("- **偏好**: 周报不限字数,回复不超过90字", 90),
        ("- **禁令**: 回复不超过 50 字\n- **偏好**: 回复不超过 90 字", 90),
    ],
)
def test_a_ban_on_length_is_read_from_the_profile(line: str, limit: int | None) -> None:
    content = f"# 用户画像\n## 张医生 (user_id: ZhangYi)\n{line}\n## 李 (user_id: li)\n- 10字以内"
    assert injection.length_ban(content, "zhangyi", "") == limit


@given(st.text(alphabet="# -a:\n张(user_id)", max_size=200))
def test_lines_joined_are_the_content(content: str) -> None:
    assert "\n".join(line.text for line in injection.lines(content)) == content


def test_saving_keeps_a_version_and_an_entry(study: Study) -> None:
    before = ProjectMemory.objects.get(project=study.project)
    saved = save_memory(
        project=study.project,
        content="新\r\n内容",
        actor=study["zhangyi"],
        base_version=before.version,
    )
    assert saved.content == "新\n内容"
    assert saved.version == before.version + 1
    assert saved.last_updated_by == "zhangyi"
    assert saved.versions.first().content == "新\n内容"  # type: ignore[union-attr]
    entry = AuditEntry.objects.filter(action="memory.save").latest("number")
    assert entry.new is not None
    assert "+新" in entry.new["diff"]


def test_the_later_of_two_writers_is_told(study: Study) -> None:
    base = ProjectMemory.objects.get(project=study.project).version
    save_memory(project=study.project, content="一", actor="a", base_version=base)
    with pytest.raises(MemoryConflict) as caught:
        save_memory(project=study.project, content="二", actor="b", base_version=base)
    assert caught.value.content == "一"
    assert injection.hot_text(study.project) == "一"


def test_the_first_version(study: Study) -> None:
    ProjectMemory.objects.all().delete()
    assert (
        save_memory(project=study.project, content="一", actor="a", base_version=None).version == 1
    )
    with pytest.raises(MemoryConflict):
        save_memory(project=study.project, content="二", actor="a", base_version=None)


def test_too_large_sections_are_refused(study: Study) -> None:
    base = ProjectMemory.objects.get(project=study.project).version
    rules = "# 系统禁令 (Rules)\n" + "- 严禁泄露受试者身份信息。\n" * 200
    profile = "# 用户画像\n## 张 (user_id: z)\n" + "- 偏好简洁的汇报方式。\n" * 80
    for content in (rules, profile):
        with pytest.raises(MemoryTooLarge):
            save_memory(project=study.project, content=content, actor="a", base_version=base)
    check_size("# 系统禁令\n- 短")
