"""What the grammar reads is read rightly, and nothing else is read."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engines.assistant.read.grammar import fast, split
from engines.assistant.read.question import Question, Shape, Topic
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting
from engines.assistant.read.task import State, Task, TaskKind
from engines.assistant.read.tokens import Kind
from study.query.run import answer_query
from study.query.schema import parse_query
from tests.assistant.read.played import TODAY, asked, demo, of_site, play, small

HERE = Path(__file__).parent
_COLUMNS = ("@visits", "@findings", "@reviews", "@runs", "@changes")
_MEANT = (Kind.SUBJECT, Kind.NUMBER, Kind.COMPARE, Kind.NOT, Kind.PLACE, Kind.PERIOD, Kind.SITE)
_MEANT_TOO = (Kind.AGGREGATE, Kind.SHARE)


@cache
def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _asked(found: list[dict[str, Any]], setting: Setting) -> list[dict[str, Any]]:
    """Queries without those of a whole form that only say among how many rows the one before looked."""
    before = [{}, *found]
    return [
        query
        for at, query in enumerate(found)
        if set(query) != {"subjects", "select"}
        or before[at].get("subjects") != query["subjects"]
        or not before[at].get("where")
        or not setting.repeats(query["select"][0])
    ]


def _short(query: dict[str, Any]) -> dict[str, Any]:
    select, where = query.get("select", []), sorted(query.get("where", []), key=_text)
    for name in _COLUMNS:
        if select and all(isinstance(c, str) and c.startswith(f"{name}.") for c in select):
            query = query | {"select": name}
    return query | ({"where": where} if where else {})


def _scored(name: str, setting: Setting) -> tuple[int, list[str], int]:
    """How many are read rightly, those read wrongly, and how many are not read; no answer is no reading."""
    right, wrong, refused = 0, list[str](), 0
    for case in cases(name):
        member = of_site(setting, case["site"]) if "site" in case else setting
        got = asked(case["q"], member)
        if got is None:
            refused += 1
        elif [*map(_short, _asked(got, member))] == case["expect"]:
            right += 1
        else:
            wrong.append(case["q"])
    return right, wrong, refused


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "study"), [("questions.jsonl", demo), ("questions_small.jsonl", small)]
)
def test_most_questions_are_read_whole_and_none_wrongly(name: str, study: Any) -> None:
    right, wrong, _refused = _scored(name, study())
    answered = sum(bool(case["expect"]) for case in cases(name))
    assert wrong == []
    assert right >= 0.8 * answered


def _plain(study: Any, name: str) -> list[tuple[str, Task]]:
    """The questions of one message that are read whole."""
    told = [c["q"] for c in cases(name) if "|" not in c["q"] and "site" not in c]
    read = ((q, fast(q, study(), State())) for q in told)
    return [(q, task) for q, task in read if task is not None]


@pytest.mark.full
@pytest.mark.parametrize("word", ["嗑嚎", "zqx"])
def test_a_word_nobody_knows_is_never_passed_over(word: str) -> None:
    for question, _task in _plain(demo, "questions.jsonl")[::4]:
        for at in {0, len(question) // 3, len(question) // 2, len(question)}:
            if word.isascii() and question[max(0, at - 1) : at + 1].isascii():
                continue
            assert fast(question[:at] + word + question[at:], demo(), State()) is None, question


@pytest.mark.full
def test_no_word_that_means_something_can_be_left_out_unseen() -> None:
    for question, task in _plain(demo, "questions.jsonl"):
        for token in scan(question, demo()):
            at = question.casefold().find(token.said)
            if token.kind not in (*_MEANT, *_MEANT_TOO) or at < 0:
                continue
            shorter = question[:at] + question[at + len(token.said) :]
            other = fast(shorter, demo(), State())
            assert other is None or other.question != task.question, (question, token.said)


@pytest.mark.full
def test_every_query_is_one_that_the_study_takes() -> None:
    for name, study in (("questions.jsonl", demo), ("questions_small.jsonl", small)):
        for case in cases(name):
            for query in asked(case["q"], study()) or ():
                answer_query(parse_query(query), study().design, [], today=TODAY)


@pytest.mark.full
def test_a_question_survives_the_store() -> None:
    for _question, task in _plain(demo, "questions.jsonl"):
        assert task.question is None or Question.from_json(
            json.loads(json.dumps(task.question.as_json()))
        ) == Question.from_json(task.question.as_json())


def only(message: str, state: State | None = None) -> Task | None:
    return fast(message, demo(), state or State())


def question(message: str, state: State | None = None) -> Question:
    task = only(message, state)
    assert task is not None, message
    assert task.question is not None
    return task.question


def after(*messages: str) -> State:
    state = State()
    for message in messages:
        _tasks, state, left = play(message, demo(), state)
        assert left == [], message
    return state


@pytest.mark.parametrize(
    "statement",
    [
        "P036脱落了",
        "P005今天没来",
        "P007的入组日期是3月2日",
        "给P020上报AE 皮疹2级",
        "PLT 156",
        "质控P014",
        "P033跑质控",
        "记个AE",
        "人家上个月就退了",
    ],
)
def test_a_statement_or_an_order_is_no_question(statement: str) -> None:
    assert only(statement) is None


@pytest.mark.parametrize(
    "beside",
    [
        "没完成基线的还有多少人",
        "完成V6的百分之多少",
        "没有质疑的受试者有哪些",
        "哪些人年龄超了",
        "ALT升高要停药吗",
        "漏服了怎么记录",
        "现在V6窗口多长",
        "EDC版本是多少",
        "A中心几个AE，B中心几个",
        "三中心入了多少",
        "P001只有ALT高吗",
        "V2的身高是多少",
        "现在一共有多少个病人完成了全部随访",
        "有多少例已经做完全部随访",
        "P001下次访视要查什么",
        "上个月几例",
        "P001他家属签字了没",
        "谁的ALT高",
        "药还吃吗",
        "年龄最大的三个人的ALT",
        "V2做了V3没做的有谁",
        "什么情况算SAE",
        "禁用药有哪些",
        "P001正常吗",
        "AE",
        "有高血压的病人吃什么药",
        "SAE的病人是不是都退出了",
        "新增疑点几个",
        "谁复核的P002",
        "P005吃了几次药",
    ],
)
def test_what_could_be_meant_otherwise_is_not_read(beside: str) -> None:
    assert only(beside) is None


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("P03l的ALT多少", "P031"),
        ("P0O6的肌酐", "P006"),
        ("批零三二的血小板", "P032"),
        ("13号的年龄", "P013"),
    ],
)
def test_an_id_as_heard_or_badly_typed_is_the_one_that_fits_and_said(
    message: str, name: str
) -> None:
    task = only(message)
    assert task is not None
    assert question(message).subjects == (name,)
    assert [to for _was, to in task.heard] == [name]


def test_an_id_that_is_typed_well_is_not_flagged() -> None:
    task = only("P031的ALT多少")
    assert task is not None
    assert task.heard == ()


@pytest.mark.parametrize(
    "message", ["今天我要干点啥", "今天我要做什么", "有什么等着我", "我还有几个复核"]
)
def test_what_waits_for_whoever_asks_is_an_agenda(message: str) -> None:
    task = only(message)
    assert task is not None
    assert task.kind is TaskKind.AGENDA


@pytest.mark.parametrize("text", ["明天要做什么", "昨天有什么待办"])
def test_an_agenda_is_of_now(text: str) -> None:
    """What waits now is no answer to what waits on another day."""
    task = only(text)
    assert task is None or task.kind is not TaskKind.AGENDA


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("P002的质控走到哪一步了", Topic.RUNS),
        ("P022能不能入组", Topic.ELIGIBILITY),
        ("P022能不能进组", Topic.ELIGIBILITY),
        ("AE转归都有哪些选项", Topic.DICTIONARY),
        ("redcap里收集了哪些化验", Topic.DICTIONARY),
        ("昨天以来改了什么", Topic.CHANGES),
        ("离目标还差几例", Topic.TARGET),
        ("把P005的疑点都列给我", Topic.FINDINGS),
    ],
)
def test_a_question_is_of_its_topic(message: str, topic: Topic) -> None:
    assert question(message).topic is topic


def test_whoever_has_no_such_row_may_have_no_row_at_all() -> None:
    severe = {"field": "ae_grade", "op": ">=", "value": "3"}
    assert question("没有3级以上AE的有谁").where == ({"none": [severe]},)


def test_what_a_follow_up_names_changes_and_the_rest_stays() -> None:
    state = after("P016 V2的ALT多少")
    assert question("那P002呢", state).subjects == ("P002",)
    assert question("那AST呢", state).select == ("ast",)
    assert question("那AST呢", state).place == ("V2",)
    assert question("V3呢", state).place == ("V3",)
    assert question("V3呢", state).subjects == ("P016",)


def test_what_is_carried_is_told() -> None:
    task = only("体重多少", after("P016的ALT多少"))
    assert task is not None
    assert question("体重多少", after("P016的ALT多少")).subjects == task.carried == ("P016",)


def test_a_name_in_the_message_beats_whoever_was_spoken_of() -> None:
    state = after("P016的ALT多少")
    assert question("P002的体重多少", state).subjects == ("P002",)
    assert question("谁的体重最高", state).subjects == ()
    assert question("B中心入组几例", state).subjects == ()


def test_a_clause_without_a_name_goes_on_with_the_one_of_its_message() -> None:
    tasks, _state, left = play("P030体重多少，有没有在吃他汀", demo())
    assert left == []
    assert [task.question and task.question.subjects for task in tasks] == [("P030",), ("P030",)]
    assert tasks[1].carried == ("P030",)


def test_a_pronoun_is_bound_inside_its_message_first() -> None:
    tasks, _state, left = play("P023多大了，她得过什么AE", demo(), after("P016的ALT多少"))
    assert left == []
    assert {task.question and task.question.subjects for task in tasks} == {("P023",)}


def test_they_are_those_who_were_found() -> None:
    state = State(None, ("P001", "P003"))
    assert question("他们的年龄", state).subjects == ("P001", "P003")
    assert only("他的年龄", state) is None
    assert only("他的年龄") is None


def test_a_number_of_people_becomes_their_list() -> None:
    listed = question("都有谁", after("鳞癌的有几个"))
    assert (listed.shape, listed.aggregate) == (Shape.LIST, "")
    assert listed.where == ({"field": "histology", "op": "=", "value": "2"},)


def test_the_site_of_a_message_holds_for_its_other_clauses_and_no_longer() -> None:
    tasks, state, left = play("B中心入组几例，SAE有几例", demo())
    assert left == []
    assert [task.question and task.question.site for task in tasks] == [("site_b",), ("site_b",)]
    assert question("SAE有几例", state).site == ()


def test_a_clause_that_names_only_a_field_is_no_question_of_its_own() -> None:
    assert only("那AST呢") is None


def test_a_message_is_cut_into_clauses() -> None:
    assert split("P001入组了吗？顺便看下V2，谢谢") == ["P001入组了吗", "看下V2", "谢谢"]
    assert split("。，") == []


def test_every_kind_of_message_is_taken_without_an_error() -> None:
    for message in ("", " ", "。", "的的的", "P" * 500, "1" * 200, "谁" * 90, "\x00吗", "那呢"):
        only(message)
        only(message, after("P016的ALT多少"))


@pytest.mark.parametrize(
    "message",
    [
        "P005入组到V2多少天",
        "P005入组到V3几天",
        "P016采血日期到V2多少天",
        "P005从入组到化验多少天",
        "P005入组到不良事件多少天",
        "P001从首次用药日期到化验多少天",
    ],
)
def test_days_to_a_visit_or_a_form_are_none_until_today(message: str) -> None:
    read = only(message)
    assert read is None or read.question is None or read.question.change != "since"


def test_days_since_one_date_go_until_today() -> None:
    assert question("P005入组多少天了").change == "since"
    of_visit = question("P016 V2采血日期到现在多少天")
    assert (of_visit.change, of_visit.place) == ("since", ("V2",))
