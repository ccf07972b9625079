"""Two weekly reports compared, and figures counted again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from memory.models import WeeklyReport
from tests.support.study import Study
from tests.support.tasks import drain

LIST = "/admin/memory/weeklyreport/"


def do(client: Client, action: str, *rows: WeeklyReport) -> str:
    body = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
    return client.post(LIST, body, follow=True).content.decode()


def two(study: Study) -> tuple[WeeklyReport, WeeklyReport]:
    first, second = WeeklyReport.objects.filter(project=study.project).order_by("week_number")[:2]
    for row, text in ((first, "- 甲\n- 乙"), (second, "- 甲\n- P005 丙")):
        WeeklyReport.objects.filter(pk=row.pk).update(summary=text)
    return first, second


def test_what_differs_is_shown(as_user: Callable[..., Client], study: Study) -> None:
    page = do(as_user("zhangyi"), "compare", *two(study))
    text = page.partition('data-test="compare"')[2]
    assert "-- 乙" in text
    assert "+- P005 丙" in text
    assert "- 甲" not in text.replace("-- ", "")


def test_a_site_sees_its_own_part_alone(as_user: Callable[..., Client], study: Study) -> None:
    text = do(as_user("crc_b"), "compare", *two(study)).partition('data-test="compare"')[2]
    assert text
    assert "P005" not in text


@pytest.mark.full
def test_it_takes_exactly_two(as_user: Callable[..., Client], study: Study) -> None:
    first, _second = two(study)
    assert "Select exactly two reports." in do(as_user("zhangyi"), "compare", first)


@pytest.mark.full
def test_figures_are_counted_again(
    as_user: Callable[..., Client], study: Study, django_capture_on_commit_callbacks: Any
) -> None:
    report = WeeklyReport.objects.filter(counted_at__isnull=False).order_by("-week_number").first()
    assert report
    before = report.counted_at
    with django_capture_on_commit_callbacks(execute=True):
        do(as_user("zhangyi"), "count_again", report)
    assert "engines.tasks.write_report" in drain()
    report.refresh_from_db()
    assert report.counted_at
    assert before
    assert report.counted_at > before


@pytest.mark.full
def test_who_does_not_edit_counts_nothing(as_user: Callable[..., Client], study: Study) -> None:
    report = WeeklyReport.objects.filter(counted_at__isnull=False).first()
    assert report
    do(as_user("wanghushi"), "count_again", report)
    report.refresh_from_db()
    assert report.counted_at
