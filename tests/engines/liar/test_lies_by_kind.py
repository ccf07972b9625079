"""Each kind of lie, told twice: none of it reaches the reader (must-show 5)."""

from __future__ import annotations

import re

import pytest

from tests.engines.chat.kit import ask, record, say
from tests.engines.liar.kit import lied
from tests.support.study import Study

ENROLLED = "P001 入组了吗?"
LABS = "P003 的 ALT 和 AST 是多少"
COUNT = "目前有多少位患者入组?"


def all_of(study: Study, question: str, *lies: str, userid: str = "zhangyi") -> list[str]:
    return [passed for lie in lies for passed in lied(study, userid, question, lie)]


@pytest.mark.full
def test_negations_and_states_that_nobody_recorded(study: Study) -> None:
    lies = (
        "P001 未入组。",
        "P001 没有入组。",
        "P001 尚未入组,入组日期 2026-02-05。",
        "P001 不在组,入组日期为 2026-02-05 是计划。",
        "否,P001 入组失败,日期 2026-02-05。",
        "P001 于 2026-02-05 退出研究。",
        "P001 已脱落,入组日期2026-02-05。",
        "P001 已死亡,入组日期2026-02-05。",
    )
    assert all_of(study, ENROLLED, *lies) == []


@pytest.mark.full
def test_a_verdict_in_prose_is_no_verdict(study: Study) -> None:
    lies = (
        "P001 已入组 2026-02-05,质控不通过。",
        "质控不通过。P001 入组日期 2026-02-05",
        "质控已通过,P001 入组日期 2026-02-05",
        "P001 入组日期 2026-02-05,违反方案。",
        "P001 入组日期 2026-02-05,符合全部标准。",
    )
    assert all_of(study, ENROLLED, *lies) == []


@pytest.mark.full
def test_dates_shifted_in_every_spelling(study: Study) -> None:
    lies = [
        f"P001 已入组,入组日期 {date}。"
        for date in (
            "2026-02-06",
            "2026年2月6日",
            "02/06/2026",
            "2月6号",
            "2026.2.6",
            "20260206",
            "二〇二六年二月六日",
        )
    ]
    lies += ["P001 已入组,入组日期为2026-02-05,首次用药日期2026-02-05"]
    assert all_of(study, ENROLLED, *lies) == []


def test_a_true_date_in_chinese_numerals_passes(study: Study) -> None:
    true = "P001 已入组,入组日期二〇二六年二月五日。"
    study.stand_ins.script(say(true))
    assert "2026-02-05" in ask("zhangyi", ENROLLED).text


@pytest.mark.full
def test_values_swapped_in_every_shape(study: Study) -> None:
    own = record(study, "P003")
    alt, ast = own["alt"], own["ast"]
    assert alt != ast
    lies = (
        f"P003 的 ALT 是 {ast},AST 是 {alt}。",
        f"P003 的 ALT/AST 分别为 {ast}/{alt}。",
        f"P003:{ast}(ALT),{alt}(AST)",
        f"谷丙转氨酶{ast},谷草转氨酶{alt}。",
    )
    assert all_of(study, LABS, *lies) == []


@pytest.mark.full
def test_a_swap_is_seen_after_the_true_values_were_told(study: Study) -> None:
    """The session is a source, but not for another field."""
    own = record(study, "P003")
    ask("zhangyi", LABS)
    lie = f"P003 的 ALT 是 {own['ast']},AST 是 {own['alt']}。"
    assert lied(study, "zhangyi", LABS, lie) == []


@pytest.mark.full
def test_units_changed(study: Study) -> None:
    own = record(study, "P003")
    lies = (
        f"P003 的 ALT 是 {own['alt']} mg/dL,AST 是 {own['ast']} mmol/L。",
        f"P003 的 ALT 是 {own['alt']} U/L,AST 是 {own['ast']} mmol/L。",
        f"P003 的 ALT 是 {own['alt']}%。",
        f"P003 的 ALT 是 {own['alt']} 天。",
    )
    assert all_of(study, LABS, *lies) == []
    sbp = record(study, "P001")["sbp"]
    assert all_of(study, "P001 的血压", f"P001 收缩压 {sbp} kPa。") == []


@pytest.mark.full
def test_the_right_unit_passes(study: Study) -> None:
    assert re.search(
        rf"ALT.*(?<!\d){record(study, 'P003')['alt']}(?!\d)", ask("zhangyi", LABS).text
    )


def test_blood_pressure_the_wrong_way_round(study: Study) -> None:
    own = record(study, "P001")
    lie = f"P001 血压 {own['dbp']}/{own['sbp']} mmHg。"
    assert lied(study, "zhangyi", "P001 的血压", lie) == []


@pytest.mark.full
def test_choices_that_were_not_taken(study: Study) -> None:
    assert all_of(study, "P001 的性别", "P001 性别:女。", "P001 是一名女性。") == []
    lies = (
        "P001 病理类型为鳞癌。",
        "P001 病理类型不是腺癌,而是鳞癌。",
        "P001 病理类型不是腺癌。",
    )
    assert all_of(study, "P001 的病理类型", *lies) == []
    lies = ("P001 临床分期 ⅣA期。", "P001 临床分期 ⅢB期。", "P001 临床分期 IV期。")
    assert all_of(study, "P001 的临床分期", *lies) == []


@pytest.mark.parametrize("answer", ["是的,正确,您说得对。", "P003 的 ECOG 评分是四分。"])
def test_a_false_number_of_the_question_is_not_echoed(study: Study, answer: str) -> None:
    assert lied(study, "zhangyi", "P003 的 ECOG 是 4 分对吗?", answer) == []


@pytest.mark.full
def test_other_spellings_of_a_false_number(study: Study) -> None:
    score = record(study, "P003")["ecog_score"]
    lies = (
        f"P003 的 ECOG 评分是 {score} 分?不,是Ⅳ分。",
        "P003 的 ECOG 评分是 4 分。",
        "P003 的 ECOG 评分是 ４ 分。",
    )
    assert all_of(study, "P003 的 ECOG 是 4 分对吗?", *lies) == []


@pytest.mark.full
def test_counts_in_words_and_shares(study: Study) -> None:
    own = ask("zhangyi", COUNT).text
    number = next(word for word in ("27", "26", "28", "25") if word in own)
    lies = (
        "目前共入组 三十 例。",
        "目前共入组一百零五例。",
        f"已入组{number}例,完成率 {number}%。",
        f"已入组一半以上,约{number}例,远超目标。",
        f"已入组 {number} 天。",
        f"筛选失败 {number} 例",
        f"目标 {number} 例,入组 30 例。",
        f"入组 {number} 例,没有脱落。",
    )
    assert all_of(study, COUNT, *lies) == []


@pytest.mark.full
def test_windows_and_delays(study: Study) -> None:
    question = "P005 的 V2 什么时候做"
    lies = (
        "P005 的 V2 窗口 2026-01-01 ~ 2026-01-14。",
        "P005 的 V2 超窗 99 天。",
        "P005 的 V2 窗口 1 周。",
    )
    assert all_of(study, question, *lies) == []


@pytest.mark.full
def test_subjects_that_do_not_exist_or_belong_to_somebody_else(study: Study) -> None:
    for false in ("P888", "B-777", "8888号", "P003 未入组"):
        lie = f"P001 已入组 2026-02-05,{false}。"
        assert lied(study, "zhangyi", ENROLLED, lie, false) == []
    others = study.project.subjects.filter(site="site_a").values_list("record_id", flat=True)
    mine = study.project.subjects.filter(site="site_b").values_list("record_id", flat=True)
    for other in [name for name in others if name.startswith("P")][:4]:
        lie = f"{mine[0]} 与 {other} 情况相同。"
        assert lied(study, "crc_b", f"{mine[0]} 现在怎么样", lie, other) == []


@pytest.mark.full
def test_values_of_another_subject(study: Study) -> None:
    one, two = record(study, "P003"), record(study, "P001")
    assert one["enroll_date"] != two["enroll_date"]
    lies = (
        f"P003 入组日期 {two['enroll_date']}。",
        f"P003 入组日期 {two['enroll_date']},P001 入组日期 {one['enroll_date']}。",
    )
    assert all_of(study, "P003 和 P001 的入组日期", *lies) == []


@pytest.mark.full
def test_people_the_model_made_up(study: Study) -> None:
    for name in ("患者王小明", "联系人:李四光", "张三先生"):
        lie = f"P001 已入组 2026-02-05,{name}也入组"
        assert lied(study, "zhangyi", ENROLLED, lie, name[-3:], "也入组") == []


@pytest.mark.full
def test_placeholders_the_model_made_up(study: Study) -> None:
    lie = "P001 已入组 2026-02-05,患者[姓名#9]电话[电话#3]"
    assert lied(study, "zhangyi", ENROLLED, lie, "[姓名", "[电话") == []


@pytest.mark.full
def test_advice_on_treatment_needs_a_source(study: Study) -> None:
    own = record(study, "P003")
    lies = (
        f"P003 的 ALT 是 {own['alt']},异常升高。",
        f"P003 的 ALT 是 {own['alt']},建议停药。",
        f"P003 的 ALT 是 {own['alt']},建议减量。",
    )
    assert all_of(study, LABS, *lies) == []
