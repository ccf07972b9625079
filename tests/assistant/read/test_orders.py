"""Orders are read by their form; a question about a result never is one."""

import json
from pathlib import Path

import pytest

from engines.assistant.read import orders
from engines.assistant.read.records import ids_in
from engines.assistant.read.task import OrderKind

GOLD = Path(__file__).parents[2] / "engines/intents"


@pytest.mark.parametrize(
    ("said", "ids"),
    [
        ("对P001做质控", ("P001",)),
        ("给P003、P004跑一遍质控", ("P003", "P004")),
        ("质控P012", ("P012",)),
        ("帮我启动P020的质控", ("P020",)),
        ("把所有人的数据质控一遍", ()),
        ("全员质控", ()),
        ("能不能帮我给P005做一次质控?", ("P005",)),
        ("重新质控一次P038", ("P038",)),
        ("run QC on P046 please", ("P046",)),
        ("P零一八跑个质孔", ("P018",)),
    ],
)
def test_an_imperative_is_an_order(said: str, ids: tuple[str, ...]) -> None:
    found = orders.order_of(said)
    assert found is not None
    assert (found.kind, found.is_sure, found.record_ids) == (OrderKind.QC, True, ids)


@pytest.mark.parametrize(
    "said",
    [
        "P002的质控走到哪一步了",
        "P016的ALT有没有被质控提出来",
        "上次质控查出什么",
        "质控过了吗",
        "P004的质控卡在哪了",
        "P010质控通过了没",
        "谁还没做质控",
        "质控结果怎么样",
        "质控发现了几个问题",
        "昨天跑的质控失败了几例",
        "P003做过质控吗",
        "为什么P005的质控没过",
        "质控的规则有哪些",
        "质控报告里写了什么",
        "不用给P003做质控了",
        "别跑质控",
        "什么时候给P003做质控",
        "P009的血压多少",
        "有没有没质控的",
    ],
)
def test_a_question_or_a_refusal_starts_nothing(said: str) -> None:
    found = orders.order_of(said)
    assert found is None or found.kind is not OrderKind.QC


@pytest.mark.parametrize(
    "said",
    ["看看P075的数据有没有前后矛盾的", "P051数据帮忙核核看", "帮忙捋一遍P067的数据有没有毛病"],
)
def test_a_deed_in_looser_words_is_only_proposed(said: str) -> None:
    found = orders.order_of(said)
    assert found is not None
    assert (found.kind, found.is_sure) == (OrderKind.QC, False)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("记住李主任只看百分比", OrderKind.REMEMBER),
        ("以后回复我用英文", OrderKind.REMEMBER),
        ("我负责二中心", OrderKind.REMEMBER),
        ("忘掉我喜欢表格这件事", OrderKind.FORGET),
        ("生成本周周报", OrderKind.REPORT),
        ("把上周漏的周报补一份", OrderKind.REPORT),
        ("👍", OrderKind.FEEDBACK),
        ("这个不对", OrderKind.FEEDBACK),
        ("答非所问", OrderKind.FEEDBACK),
        ("批准这个复核", OrderKind.DECIDE),
        ("撤回", OrderKind.UNDO),
    ],
)
def test_the_other_orders(said: str, kind: OrderKind) -> None:
    found = orders.order_of(said)
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize(
    "said",
    [
        "你还记得我喜欢什么格式吗",
        "上周的周报里写了什么",
        "P003的ALT对不对",
        "血压高不高",
        "V3以后的ALT",
        "我的病人有几个",
    ],
)
def test_no_order(said: str) -> None:
    assert orders.order_of(said) is None


@pytest.mark.parametrize(
    "said",
    ["把P003的体重改成63", "P009今天血压132/84记进去", "给P021记一条AE", "补录P016的V2体温36.9"],
)
def test_writing_is_told_apart(said: str) -> None:
    assert orders.writes(said)
    assert orders.order_of(said) is None


@pytest.mark.parametrize(
    "said", ["P003的AE都列给我", "P016记录了几条AE", "谁漏录了体重", "P003体重改过吗"]
)
def test_reading_is_no_writing(said: str) -> None:
    assert not orders.writes(said)


@pytest.mark.parametrize("path", sorted(GOLD.glob("*.jsonl")), ids=lambda path: path.stem)
def test_record_ids(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = [row["text"] for row in rows if ids_in(row["text"]) != row["record_ids"]]
    assert len(wrong) <= 0.02 * len(rows), wrong


@pytest.mark.full
def test_questions_of_data_start_nothing() -> None:
    """Of the questions whose answer is data, none is an order that would be carried out."""
    path = Path(__file__).parents[1] / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    asked = [row["q"] for row in rows]
    assert [text for text in asked if (found := orders.order_of(text)) and found.is_sure] == []


@pytest.mark.parametrize(
    "text",
    ["忘记说了,我是PI", "忘记录入S003的血压了", "忘了录入血压", "忘记我的访视安排了", "忘了填AE"],
)
def test_what_somebody_forgot_to_do_is_no_order_to_forget(text: str) -> None:
    order = orders.order_of(text)
    assert order is None or order.kind is not OrderKind.FORGET


@pytest.mark.parametrize("text", ["忘记我的年龄", "请忘了这条", "忘掉我喜欢表格", "忘了我刚才说的"])
def test_an_order_to_forget_is_polite_or_names_what_was_told(text: str) -> None:
    order = orders.order_of(text)
    assert order is not None
    assert order.kind is OrderKind.FORGET
