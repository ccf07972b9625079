"""An order is a command to check now; one for many lists whom it means and waits for a yes."""

from __future__ import annotations

import re

import pytest

from engines.models import Batch, TaskRun
from memory import session
from projects.models import Member
from study.models import Subject
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study


def screening(study: Study, site: str | None = None) -> set[str]:
    """Who is screening, by the stand-in's own data."""
    from study.records import read_records

    found = {
        data.record_id
        for data in read_records(project=study.project, record_ids=None)
        if any(row.get("subject_status") == "1" for row in data.rows)
    }
    mine = Subject.objects.filter(project=study.project, **({"site": site} if site else {}))
    return found & set(mine.values_list("record_id", flat=True))


def named(text: str) -> set[str]:
    return set(re.findall(r"P?\d{3}", text))


@pytest.mark.full
@pytest.mark.parametrize(
    ("order", "site"),
    [
        ("把我们中心还在筛选的都质控一遍", "site_a"),
        ("给还在筛选的受试者做质控", "site_a"),
        ("质控一下筛选中的", "site_a"),
    ],
)
def test_a_condition_is_worked_out_and_waits(study: Study, order: str, site: str) -> None:
    mute(study)
    meant = screening(study, site)
    assert meant
    told = ask("wanghushi", order)
    assert named(told.text) == meant
    assert f"{len(meant)} 例" in told.text
    assert told.task_run_ids == []
    assert not TaskRun.objects.exists()

    started = ask("wanghushi", "确认")
    assert set(TaskRun.objects.values_list("record_id", flat=True)) == meant
    assert len(started.task_run_ids) == len(meant)
    assert started.intents == ["qc_task"]

    ask("wanghushi", "确认")
    assert Batch.objects.count() == 1, "a second yes starts nothing"


@pytest.mark.full
@pytest.mark.parametrize("between", ["取消", "P001 入组了吗?", "谢谢", "同意吗", "好像不对"])
def test_anything_but_a_yes_leaves_it(study: Study, between: str) -> None:
    mute(study)
    ask("wanghushi", "全部受试者跑一遍质控")
    ask("wanghushi", between)
    ask("wanghushi", "确认")
    assert not TaskRun.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize(
    "order", ["把看起来不太好的都质控一遍", "给难搞的受试者做质控", "把昨天录的都质控了"]
)
def test_what_cannot_be_worked_out_starts_nothing_and_says_so(study: Study, order: str) -> None:
    mute(study)
    told = ask("wanghushi", order)
    assert "无法判断" in told.text
    ask("wanghushi", "确认")
    assert not TaskRun.objects.exists()


@pytest.mark.full
def test_a_condition_that_nobody_meets_starts_nothing(study: Study) -> None:
    mute(study)
    told = ask("wanghushi", "把ALT大于99999的受试者都质控一遍")
    assert "没有符合" in told.text
    ask("wanghushi", "确认")
    assert not TaskRun.objects.exists()


@pytest.mark.full
def test_only_those_whom_the_reader_sees_are_meant(study: Study) -> None:
    mute(study)
    told = ask("crc_b", "把还在筛选的都质控一遍")
    assert named(told.text) == screening(study, "site_b")


@pytest.mark.full
def test_who_was_moved_away_before_the_yes_is_not_started(study: Study) -> None:
    mute(study)
    meant = sorted(screening(study, "site_a"))
    ask("wanghushi", "把还在筛选的都质控一遍")
    Subject.objects.filter(project=study.project, record_id=meant[0]).update(site="site_b")
    ask("wanghushi", "确认")
    assert set(TaskRun.objects.values_list("record_id", flat=True)) == set(meant[1:])


@pytest.mark.full
@pytest.mark.parametrize("question", ["P002的质控走到哪一步了", "谁做的P002的质控"])
def test_a_question_about_a_run_is_answered_with_it(study: Study, question: str) -> None:
    mute(study)
    ask("wanghushi", "质控P002")
    told = ask("wanghushi", question).text
    assert str(TaskRun.objects.get().get_status_display()) in told
    assert "受试者状态" not in told
    assert TaskRun.objects.count() == 1


@pytest.mark.parametrize(
    "order",
    [
        "质控P002",
        "帮我质控一下P002",
        "请对P002做质控",
        "把P002质控了吧",
        "能帮我把P002质控一下吗",
        "P002麻烦再跑一遍质控",
        "run QC for P002",
        "核对一下P002的入排标准",
    ],
)
def test_a_plain_command_starts_at_once(study: Study, order: str) -> None:
    mute(study)
    ask("wanghushi", order)
    assert [run.record_id for run in TaskRun.objects.all()] == ["P002"]


NO_ORDERS = [
    "P002的质控走到哪一步了",
    "上次质控查出什么",
    "P016的ALT有没有被质控提出来",
    "谁做的P002的质控",
    "P002质控有什么问题",
    "质控查出P005哪些问题",
    "P002还在质控吗",
    "有没有人质控过P009",
    "P011的疑点是质控提出来的吗",
    "要不要质控P002",
    "P002需要质控吗",
    "质控查什么",
    "质控的规则有哪些",
    "说说P002的质控",
    "P002质控进度",
    "P002质控查出的ALT问题",
    "我准备质控P002",
    "我昨天质控了P002",
    "王护士让我质控P002",
    "明天质控P002",
    "等数据齐了再质控P002",
    "如果P002入组了就质控",
    "如果P003入组了,质控P002",
    "P002的ALT高不高,高就质控P002",
    "不要质控P002",
]


@pytest.mark.full
def test_what_is_no_order_to_do_it_now_starts_nothing(study: Study) -> None:
    mute(study)
    for text in NO_ORDERS:
        for spoken_of in ("P004 入组了吗?", "你好"):
            ask("wanghushi", spoken_of)
            reply = ask("wanghushi", text)
            assert reply.text, text
            ask("wanghushi", "好的")
            assert not TaskRun.objects.exists(), text


@pytest.mark.full
def test_a_yes_that_is_worked_on_twice_orders_once(study: Study) -> None:
    """A worker that dies behind its commit leaves the session as it was."""
    mute(study)
    ask("wanghushi", "把还在筛选的都质控一遍")
    nurse = Member.objects.named(study.project, "wanghushi").get()
    offered = session.load(nurse).order
    first = ask("wanghushi", "确认").task_run_ids
    session.remember(nurse, question="-", answer="-", record_ids=[], order=offered)
    assert ask("wanghushi", "确认").task_run_ids == first
    assert Batch.objects.count() == 1
    assert TaskRun.objects.count() == len(first)
