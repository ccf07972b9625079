"""Lines that name another site are left out for a reader with a site (design.md 9.7)."""

from __future__ import annotations

import pytest

from memory.hot import injection
from memory.mentions import other_site
from memory.models import WeeklyReport
from memory.reports.history import book
from study.models import Dictionary
from tests.memory.hot_kit import base
from tests.support.study import Study

SITES = frozenset({"site_a", "site_b", "hosp_03"})
OTHERS = [
    "A中心开始预筛选",
    "关闭 Ａ 中心问题",
    "site_a 的 Query",
    "Site-A 培训",
    "某医院A已启动",
    "03中心",
    "第三中心",
    "A中心、B中心",
]
OWN = [
    "B中心补录",
    "site_b",
    "两中心例会",
    "本中心周三例会",
    "多中心研究",
    "2026-01-06 中心实验室",
    "医院 B 超报告",
]


@pytest.mark.parametrize("line", OTHERS)
def test_a_line_of_another_site(line: str) -> None:
    assert other_site("site_b", SITES, line)


@pytest.mark.parametrize("line", OWN)
def test_a_line_of_ones_own_or_of_all_sites(line: str) -> None:
    assert not other_site("site_b", SITES, line)


def test_numbers_are_compared_as_numbers() -> None:
    named = [other_site("hosp_03", SITES, one) for one in ("3中心", "三中心", "03号中心", "04中心")]
    assert named == [False, False, False, True]


def test_a_group_without_a_letter_or_number_is_known_by_its_name() -> None:
    names = frozenset({"beijing", "shanghai_east"})
    assert other_site("beijing", names, "Shanghai East 启动")
    assert not other_site("beijing", names, "beijing 启动")


def test_hot_memory_and_history_are_shown_without_them(study: Study) -> None:
    base(
        study,
        "# 当前状态",
        "- A中心本周监查",
        "  - 准备文件",
        "- B中心补录",
        "## A中心",
        "- 药物清点",
    )
    report = WeeklyReport.objects.filter(project=study.project).latest("week_number")
    report.summary += "\n- A中心完成首次监查\n- B中心海报上墙"
    report.save()
    shown = injection.inject(study.project, study["crc_b"]).text
    told = "\n".join(page.text for page in book(study.project, study["crc_b"]))
    for text in (shown, told):
        assert "A中心" not in text
        assert "B中心" in text
    assert "准备文件" not in shown
    assert "药物清点" not in shown
    whole = injection.inject(study.project, study["zhangyi"]).text
    assert "A中心本周监查" in whole
    assert "药物清点" in whole


def test_a_site_called_by_the_label_of_its_group(study: Study) -> None:
    """REDCap derives the group's name from the label once; people go on calling it by the label."""
    stored = Dictionary.objects.get(project=study.project)
    labels = {"site_a": "01 江北第一医院", "site_b": "02 江北第一医院(南区)"}
    for row in stored.content["dags"]:
        row["data_access_group_name"] = labels[row["unique_group_name"]]
    stored.digest = "labelled"
    stored.save()
    base(study, "# 当前状态", "- 江北第一医院本周监查", "- 江北第一医院(南区)补录", "- 两家都开会")
    told = {
        user: injection.inject(study.project, study[user]).text for user in ("wanghushi", "crc_b")
    }
    assert "南区" not in told["wanghushi"]
    assert "本周监查" in told["wanghushi"]
    assert "补录" in told["crc_b"]
    assert all("两家都开会" in text for text in told.values())
