"""What a source says is never flagged, however it is laid out; what it does not say always is."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.grounding import Sources, check
from engines.tools import Fact, Status, ToolResult

PLAN_LINES = (
    "V1:Day 1,窗口期前 3 天至后 3 天,自 入组日期 起算",
    "V2:Day 28,窗口期前 7 天至后 7 天,自 首次用药日期 起算",
    "V6:Day 168,窗口期前 14 天至后 14 天,自 首次用药日期 起算",
    "锚点日为 Day 1",
)
PLAN = ToolResult(
    "check_visit_window",
    Status.OK,
    facts=(
        Fact("", "plan:V1", ("V1", "窗口"), "1 3 3", "V1"),
        Fact("", "plan:V2", ("V2", "窗口"), "28 7 7", "V2"),
        Fact("", "plan:V6", ("V6", "窗口"), "168 14 14", "V6"),
        Fact("", "convention", ("Day", "anchor day", "锚点约定"), "1"),
    ),
    blocks=PLAN_LINES,
    lines=PLAN_LINES,
)
PASSAGE = (
    "[文档1] protocol.md (相关度: 92.0%)\n"
    "## 7.1 访视与随访\n"
    "核对全部知情同意书和严重不良事件,其他数据抽查不少于 20%。监查发现的问题应在 10 个工作日内关闭。\n"
    "### 5.2.6 剂量调整\n"
    "签署知情同意书并入组,口服示例替尼片 80 mg 每日一次,28 天为一个治疗周期。\n"
    "2. 年龄为 18～75 周岁(含 18 周岁和 75 周岁);\n"
    "7. 已知对研究药物过敏。"
)
PROTOCOL = ToolResult("search_protocol", Status.OK, PASSAGE, blocks=(PASSAGE,), lines=(PASSAGE,))
RECORD = ToolResult(
    "read_clinical_data",
    Status.OK,
    {},
    facts=(
        Fact("P003", "target", ("有可测量病灶(RECIST 1.1)",), "是", "筛选", ("否",)),
        Fact("P003", "infection", ("是否存在活动性感染", "活动性感染"), "否", "筛选", ("是",)),
        Fact("P003", "history", ("既往史",), "2015年行阑尾切除术。P003 未入组", "筛选"),
        Fact("P003", "review", ("系统回顾",), "否认间质性肺炎、活动性感染、高血压", "筛选"),
        Fact("P003", "alt", ("谷丙转氨酶ALT(U/L)", "ALT"), "38", "基线"),
        Fact("P003", "alt", ("谷丙转氨酶ALT(U/L)", "ALT"), "52", "V2"),
        Fact("P003", "ecog", ("ECOG评分",), "2分", "筛选", ("0分", "1分")),
    ),
    lines=(
        "P003 有可测量病灶(RECIST 1.1):是",
        "P003 是否存在活动性感染:否",
        "P003 既往史:2015年行阑尾切除术。P003 未入组",
        "P003 谷丙转氨酶ALT(U/L)(基线):38",
        "P003 谷丙转氨酶ALT(U/L)(V2):52",
        "P003 是否严重不良事件(SAE)未填写",
    ),
    record_ids=("P003",),
    blank=("是否严重不良事件(SAE)", "严重不良事件"),
)
TREND = ToolResult(
    "get_project_stats",
    Status.OK,
    {},
    facts=tuple(
        Fact("", f"month:{month}", (month, f"{month[:4]}年{int(month[5:])}月"), count)
        for month, count in (("2026-09", "5"), ("2026-10", "2"))
    ),
    lines=("每月入组:2026-09:5、2026-10:2",),
)
CODE = ToolResult(
    "project_info", Status.OK, {}, facts=(Fact("", "no", ("注册号",), "DEMO-REG-2026-0001"),)
)
LABELS = {"consent": "知情同意书版本", "sae": "严重不良事件", "enroll_date": "入组日期"}
HOT = ("- 访视窗口:V1 Day 1±3, V2 Day 28±7", "- P005 血压偏高,每 3 天复测一次")


def problems(answer: str, *results: ToolResult, talk: tuple[str, ...] = ()) -> list[str]:
    return check(answer, Sources(results, HOT, talk, labels=LABELS))


@pytest.mark.parametrize(
    "answer",
    [
        "V2 的窗口期为前后 7 天。",
        "V2:第28天,窗口期前7天至后7天。",
        "V2 Day 28±7",
        "V2 的窗口为 Day 28±7 天,V6 为 Day 168±14 天。",
        "1. V1:Day 1,窗口期前 3 天至后 3 天\n2. V2:Day 28,窗口期前 7 天至后 7 天",
        "锚点日为 Day 1。",
    ],
)
def test_the_plan_may_be_told_in_other_words(answer: str) -> None:
    assert problems(answer, PLAN) == []


@pytest.mark.parametrize(
    "answer",
    [
        "V2:Day 28,窗口期前 14 天至后 14 天,自 首次用药日期 起算",
        "V2:Day 28,窗口期前 8 天至后 7 天",
        "V2:Day 29,窗口期前 7 天至后 7 天,自 首次用药日期 起算",
        "V2 的窗口为 Day 7±28。",
        "V2 的窗口期为前后 28 天。",
        "V2 的窗口期为第 7 天。",
        "V3:Day 28,窗口期前 7 天至后 7 天",
        "锚点日为 Day 2。",
    ],
)
def test_numbers_of_the_plan_may_not_be_swapped_or_invented(answer: str) -> None:
    assert problems(answer, PLAN)


@pytest.mark.parametrize(
    "answer",
    [
        "7.1 访视与随访:核对全部知情同意书和严重不良事件,其他数据抽查不少于 20%。",
        "核对知情同意书,其他数据抽查不少于20%;监查发现的问题应在10个工作日内关闭。",
        "根据 5.2.6 节,签署知情同意书并入组,28 天为一个治疗周期,口服 80 mg 每日一次。",
        "**剂量调整**:\n- 28 天为一个治疗周期",
        "标准如下:年龄 18～75 周岁;7. 已知对研究药物过敏。",
        "- 2. 年龄为 18～75 周岁",
    ],
)
def test_passages_and_their_headings(answer: str) -> None:
    assert problems(answer, PROTOCOL) == []


@pytest.mark.parametrize(
    "answer",
    [
        "核对全部知情同意书和严重不良事件,其他数据抽查不少于 30%。",
        "根据 5.2.9 节,28 天为一个治疗周期。",
        "7.3 访视与随访:核对全部知情同意书和严重不良事件",
        "签署知情同意书并入组,口服示例替尼片 90 mg 每日一次。",
        "签署知情同意书并入组,为 20 mg。",
    ],
)
def test_passages_lend_nothing_they_do_not_say(answer: str) -> None:
    assert problems(answer, PROTOCOL)


@pytest.mark.parametrize(
    "answer",
    [
        "P003 有可测量病灶(RECIST 1.1):是",
        "P003 有可测量病灶（RECIST 1.1）为是。",
        "P003 是否存在活动性感染:否,否认间质性肺炎、活动性感染、高血压。",
        "P003 既往史:2015年行阑尾切除术。P003 未入组",
        "P003 谷丙转氨酶ALT(U/L)(V2):52",
        "P003 是否严重不良事件（SAE）尚未填写。",
        "P003 基线 ALT 38,V2 ALT 52,之前为 38。",
    ],
)
def test_a_record_may_be_told_with_its_labels(answer: str) -> None:
    assert problems(answer, RECORD) == []


@pytest.mark.parametrize(
    "answer",
    [
        "P003 有可测量病灶(RECIST 1.2):是",
        "P003 是否存在活动性感染:是",
        "P003 存在活动性感染:是",
        "P003 不良反应、活动性感染",
        "P003 有严重不良事件。",
        "P003 严重不良事件未上报。",
        "P003 V2 复查,ALT 38。",
        "P003 谷丙转氨酶ALT(U/L)(V2):38",
        "P003 未入组。",
        "P004 谷丙转氨酶ALT(U/L)(V2):52",
    ],
)
def test_a_record_is_not_told_otherwise(answer: str) -> None:
    enrolled = ToolResult(
        "read_clinical_data",
        Status.OK,
        {},
        facts=(Fact("P003", "enroll_date", ("入组日期", "入组"), "2026-03-05", "基线"),),
        record_ids=("P003",),
    )
    assert problems(answer, RECORD, enrolled)


def test_months_are_what_is_counted_by() -> None:
    assert problems("每月入组:2026-09:5、2026-10:2", TREND) == []
    assert problems("2026年9月:5,2026年10月:2", TREND) == []
    assert problems("2026-09:2、2026-10:5", TREND)
    assert problems("2026-09:5、2026-11:2", TREND)


def test_a_code_is_no_subject() -> None:
    assert problems("注册号:DEMO-REG-2026-0001", CODE) == []
    assert problems("注册号:DEMO-REG-2026-0002", CODE)
    assert problems("- P0888 注册号:DEMO-REG-2026-0001", CODE)


def test_an_earlier_answer_is_repeated_only_of_its_own_subject() -> None:
    told = "ECOG评分是 1 分,一般情况尚可。"
    assert problems(told, RECORD, talk=(told,))
    assert problems(f"P005 的{told}", RECORD, talk=(f"P005 的{told}",)) == []
    assert problems(told, RECORD, talk=(f"P005 的{told}",))


def test_what_goes_on_about_one_subject_is_not_told_of_another() -> None:
    notes = "P005 依从性差。每 3 天电话提醒服药一次。"
    assert check("P005 依从性差。每 3 天电话提醒服药一次。", Sources([RECORD], [notes])) == []
    assert check("每 3 天电话提醒服药一次。", Sources([RECORD], [notes]))


def test_a_note_about_an_argument_is_no_source() -> None:
    note = "字段 P003 入组日期 2026-02-06 不存在"
    result = ToolResult("read_clinical_data", Status.OK, {}, blocks=(note,), record_ids=("P003",))
    assert problems("P003 入组日期 2026-02-06。", result)


def _number(least: int = 2, most: int = 400) -> st.SearchStrategy[str]:
    whole = st.integers(least, most).map(str)
    return whole | st.decimals(least, most, places=1).map(str)


def _sentence() -> st.SearchStrategy[str]:
    templates = (
        "访视前后允许 {} 天",
        "血红蛋白低于 {} g/L 时暂停用药",
        "每 {} 周进行一次影像学评估",
        "ALT 升高超过正常值上限 {} 倍者永久停药",
        "受试者年龄不小于 {} 岁且体重不低于 {} kg",
        "收缩压高于 {} mmHg 的受试者不得入组",
        "示例替尼片 {} mg 每日一次,{} 天为一个周期",
        "样本量为 {} 例,脱落率按 {}% 估计",
        "不良事件在末次用药后 {} 天内均应记录",
        "签署知情同意书后核对用药,其他数据抽查不少于 {}%",
    )
    numbers = st.lists(_number(), min_size=2, max_size=2)
    return st.tuples(st.sampled_from(templates), numbers).map(lambda pair: pair[0].format(*pair[1]))


def _passages() -> st.SearchStrategy[str]:
    head = st.builds("### {}.{} 研究程序与数据".format, st.integers(1, 12), st.integers(1, 9))
    lines = st.lists(_sentence(), min_size=1, max_size=4)
    marks = st.sampled_from(["\n", "。\n", "。", ";", "\n- "])
    return st.builds(lambda top, rows, mark: f"{top}\n{mark.join(rows)}。", head, lines, marks)


def _records() -> st.SearchStrategy[ToolResult]:
    labels = ("谷丙转氨酶ALT（U/L）", "体重（kg）", "血红蛋白", "ECOG评分", "用药依从性（%）")
    values = st.fixed_dictionaries(dict.fromkeys(labels, _number()))
    return st.builds(_record, st.sampled_from(["P003", "P004"]), values)


def _record(subject: str, told: dict[str, str]) -> ToolResult:
    facts = tuple(Fact(subject, f"f{n}", (name,), told[name], "V2") for n, name in enumerate(told))
    lines = tuple(f"{subject} {name}:{value}" for name, value in told.items())
    return ToolResult("read_clinical_data", Status.OK, {}, facts, (), lines, (), (subject,))


@st.composite
def _quoting(draw: st.DrawFn) -> tuple[str, Sources]:
    """An answer of whole lines and sentences of its sources, laid out anew."""
    texts = draw(st.lists(_passages(), min_size=1, max_size=3))
    protocol = ToolResult("search_protocol", Status.OK, "", blocks=tuple(texts))
    record = draw(_records())
    results = [protocol, record, PLAN]
    hot = draw(st.lists(_sentence().map("- {}".format), max_size=2))
    pieces = [piece for text in texts for piece in re.split(r"[。;\n]+", text)]
    pool = [*pieces, *record.lines, *PLAN_LINES, *hot]
    chosen = draw(st.lists(st.sampled_from([p for p in pool if p.strip()]), min_size=1, max_size=5))
    bullet = draw(st.sampled_from(["", "- ", "• ", "1. ", "**"]))
    rows = [f"{bullet}{row.strip('-# ')}" for row in chosen]
    answer = draw(st.sampled_from(["\n", "。\n", ";\n", "\n\n"])).join(rows)
    return draw(st.sampled_from([answer, answer.replace(",", "，").replace(":", "：")])), Sources(
        results, hot, labels=LABELS
    )


@settings(deadline=None)
@given(_quoting())
def test_what_is_quoted_is_grounded(case: tuple[str, Sources]) -> None:
    answer, sources = case
    assert check(answer, sources) == []


@settings(deadline=None)
@given(_quoting(), st.data())
def test_a_digit_that_no_source_has_is_flagged(
    case: tuple[str, Sources], data: st.DataObject
) -> None:
    answer, sources = case
    held = {Decimal(n) for n in re.findall(r"\d+(?:\.\d+)?", _everything(sources))}
    spots = list(re.finditer(r"(?m)(?!^\d\. )(?<![\d.A-Za-z])\d+(?:\.\d+)?", answer))
    if not spots:
        return
    spot = data.draw(st.sampled_from(spots))
    at = data.draw(st.sampled_from([i for i in range(*spot.span()) if answer[i] != "."]))
    digit = data.draw(st.sampled_from("123456789"))
    changed = answer[:at] + digit + answer[at + 1 :]
    if Decimal(changed[slice(*spot.span())]) not in held:
        assert check(changed, sources)


@settings(deadline=None)
@given(_records(), st.lists(_passages(), max_size=2), st.data())
def test_two_values_of_a_record_may_not_be_swapped(
    record: ToolResult, texts: list[str], data: st.DataObject
) -> None:
    protocol = ToolResult("search_protocol", Status.OK, "", blocks=tuple(texts))
    sources = Sources([record, protocol, PLAN], labels=LABELS)
    pairs = st.tuples(st.sampled_from(record.facts), st.sampled_from(record.facts))
    one, other = data.draw(
        pairs.filter(lambda pair: Decimal(pair[0].value) != Decimal(pair[1].value))
    )
    for joint in ("\n", ",", ";"):
        true = joint.join(f"P003 {f.names[0]}:{f.value}" for f in (one, other))
        false = f"P003 {one.names[0]}:{other.value}{joint}P003 {other.names[0]}:{one.value}"
        subject = record.record_ids[0]
        assert check(true.replace("P003", subject), sources) == []
        assert check(false.replace("P003", subject), sources)
        assert check(true.replace("P003", "P008"), sources)


def _everything(sources: Sources) -> str:
    results = sources.results
    told = [*sources.blocks, *(t for r in results for t in (*r.blocks, *r.lines))]
    return "\n".join([*told, *(fact.value for fact in sources.facts)])
