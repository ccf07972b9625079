"""The console's trace and the answer page show each span of a model's answer with the line behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from engines.models import AgentTrace
from tests.engines.chat.kit import ask
from tests.support.study import Study
from wechat.outbound import answers

TRUE = {"content": "已入组,时间是 2026-02-05。"}
LIE = {"content": "已入组,时间是 2026-02-07。"}


def trace_page() -> str:
    trace = AgentTrace.objects.latest("created_at")
    return reverse("admin:engines_agenttrace_change", args=[trace.pk])


def shown(client: Client, path: str) -> str:
    return client.get(path).content.decode()


@pytest.mark.full
def test_the_trace_shows_the_line_behind_each_span(
    study: Study, as_user: Callable[..., Client]
) -> None:
    study.stand_ins.script(TRUE)
    reply = ask("zhangyi", "P001 入组了吗?").text
    assert "2026-02-05" in reply
    page = shown(as_user("zhangyi", "zh-hans"), trace_page())
    table = page.partition('data-test="spans"')[2].partition("</details>")[0]
    assert "2026-02-05" in table
    assert "P001" in table.partition("出处")[2]
    assert "<script" not in table
    assert "Line behind it" in shown(as_user("zhangyi"), trace_page())


def test_the_answer_page_shows_them_to_its_reader(
    study: Study, as_user: Callable[..., Client]
) -> None:
    study.stand_ins.script(TRUE)
    reply = ask("zhangyi", "P001 入组了吗?").text
    path = answers.keep(text=reply, to_user="zhangyi", project=study.project)
    page = shown(as_user("zhangyi", "zh-hans"), path)
    assert "P001" in page.partition('data-test="spans"')[2]
    other = answers.keep(text="别的话", to_user="zhangyi", project=study.project)
    assert 'data-test="spans"' not in shown(as_user("zhangyi", "zh-hans"), other)
