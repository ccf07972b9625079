"""The console's trace and the answer page show each span of a model's answer with the line behind it."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from engines.models import AgentTrace
from llm.models import LlmUsage
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


def test_the_trace_shows_the_line_behind_each_span(
    study: Study, as_user: Callable[..., Client]
) -> None:
    study.stand_ins.script(TRUE)
    reply = ask("zhangyi", "P001 入组了吗?").text
    assert "2026-02-05" in reply
    page = shown(as_user("zhangyi", "zh-hans"), trace_page())
    table = page.partition('data-test="spans"')[2].partition("</details>")[0]
    assert "已入组,时间是 2026-02-05" in table
    assert "P001" in table.partition("出处")[2]
    assert "<script" not in table
    assert "Line behind it" in shown(as_user("zhangyi"), trace_page())


def test_the_trace_shows_which_rule_refused_what(
    study: Study, as_user: Callable[..., Client]
) -> None:
    study.stand_ins.script(LIE, LIE)
    reply = ask("zhangyi", "P001 入组了吗?").text
    assert "2026-02-07" not in reply
    table = shown(as_user("zhangyi", "zh-hans"), trace_page()).partition('data-test="spans"')[2]
    assert "2026-02-07" in table
    assert "未通过" in table
    assert "uncited" in table


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


def test_the_first_page_says_where_the_model_cites_nothing(
    study: Study, as_user: Callable[..., Client]
) -> None:
    loose = {"content": "情况总体良好,请放心。"}
    study.stand_ins.script(*[loose] * 12)
    for _number in range(5):
        ask("zhangyi", "P001 入组了吗?")
    home = reverse("admin:index")
    assert "never-cites" in shown(as_user("admin", "zh-hans"), home)
    assert "never-cites" not in shown(as_user("wanghushi", "zh-hans"), home)
    study.stand_ins.script(TRUE)
    ask("zhangyi", "P001 入组了吗?")
    assert "never-cites" not in shown(as_user("admin", "zh-hans"), home)


def test_a_trace_is_read_as_a_road(study: Study, as_user: Callable[..., Client]) -> None:
    study.stand_ins.script(TRUE)
    ask("zhangyi", "P001 入组了吗?")
    page = shown(as_user("zhangyi", "zh-hans"), trace_page())
    road = page.partition('data-test="road"')[2].partition("</ol>")[0]
    assert "查询数据" in road
    assert "query_record" not in road
    call = LlmUsage.objects.latest("at")
    calls = page.partition('data-test="calls"')[2].partition("</table>")[0]
    for told in (call.model, call.prompt_version, f"<td>{call.input_tokens}</td>"):
        assert told in calls


def test_a_message_without_a_model_has_no_calls(
    study: Study, as_user: Callable[..., Client]
) -> None:
    LlmUsage.objects.all().delete()
    AgentTrace.objects.create(
        project=study.project, user_id="zhangyi", query="?", trace=[], success=False
    )
    page = shown(as_user("zhangyi"), trace_page())
    assert 'data-test="road"' in page
    assert 'data-test="calls"' not in page
