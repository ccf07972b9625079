"""Hot memory as a structure and back without loss; single lines changed, the rest left alone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.hot.text import (
    Kind,
    LineGone,
    add_line,
    change_line,
    kind_of,
    lines,
    profiles,
    remove_line,
)
from tests.memory.hot_kit import LINES

TEXT = "\n".join(LINES)
PIECES = st.sampled_from(
    [
        "# 用户画像 (User Profiles)",
        "## 张医生 (user_id: zhangyi)",
        "## 李 (USER_ID:Li)",
        "## 备注",
        "# 当前状态",
        "# 常见问题 (FAQ)",
        "# 系统禁令 (Rules)",
        "# 自定义章节",
        "#无空格",
        "- 甲",
        "- 乙",
        "",
        "   ",
        "### 三级",
        "正文\r",
        "## 系统禁令",
        "#系统禁令",
        "  # FAQ",
        "```",
        "~~~",
        "| 列 | 列 |",
        "  - 嵌套",
        "\t- 缩进",
    ]
)
DOCUMENTS = st.lists(PIECES, max_size=25).map("\n".join)
NEW = st.text(alphabet="甲乙丙abc 123", min_size=1, max_size=12).map(lambda text: f"- {text}")


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    assert "\n".join(line.text for line in lines(text)) == text


@given(DOCUMENTS)
def test_any_document_comes_back(text: str) -> None:
    assert "\n".join(line.text for line in lines(text)) == text


def test_the_documented_sections() -> None:
    kinds = list(dict.fromkeys(line.kind for line in lines(TEXT)))
    assert kinds == [Kind.PROFILES, Kind.CURRENT, Kind.FAQ, Kind.RULES]
    assert profiles(TEXT) == {
        "zhangyi": ["- **角色**: PI", "- **偏好**: 只要看结果"],
        "wanghushi": ["- **偏好**: 详细步骤,需要解释", ""],
    }


def test_every_line_knows_its_place() -> None:
    places = {line.text: (line.kind, line.profile) for line in lines(TEXT)}
    assert places["- **偏好**: 只要看结果"] == (Kind.PROFILES, "zhangyi")
    assert places["- 本周目标:完成 3 例入组"] == (Kind.CURRENT, "")
    assert places["- 写操作必须经过人工确认"] == (Kind.RULES, "")


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("# 系统禁令", Kind.RULES),
        ("# Rules", Kind.RULES),
        ("# 当前状态 (Active Context)", Kind.CURRENT),
        ("# FAQ", Kind.FAQ),
        ("# User Profiles", Kind.PROFILES),
        ("# 会议记录", Kind.OTHER),
        ("", Kind.OTHER),
    ],
)
def test_headings_in_both_languages(heading: str, kind: Kind) -> None:
    assert kind_of(heading) is kind


def places(text: str) -> dict[str, tuple[Kind, str]]:
    return {line.text: (line.kind, line.profile) for line in lines(text) if line.is_content}


@pytest.mark.parametrize(
    "heading",
    [
        "## 系统禁令",
        "## 系统禁令 (Rules)",
        "### 系统禁令",
        "#系统禁令",
        "##系统禁令",
        "  # 系统禁令",
        "# 系统禁令\r",
        "# 系统 禁令",
        "# RULES",
        "# Ｒｕｌｅｓ",
        "## 4. 系统禁令",
    ],
)
def test_the_rules_are_the_rules_however_their_heading_is_written(heading: str) -> None:
    """Else they would count as lines of the section above, which a machine may shorten."""
    text = f"# 常见问题 (FAQ)\n- 问\n{heading}\n- 禁\n# 当前状态\n- 现"
    assert places(text) == {
        "- 问": (Kind.FAQ, ""),
        "- 禁": (Kind.RULES, ""),
        "- 现": (Kind.CURRENT, ""),
    }
    assert "\n".join(line.text for line in lines(text)) == text


def test_what_stands_in_a_code_fence_is_no_heading() -> None:
    text = "# 系统禁令\n- 甲\n```\n# 当前状态\n```\n- 乙\n~~~~\n## 丙 (user_id: c)\n~~~\n~~~~\n- 丁"
    assert {kind for kind, _profile in places(text).values()} == {Kind.RULES}
    assert profiles(text) == {}


def test_a_fence_that_nobody_closed_does_not_swallow_the_rules() -> None:
    text = "# FAQ\n```\n- 问\n# 系统禁令\n- 禁"
    assert places(text)["- 禁"] == (Kind.RULES, "")


def test_a_part_of_the_rules_is_not_cut_out_of_them() -> None:
    text = "# 系统禁令\n- 甲\n## 当前状态\n- 乙\n### FAQ\n- 丙\n# FAQ\n- 丁"
    assert places(text)["- 乙"] == places(text)["- 丙"] == (Kind.RULES, "")
    assert places(text)["- 丁"] == (Kind.FAQ, "")


def test_a_line_with_a_hash_is_a_line() -> None:
    assert places("# 当前状态\n#待办 复核 P001\n### 小标题") == {
        "#待办 复核 P001": (Kind.CURRENT, "")
    }


def test_a_profile_may_be_written_in_full_width_and_in_two_places() -> None:
    text = "# 用户画像\n## 张（user_id：Z）\n- 甲\n## 张 (user_id: z)\n- 乙"
    assert profiles(text) == {"z": ["- 甲", "- 乙"]}


def test_a_heading_without_a_user_ends_a_profile() -> None:
    found = lines("# 用户画像\n## 张 (user_id: z)\n- 甲\n## 说明\n- 乙")
    assert [line.profile for line in found] == ["", "z", "z", "", ""]


def test_a_line_is_added_before_the_blank_lines_of_its_place() -> None:
    text = add_line(TEXT, kind=Kind.PROFILES, line="- 新", user_id="WangHuShi")
    at = text.split("\n").index("- 新")
    assert text.split("\n")[at - 1] == "- **偏好**: 详细步骤,需要解释"
    assert text.split("\n")[at + 1] == ""


def test_a_missing_profile_and_section_are_made() -> None:
    text = add_line("", kind=Kind.PROFILES, line="- 新", user_id="li", name="李医生")
    assert "# 用户画像 (User Profiles)\n## 李医生 (user_id: li)\n- 新" in text
    text = add_line(TEXT, kind=Kind.PROFILES, line="- 新", user_id="li", name="李医生")
    assert text.split("\n").count("# 用户画像 (User Profiles)") == 1
    assert profiles(text)["li"] == ["- 新"]


def test_the_same_words_in_two_profiles_are_two_lines() -> None:
    text = "# 用户画像\n## 甲 (user_id: a)\n- 简洁\n## 乙 (user_id: b)\n- 简洁"
    left = remove_line(text, line="- 简洁", kind=Kind.PROFILES, user_id="b")
    assert profiles(left) == {"a": ["- 简洁"], "b": []}


def test_what_is_not_there_cannot_be_changed() -> None:
    with pytest.raises(LineGone):
        remove_line(TEXT, line="- 没有这一行", kind=Kind.CURRENT)
    with pytest.raises(LineGone):
        change_line(
            TEXT, old="- **偏好**: 只要看结果", new="- x", kind=Kind.PROFILES, user_id="wanghushi"
        )
    with pytest.raises(LineGone):
        change_line(TEXT, old="- 写操作必须经过人工确认", new="- x", kind=Kind.FAQ)


@given(DOCUMENTS, NEW, st.sampled_from([k for k in Kind if k is not Kind.OTHER]))
def test_adding_keeps_every_line(text: str, new: str, kind: Kind) -> None:
    user = "zhangyi" if kind is Kind.PROFILES else ""
    grown = add_line(text, kind=kind, line=new, user_id=user)
    before, after = Counter(text.split("\n")), Counter(grown.split("\n"))
    assert not before - after
    assert after[new] == before[new] + 1
    assert any(
        line.text == new and line.kind is kind and line.profile == user for line in lines(grown)
    )


@given(DOCUMENTS, st.data())
def test_removing_takes_exactly_one_line(text: str, data: st.DataObject) -> None:
    content = [line for line in lines(text) if line.is_content and not line.text.startswith("#")]
    if not content:
        return
    line = data.draw(st.sampled_from(content))
    left = remove_line(text, line=line.text, kind=line.kind, user_id=line.profile)
    assert Counter(text.split("\n")) - Counter(left.split("\n")) == Counter([line.text])


@given(DOCUMENTS, NEW, st.data())
def test_changing_keeps_the_order_of_the_rest(text: str, new: str, data: st.DataObject) -> None:
    content = [line for line in lines(text) if line.is_content]
    if not content:
        return
    line = data.draw(st.sampled_from(content))
    changed = change_line(text, old=line.text, new=new, kind=line.kind, user_id=line.profile)
    pairs = list(zip(text.split("\n"), changed.split("\n"), strict=True))
    assert [(a, b) for a, b in pairs if a != b] in ([(line.text, new)], [])
