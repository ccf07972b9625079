"""Several reads at once, each with a connection of its own (design.md 8)."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from engines.parallel import run_all
from tests.engines.chat.kit import ask, call, calls, mute, prompts, record, say
from tests.support.study import Study


@pytest.mark.django_db(transaction=True)
def test_jobs_run_in_threads_outside_of_a_transaction() -> None:
    assert not connection.in_atomic_block
    barrier = threading.Barrier(3, timeout=10)
    found = run_all([lambda: barrier.wait() >= 0] * 3)
    assert found == [True, True, True]


@pytest.mark.django_db(transaction=True)
def test_a_failing_job_is_not_swallowed() -> None:
    def fail() -> int:
        raise LookupError("x")

    with pytest.raises(LookupError):
        run_all([lambda: 1, fail])


@pytest.mark.django_db(transaction=True)
def test_two_tasks_are_read_side_by_side_and_told_in_order(study: Study) -> None:
    mute(study)
    reply = ask("wanghushi", "P003 的 ECOG 是几分?排除标准是什么?")
    assert reply.intents == ["query_record", "query_protocol"]
    first, second = reply.text.split("\n2. ")
    assert f"{record(study, 'P003')['ecog_score']}分" in first
    assert "排除" in second
    assert {source["kind"] for source in reply.sources} == {"redcap", "document"}


@pytest.mark.django_db(transaction=True)
def test_parallel_tool_calls_in_threads(study: Study) -> None:
    study.stand_ins.script(
        calls(
            call("read_clinical_data", 1, record_id="P001", fields=["入组日期"]),
            call("get_project_stats", 2),
            call("search_protocol", 3, query="排除标准"),
        ),
        say("P001 入组日期 2026-02-05。"),
    )
    assert ask("zhangyi", "帮我查下最近那个发烧的病人是谁").text == "P001 入组日期 2026-02-05。"
    results = [m for m in prompts(study)[1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in results] == ["call_1", "call_2", "call_3"]
