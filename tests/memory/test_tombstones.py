"""What a person removed stays removed: verbatim, reworded, split, merged, and by its evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.utils.timezone import now
from hypothesis import given
from hypothesis import strategies as st

from core.house.db import atomic
from memory.hot import (
    distiller,
    injection,
    similarity,
    tombstones,
)
from memory.hot.distill import distil
from memory.hot.distiller import Item, Said
from memory.hot.proposals import Action, Change
from memory.hot.save import RulesAreForPeople, restore, save_memory
from memory.hot.text import Kind
from memory.hot.tombstones import Guard
from memory.models import MemoryProposal, MemoryTombstone
from projects.models import AuditEntry, Project
from tests.memory.hot_kit import (
    LINES,
    base,
    current,
    distil_by,
    kill,
    lines_of,
    said,
    without,
    write,
    yesterday,
)
from tests.support.study import Study

WRONG = "- 入组质控不需要查年龄"
WATCH = "- 重点关注 P005 患者依从性差,需每日提醒"
STYLE = "- **偏好**: 只要看结果"
LIMIT = "- 回复不超过 100 字"
FRIDAY = "- 周五下午不发提醒"

RESTATED = {
    "verbatim": (WRONG, ["- 入组质控不需要查年龄"]),
    "other punctuation": (WRONG, ["入组质控,不需要查年龄。"]),
    "full width and spaces": (WATCH, ["- 重点关注 Ｐ００５ 患者 依从性差，需 每日 提醒！"]),
    "synonyms": (WRONG, ["- 入组质控无需核对年龄"]),
    "another order": (WRONG, ["- 年龄在入组质控时不必检查"]),
    "split in two": (WATCH, ["- P005 患者依从性差", "- P005 需每日提醒"]),
    "split across the comma": (WATCH, ["- 重点关注 P005", "- 依从性差的 P005 每天提醒"]),
    "merged": (WRONG, ["- 本周目标:完成 3 例入组;入组质控不需要查年龄"]),
    "the other way round": (WRONG, ["- 年龄:入组质控可忽略"]),
    "a limit put otherwise": (LIMIT, ["- **偏好**: 每次答复最多一百字", "- 100字以内回复"]),
    "another day's name": (FRIDAY, ["- 提醒不要在星期五下午发", "- 周五午后勿推送提醒"]),
    "merged and reworded": (WATCH, ["- 当前阶段冲刺期,另外 P005 患者依从性不好,要天天提醒"]),
}


def restate(study: Study, *lines: str, kind: Kind = Kind.CURRENT, profile: str = "") -> None:
    """A distiller that says exactly this, resting on something a user said yesterday."""
    cited = said(study, "。".join(lines), own=bool(profile), user_id=profile or "zhangyi")
    changes = [
        Change(Action.ADD, kind, new=line, profile=profile, evidence=(str(cited.pk),))
        for line in lines
    ]
    distil_by(lambda *_given: Said(changes, lambda: None))


@pytest.fixture(autouse=True)
def _own_distiller() -> object:
    kept = distiller.propose
    yield
    distil_by(kept)


@pytest.mark.parametrize("name", RESTATED)
def test_no_job_brings_it_back(study: Study, name: str) -> None:
    removed, lines = RESTATED[name]
    base(study, *LINES[:10], removed, *LINES[10:])
    kill(study, removed)
    before = injection.hot_text(study.project)
    restate(study, *lines)
    distil(study.project, yesterday(study))
    assert injection.hot_text(study.project) == before
    assert not {row.new for row in MemoryProposal.objects.filter(state="pending")} & {*lines}


@pytest.mark.parametrize("name", RESTATED)
def test_without_the_removal_it_would_have_come(study: Study, name: str) -> None:
    _removed, lines = RESTATED[name]
    base(study)
    restate(study, *lines)
    distil(study.project, yesterday(study))
    assert MemoryProposal.objects.filter(state="pending").count() == len(lines)


@pytest.mark.parametrize("name", RESTATED)
def test_the_last_door_is_shut_too(study: Study, name: str) -> None:
    """A job that writes hot memory past the distillation meets the same guard."""
    removed, lines = RESTATED[name]
    base(study, *LINES[:10], removed, *LINES[10:])
    kill(study, removed)
    save_memory(
        project=study.project,
        content="\n".join([*LINES[:10], *lines, "- 新的状态", *LINES[10:]]),
        actor="system_daily_job",
        base_version=current(study).version,
    )
    assert lines_of(study) == [*LINES[:10], "- 新的状态", *LINES[10:]]


@pytest.mark.parametrize(
    "line",
    [
        "- 入组质控需要查肌酐",
        "- 年龄 18 到 75 岁可入组",
        "- 每天上午查房",
        "- P003 患者依从性差,需每日提醒",
        "- P005 已完成第二次访视",
        "- 下周起两人轮值",
        "- 入组质控需要查年龄",
        "- 提醒周五上午发",
    ],
)
def test_other_lines_come_in(study: Study, line: str) -> None:
    base(study, *LINES[:10], WRONG, WATCH, FRIDAY, *LINES[10:])
    for gone in (WRONG, WATCH, FRIDAY):
        kill(study, gone)
    save_memory(
        project=study.project,
        content="\n".join([*LINES[:10], line, *LINES[10:]]),
        actor="system_daily_job",
        base_version=current(study).version,
    )
    assert line in lines_of(study)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("- 回复用英文", "- 回复用中文"),
        ("- 不要用缩写", "- 要用缩写"),
        ("- 每周一上午例会", "- 每周五上午例会"),
        ("- 周五上午不发提醒", "- 周五下午不发提醒"),
        ("- 检验单由CRC上传", "- 检验单由PI签字"),
        ("- 允许 ECOG 3 分患者入组", "- 不允许 ECOG 3 分患者入组"),
        ("- 回复不超过一百字", "- 回复不超过三百字"),
    ],
)
def test_another_statement_in_nearly_the_same_letters(one: str, other: str) -> None:
    assert not similarity.repeats(similarity.pieces(one), similarity.pieces(other))


def test_new_figures_are_a_new_line(study: Study) -> None:
    base(study)
    write(study, *without("- 本周目标:完成 3 例入组"))
    guard = Guard(study.project)
    assert guard.blocks("- 本周目标:完成3例入组")
    assert not guard.blocks("- 本周目标:完成 5 例入组")


def test_a_person_may_add_it_again(study: Study) -> None:
    base(study, *LINES, WRONG)
    kill(study, WRONG)
    assert MemoryTombstone.objects.count() == 1
    write(study, *LINES, WRONG, actor=study["admin"])
    assert WRONG in lines_of(study)
    assert MemoryTombstone.objects.count() == 0
    assert AuditEntry.objects.filter(action="memory.return", actor="admin").count() == 1


def test_a_person_is_never_filtered(study: Study) -> None:
    base(study, *LINES, WRONG)
    kill(study, WRONG)
    write(study, *LINES, "- 入组质控不用查年龄")
    assert "- 入组质控不用查年龄" in lines_of(study)


def test_a_restored_version_lifts_what_it_brings_back(study: Study) -> None:
    base(study)
    write(study, *LINES, WRONG)
    kill(study, WRONG)
    version = current(study).versions.get(version=2)
    restore(version=version, actor=study["admin"], base_version=current(study).version)
    assert WRONG in lines_of(study)
    assert MemoryTombstone.objects.count() == 0


def test_an_edited_line_does_not_return_in_its_old_wording(study: Study) -> None:
    base(study)
    write(study, *[line.replace("只要看结果", "结果和依据都要看") for line in LINES])
    save_memory(
        project=study.project,
        content="\n".join(LINES),
        actor="profiler_job",
        base_version=current(study).version,
    )
    assert STYLE not in lines_of(study)


def test_moving_a_line_removes_nothing(study: Study) -> None:
    base(study)
    write(study, *reversed_current())
    assert MemoryTombstone.objects.count() == 0


def reversed_current() -> list[str]:
    lines = list(LINES)
    lines[8], lines[9] = lines[9], lines[8] + " !"
    return lines


def test_the_same_words_may_be_said_of_another_user(study: Study) -> None:
    base(study)
    kill(study, STYLE)
    guard = Guard(study.project)
    assert guard.blocks(STYLE, profile="zhangyi")
    assert guard.blocks("- 张医生只要看结果")
    assert not guard.blocks(STYLE, profile="wanghushi")


def test_the_evidence_of_a_removed_line_brings_nothing_back(study: Study) -> None:
    base(study)
    cited = said(study, "汇报别铺垫,重点放前面", own=True)
    line = "- **偏好**: 汇报重点放前面"
    first = Change(
        Action.ADD, Kind.PROFILES, new=line, profile="zhangyi", evidence=(str(cited.pk),)
    )
    distil_by(lambda *_given: Said([first], lambda: None))
    distil(study.project, yesterday(study))
    assert line in lines_of(study)
    kill(study, line)
    other = "- **风格**: 汇报先说结论"
    again = Change(
        Action.ADD, Kind.PROFILES, new=other, profile="zhangyi", evidence=(str(cited.pk),)
    )
    assert not similarity.repeats(similarity.pieces(other), similarity.pieces(line))
    distil_by(lambda *_given: Said([again], lambda: None))
    type(cited).objects.filter(pk=cited.pk).update(created_at=now() - timedelta(days=2))
    distil(study.project, yesterday(study) - timedelta(days=1))
    assert other not in lines_of(study)


def test_who_says_it_again_asks_the_console(study: Study) -> None:
    base(study, *LINES, WRONG)
    kill(study, WRONG)
    MemoryTombstone.objects.update(created_at=now() - timedelta(days=3))
    said(study, "入组质控不需要查年龄", "wanghushi")
    distil_by(lambda *_given: Said([], lambda: None))
    distil(study.project, yesterday(study))
    assert WRONG not in lines_of(study)
    waiting = MemoryProposal.objects.get()
    assert (waiting.state, waiting.new) == ("pending", WRONG)


def test_the_table_does_not_repeat_what_was_removed(study: Study) -> None:
    base(study, *LINES, WATCH)
    kill(study, WATCH)
    stone = MemoryTombstone.objects.get()
    stored = f"{stone.digest} {stone.sketch} {stone.evidence} {stone}"
    for word in ("P005", "依从", "提醒"):
        assert word not in stored
    for piece in stone.sketch["pieces"]:
        for name in ("grams", "numbers", "letters"):
            assert all(re.fullmatch("[0-9a-f]{10}", item) for item in piece[name])
    entry = AuditEntry.objects.get(action="memory.remove")
    assert "依从" not in f"{entry.new} {entry.old} {entry.label} {entry.reason}"


def test_headings_and_blank_lines_leave_no_stone(study: Study) -> None:
    base(study)
    write(study, *without("# 常见问题 (FAQ)", "", "- 访视窗口:V1 Day 1±3"))
    assert MemoryTombstone.objects.count() == 1


def test_jobs_do_not_touch_the_rules(study: Study) -> None:
    base(study)
    for lines in (without("- 写操作必须经过人工确认"), [*LINES, "- 新的规矩"]):
        with pytest.raises(RulesAreForPeople):
            save_memory(
                project=study.project,
                content="\n".join(lines),
                actor="system_daily_job",
                base_version=current(study).version,
            )
    assert lines_of(study) == LINES


def test_another_study_is_not_concerned(study: Study) -> None:
    from projects.models import Project

    other = Project.objects.create(code="other", name="other", start_date=study.project.start_date)
    with atomic():
        tombstones.bury(project=other, line=WRONG, actor="admin")
    assert Guard(other).blocks(WRONG)
    assert not Guard(study.project).blocks(WRONG)


def test_a_users_own_stones_count_for_that_user(study: Study) -> None:
    with atomic():
        tombstones.bury(project=study.project, line=STYLE, actor="zhangyi", user_id="zhangyi")
    assert not Guard(study.project).blocks(STYLE)
    assert not Guard(study.project, "wanghushi").blocks(STYLE)
    assert Guard(study.project, "zhangyi").blocks(STYLE)
    with atomic():
        assert tombstones.lift(
            project=study.project, line=STYLE, actor="zhangyi", user_id="zhangyi"
        )
    assert not Guard(study.project, "zhangyi").blocks(STYLE)


CHARS = st.text(
    alphabet="入组质控不需要查年龄患者依从性差每日提醒P0123 ,。", min_size=4, max_size=30
)


@given(CHARS)
def test_a_line_repeats_itself_in_any_dress(text: str) -> None:
    pieces = similarity.pieces(text)
    if pieces:
        for dressed in (f"- {text}", f"{text}。", text.replace(" ", ""), text.upper()):
            assert similarity.repeats(similarity.pieces(dressed), pieces)


@given(CHARS, CHARS)
def test_repeating_is_mutual(one: str, other: str) -> None:
    a, b = similarity.pieces(one), similarity.pieces(other)
    assert similarity.repeats(a, b) == similarity.repeats(b, a)


@given(st.sets(st.integers(1, 999), min_size=1, max_size=2), st.integers(1000, 9999))
def test_other_numbers_are_another_statement(numbers: set[int], other: int) -> None:
    line = "本周目标完成例数" + "和".join(map(str, sorted(numbers)))
    assert not similarity.repeats(
        similarity.pieces(f"本周目标完成例数{other}"), similarity.pieces(line)
    )


def test_nothing_is_read_where_nothing_was_removed(
    study: Study, django_assert_num_queries: object
) -> None:
    with django_assert_num_queries(1):  # type: ignore[operator]
        guard = Guard(study.project)
        assert not guard.blocks(WRONG)
        assert not guard.blocks(WATCH)


def test_the_brief_has_no_flow_log(study: Study) -> None:
    seen: list[Item] = []

    def watch(_project: Project, _content: str, items: Sequence[Item]) -> Said[Change]:
        seen.extend(items)
        return Said([], lambda: None)

    said(study, "本周起改为周三例会")
    distil_by(watch)
    distil(study.project, yesterday(study))
    assert [item.text for item in seen] == ["本周起改为周三例会"]
