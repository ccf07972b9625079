"""Nothing is kept that the user did not say (issue 4, "Grounded"): properties, and liars."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.language import spoken_numbers
from memory.people import schemas
from memory.people.grounding import Grounded, Item, accept
from tests.memory.agent.kit import SCENARIO

IMMIGRATION = schemas.load("immigration")
CLINICAL = schemas.load("clinical")
DIGITS = "零一二三四五六七八九"
WORDS = st.text(alphabet="心内科肿瘤随访筛选质控数据管理组长abc ,。、", min_size=2, max_size=20)


def slot(name: str) -> schemas.Slot:
    found = IMMIGRATION.slot(name) or CLINICAL.slot(name)
    assert found is not None
    return found


def held(field: str, value: Any, quote: str, message: str, **told: bool) -> Grounded | None:
    """What holds of a model's item; said of the speaker and stated unless `told` otherwise."""
    given = {"field": field, "value": value, "quote": quote, "of_speaker": True, "stated": True}
    return accept(slot(field), Item.model_validate(given | told), message)


def values(text: str) -> list[Decimal]:
    return [number.value for number in spoken_numbers.find(text)]


def chinese(value: int) -> str:
    """A number from 1 to 9999 as it is spoken."""
    text, zero = "", False
    for size, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, size)
        if digit:
            text += ("零" if zero and text else "") + DIGITS[digit] + name
        zero = not digit
    return text.removeprefix("一") if text.startswith("一十") else text


@given(st.integers(1, 9999))
def test_spoken_and_written_numbers_are_the_same(value: int) -> None:
    assert values(f"{chinese(value)}岁") == values(f"{value}岁") == [Decimal(value)]


@given(st.integers(1, 9999), st.sampled_from([("万", 10**4), ("亿", 10**8)]))
def test_units_are_multiplied_out(value: int, unit: tuple[str, int]) -> None:
    name, size = unit
    assert values(f"{value}{name}") == values(f"{chinese(value)}{name}") == [Decimal(value * size)]


@given(st.integers(1, 10**11))
def test_what_is_written_reads_back(value: int) -> None:
    assert values(spoken_numbers.written(Decimal(value))) == [Decimal(value)]


@pytest.mark.parametrize(
    ("text", "value", "vague"),
    [
        ("三十多岁", 30, "plus"),
        ("30几岁", 30, "plus"),
        ("40岁以上", 40, "plus"),
        ("大概32岁", 32, "about"),
        ("32岁左右", 32, "about"),
        ("三十来岁", 30, "about"),
        ("十几万", 100_000, "plus"),
        ("1万2千", 12_000, ""),
        ("一万五", 15_000, ""),
        ("80,000元", 80_000, ""),
        ("二十出头", 20, "plus"),
        ("三十岁出头", 30, "plus"),
        ("五十好几", 50, "plus"),
        ("至少30岁", 30, "plus"),
        ("上百万", 10**6, "plus"),
        ("快四十", 40, "near"),
        ("年近五十", 50, "near"),
        ("近百万", 10**6, "near"),
        ("不到三十岁", 30, "under"),
        ("三十岁不到", 30, "under"),
        ("一百来例", 100, "about"),
        ("两百来号人", 200, "about"),
        ("百来万", 10**6, "about"),
        ("一年半", Decimal("1.5"), ""),
    ],
)
def test_vague_stays_vague(text: str, value: int, vague: str) -> None:
    (found,) = spoken_numbers.find(text)
    assert (found.value, found.vague) == (Decimal(value), vague)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("三五年", 3, 5),
        ("两三年", 2, 3),
        ("七八年", 7, 8),
        ("三四十岁", 30, 40),
        ("三十五六岁", 35, 36),
        ("八九十万", 800_000, 900_000),
        ("30-35岁", 30, 35),
        ("３０～３５岁", 30, 35),
        ("30岁到35岁", 30, 35),
        ("80到100万", 800_000, 10**6),
        ("80万至100万", 800_000, 10**6),
    ],
)
def test_a_range_is_one_number_with_two_ends(text: str, low: int, high: int) -> None:
    (found,) = spoken_numbers.find(unicodedata.normalize("NFKC", text))
    assert (found.ends, found.vague) == ((Decimal(low), Decimal(high)), "range")


@pytest.mark.parametrize("text", ["35和40", "2026-03-05", "V1到V2", "40-35岁"])
def test_two_numbers_are_no_range(text: str) -> None:
    assert spoken_numbers.find(text)[0].upto is None


def test_some_ten_thousands_are_no_number() -> None:
    assert spoken_numbers.find("几十万") == []


@given(st.integers(18, 99), st.integers(0, 10**9))
def test_a_number_that_was_not_said_is_never_kept(said: int, claimed: int) -> None:
    assume(said != claimed)
    message = f"我今年{said}岁,在医院工作"
    assert held("age", str(claimed), f"我今年{said}岁", message) is None
    assert held("age", str(claimed), f"我今年{claimed}岁", message) is None


@given(WORDS, WORDS)
def test_words_that_were_not_said_are_never_kept(message: str, claimed: str) -> None:
    letters = "".join(char for char in message if char.isalnum())
    found = held("department", claimed, message, message)
    if found is not None:
        assert set(filter(str.isalnum, found.said)) <= set(letters)
    strange = held("department", f"{claimed}骨", message, message)
    assert strange is None


@given(WORDS, WORDS)
def test_a_quote_that_does_not_stand_there_is_no_evidence(message: str, quote: str) -> None:
    letters = "".join(char for char in message if char.isalnum()).casefold()
    assume("".join(char for char in quote if char.isalnum()).casefold() not in letters)
    assert held("department", quote, quote, message) is None


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=30))
def test_any_text_can_be_checked(message: str, value: str, quote: str) -> None:
    for name in ("age", "annualIncome", "university", "maritalStatus", "hasChildren"):
        held(name, value, quote, message)


@pytest.mark.parametrize(
    ("field", "value", "quote", "message"),
    [
        ("age", "35", "三十多岁", "我大概三十多岁"),
        ("age", "23", "32岁", SCENARIO),
        ("age", "8", "工作8年了", SCENARIO),
        ("annualIncome", "80", "年薪大概80万", SCENARIO),
        ("annualIncome", "8000000", "年薪大概80万", SCENARIO),
        ("university", "清华大学", "浙大计算机硕士毕业", SCENARIO),
        ("education", "博士", "浙大计算机硕士毕业", SCENARIO),
        ("currentJobTitle", "前端开发工程师", "做前端开发", SCENARIO),
        ("age", "35", "35岁", "如果我35岁,能申请吗"),
        ("age", "35", "我35岁", "我35岁吗?"),
        ("maritalStatus", "已婚", "结婚", "我还没结婚"),
        ("hasHongKongEmployer", "true", "香港雇主", "我没有香港雇主"),
        ("department", "肿瘤科", "肿瘤科", "我不是肿瘤科的"),
        ("department", "3病区", "13病区", "我在13病区"),
        ("study_duties", "15例随访", "1.5例随访", "我负责1.5例随访"),
        ("偏好", "长篇汇报", "长篇汇报", "我不喜欢长篇汇报"),
        ("角色", "[姓名#1]", "我是[姓名#1]", "我是[姓名#1]"),
        ("关注点", "", "不良事件", "我关注不良事件"),
        # Another number than was said.
        ("totalYearsOfExperience", "35", "工作三五年", "我工作三五年了"),
        ("totalYearsOfExperience", "3", "工作3年半", "我工作3年半了"),
        ("age", "32", "30-35岁", "我今年30-35岁"),
        ("study_duties", "20例随访", "20例随访", "我负责大概20例随访"),
        ("study_duties", "一百例随访", "一百来例随访", "我负责一百来例随访"),
        ("study_duties", "100例随访", "一百来例随访", "我负责一百来例随访"),
        ("禁令", "100字", "100字以内", "回复100字以内"),
        ("最佳通知时间", "09:00", "早上8点半通知我", "以后早上8点半通知我"),
        ("最佳通知时间", "08:00", "早上通知我", "以后早上通知我"),
        ("最佳通知时间", "08:30", "早上8点半", "早上8点半不要通知我"),
        ("最佳通知时间", "早上8点", "早上8点半通知我", "以后早上8点半通知我"),
        ("关注点", "不良事件", "", "我关注不良事件"),
    ],
)
def test_what_does_not_hold_is_dropped(field: str, value: Any, quote: str, message: str) -> None:
    assert held(field, value, quote, message) is None


@pytest.mark.parametrize(
    ("field", "value", "quote", "message"),
    [
        ("age", "65", "65岁", "患者65岁"),
        ("age", "65", "65岁", "P001今年65岁"),
        ("age", "65", "65岁", "一位65岁的患者"),
        ("age", "35", "35岁", "我爱人今年35岁"),
        ("age", "35", "35岁", "我同事说他35岁"),
        ("age", "35", "35岁", "我负责35岁以上的患者"),
        ("角色", "PI", "王主任是PI", "王主任是PI"),
        ("角色", "PI", "小王是PI", "小王是PI,我是研究护士"),
        ("角色", "PI", "你是PI", "你是PI"),
        ("department", "肿瘤科", "李医生在肿瘤科", "我跟你说,李医生在肿瘤科"),
        ("偏好", "表格", "张教授喜欢表格", "我听说张教授喜欢表格"),
        ("department", "心内科", "我在心内科", "你说我在心内科"),
        ("department", "心内科", "我在心内科", "系统认为我在心内科"),
        ("age", "32", "今年32例", "今年32例入组"),
        ("age", "30", "我30例", "我30例都随访了"),
    ],
)
def test_what_is_said_of_somebody_else_is_dropped(
    field: str, value: Any, quote: str, message: str
) -> None:
    assert held(field, value, quote, message, of_speaker=False) is None


@pytest.mark.parametrize(
    ("field", "value", "quote", "message"),
    [
        ("department", "心内科", "我以前在心内科", "我以前在心内科,现在在肿瘤科"),
        ("maritalStatus", "已婚", "结婚", "我打算明年结婚"),
        ("hasHongKongEmployer", "true", "有香港雇主", "我希望有香港雇主"),
        ("annualIncome", "3万", "每月收入3万", "我每月收入3万"),
    ],
)
def test_what_was_once_or_is_only_wished_for_is_dropped(
    field: str, value: Any, quote: str, message: str
) -> None:
    assert held(field, value, quote, message, stated=False) is None


def test_what_a_model_leaves_out_is_no_yes() -> None:
    item = Item.model_validate({"field": "age", "value": "32", "quote": "我今年32岁"})
    assert accept(slot("age"), item, SCENARIO) is None


@pytest.mark.parametrize(
    ("field", "value", "quote", "message", "kept"),
    [
        ("age", "30多", "我大概三十多岁", "我大概三十多岁", "30+"),
        ("age", 32, "32岁", SCENARIO, 32),
        ("annualIncome", "80万人民币", "年薪大概80万", SCENARIO, 800_000),
        ("annualIncome", "80万", "年薪80万港币", "我年薪80万港币", "80万港币"),
        ("university", "浙江大学", "浙大", SCENARIO, "浙江大学"),
        ("maritalStatus", "未婚", "没结婚", "我还没结婚", "未婚"),
        ("hasHongKongEmployer", "false", "没有香港雇主", "我没有香港雇主", False),
        ("hasChildren", "true", "有两个孩子", "我有两个孩子", True),
        ("familySupport", "支持", "老婆很支持", "我老婆很支持", "支持"),
        ("department", "心内科", "我在心内科", "我在心内科做主治医师", "心内科"),
        ("角色", "主治医师", "心内科做主治医师", "我在心内科做主治医师", "主治医师"),
        ("关注点", "不良事件", "我最关心不良事件", "我最关心不良事件", "不良事件"),
        ("study_duties", "受试者随访", "负责受试者随访", "我负责受试者随访", "受试者随访"),
        ("禁令", "不要发长消息", "不要发长消息", "以后不要发长消息", "不要发长消息"),
        ("禁令", "不要发长消息", "不要发长消息", "你不要发长消息", "不要发长消息"),
        ("最佳通知时间", "08:30", "早上8点半提醒我", "以后早上8点半提醒我", "08:30"),
        ("最佳通知时间", "早上八点半", "早上八点半发我", "以后早上八点半发我", "08:30"),
        ("最佳通知时间", "早上", "早上提醒我", "以后早上提醒我", "早上"),
        ("偏好", "表格", "在周报里用表格", "你在周报里用表格", "表格"),
        ("角色", "主治医生", "主治医生", "主治医生,心内科的", "主治医生"),
        ("department", "心内科", "我在心内科", "我跟你说我在心内科", "心内科"),
        ("department", "肿瘤科", "现在在肿瘤科", "我以前在心内科,现在在肿瘤科", "肿瘤科"),
        ("study_duties", "一百来例随访", "一百来例随访", "我负责一百来例随访", "一百来例随访"),
        ("age", "20", "今年二十出头", "我今年二十出头", "20+"),
        ("age", "50", "五十好几岁", "我五十好几岁了", "50+"),
        ("age", "30", "三十几岁", "我三十几岁", "30+"),
        ("age", "40", "我快四十了", "我快四十了", "近40"),
        ("age", "30", "不到三十岁", "我今年不到三十岁", "不到30"),
        ("age", "35", "30到35岁", "我今年30到35岁", "30-35"),
        ("age", "30", "年龄三十来岁", "我年龄三十来岁", 30),
        ("totalYearsOfExperience", "10", "工作十几年", "我工作十几年了", "10+"),
        ("totalYearsOfExperience", "2-3", "工作两三年", "我工作两三年了", "2-3"),
        ("totalYearsOfExperience", "3.5", "工作3年半", "我工作3年半了", 3.5),
        ("annualIncome", "100万", "年薪近百万", "我年薪近百万", "近100万"),
        ("annualIncome", "80-100万", "80到100万", "我年薪80到100万", "80万-100万"),
        ("age", "32", "３２岁", "我今年３２岁。", 32),
    ],
)
def test_what_was_said_is_kept(
    field: str, value: Any, quote: str, message: str, kept: object
) -> None:
    found = held(field, value, quote, message)
    assert found is not None
    assert found.value == kept


def test_the_schemas_have_the_documented_fields() -> None:
    documented = {
        "age",
        "education",
        "university",
        "major",
        "currentJobTitle",
        "currentIndustry",
        "currentCompany",
        "totalYearsOfExperience",
        "annualIncome",
        "targetCategory",
        "hasHongKongEmployer",
        "hasTechBackground",
        "investmentAmount",
        "immigrationTimeline",
        "maritalStatus",
        "hasChildren",
        "familySupport",
    }
    shown_too = {"currentLocation", "nationality", "languageSkills"}
    assert {one.name for one in IMMIGRATION.fields} == documented | shown_too
    assert [one.name for one in CLINICAL.fields] == [
        "角色",
        "department",
        "specialty",
        "study_duties",
        "偏好",
        "关注点",
        "最佳通知时间",
        "禁令",
        "反馈统计",
    ]
