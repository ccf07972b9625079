"""A weekly report's figures count over all sites: a member with a site reads none (design.md 9.7)."""

from __future__ import annotations

import pytest

from tests.api.conftest import House, Login

SUMMARY = """## Week 1 (2026-01-01 ~ 2026-01-07)

### 进度
- 本周新入组:3 例
- 累计入组:15 / 30 例
- 完成率:50%
- 访视:本周完成 4 次,窗口内待完成 2 次,逾期 1 次
- 质控:新增发现 2 条,关闭 1 条,未关闭 Query 5 条;质控运行 9 次
- 助手:消息 40 条;反馈 👍 3 / 👎 1;据此更新画像 0 条
- 访视室已启用

### 关键决策
- 2026-01-05: 维持 18 岁下限(张医生)"""
FIGURES = {"enrolled": 3, "enrolled_total": 15, "target": 30, "completion": 50}


def read(house: House, login: Login, userid: str) -> tuple[str, object]:
    report = house.rows["ALPHA"]["weekly-reports"][0]
    type(report).objects.filter(pk=report.pk).update(summary=SUMMARY, metrics=FIGURES)
    one = login(userid).get(f"/api/v1/weekly-reports/{report.pk}/").json()
    (listed,) = login(userid).get("/api/v1/weekly-reports/").json()["results"]
    assert (one["summary"], one["metrics"]) == (listed["summary"], listed["metrics"])
    return one["summary"], one["metrics"]


@pytest.mark.parametrize("userid", ["crc_a", "crc_b"])
def test_a_reader_of_one_site_reads_what_was_said_and_no_figures(
    house: House, login: Login, userid: str
) -> None:
    summary, metrics = read(house, login, userid)
    assert metrics is None
    assert "访视室已启用" in summary
    assert "维持 18 岁下限" in summary
    for figure in ("15", "50%", "消息", "Query", "本周新入组"):
        assert figure not in summary


@pytest.mark.parametrize("userid", ["pi", "chief"])
def test_a_reader_of_all_sites_reads_them(house: House, login: Login, userid: str) -> None:
    assert read(house, login, userid) == (SUMMARY, FIGURES)
