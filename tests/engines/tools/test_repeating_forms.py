"""Repeating forms, checkboxes, typed text: what a reading tells and what it says it does not tell."""

from __future__ import annotations

import pytest
from django.utils import translation

from engines.outgoing import gate_for
from engines.tools import ToolContext, ToolResult, asking, execute, repeating
from engines.tools.fields import FieldNames
from projects.reader import Reader
from tests.engines.liar.kit import note
from tests.support.study import Study


def read(study: Study, record_id: str, *fields: str, question: str = "") -> ToolResult:
    member = study["admin"]
    context = ToolContext(study.project, member, gate_for(Reader(study.project, member)), question)
    return execute(context, "read_clinical_data", {"record_id": record_id, "fields": list(fields)})


def names(study: Study) -> FieldNames:
    member = study["admin"]
    context = ToolContext(study.project, member, gate_for(Reader(study.project, member)))
    return FieldNames(context.metadata, context.aliases)


def rows(study: Study, record_id: str, form: str, *filled: dict[str, str]) -> None:
    """New instances of a repeating form, as a CRC would write them."""
    sent = [
        {
            "record": record_id,
            "event": "log_arm_1",
            "instrument": form,
            "instance": number,
            "values": values | {f"{form}_complete": "2"},
        }
        for number, values in enumerate(filled, 1)
    ]
    study.stand_ins.post("redcap/records", sent)


def ae(number: int) -> dict[str, str]:
    return {
        "ae_term": f"症状{number}",
        "ae_start": "2026-03-01",
        "ae_grade": "2",
        "ae_serious": "0",
    }


def test_every_instance_is_counted_and_named(study: Study) -> None:
    result = read(study, "P003", "不良事件")
    (group,) = result.groups
    assert [entry.name for entry in group.entries] == ["急性阑尾炎（住院手术）", "乏力"]
    assert result.data["条数"] == {"不良事件": 2}
    assert next(f.value for f in result.facts if f.field == f"{repeating.COUNT}ae") == "2"


def test_one_field_of_an_instance_comes_with_what_it_is_called_by(study: Study) -> None:
    result = read(study, "P003", "CTCAE分级")
    assert repeating.told(result.groups, 200).count("级") == 2
    assert "乏力,1级" in repeating.told(result.groups, 200)
    assert "痊愈" not in repeating.told(result.groups, 200)


@pytest.mark.parametrize("limit", [60, 90, 150, 300])
def test_whatever_the_room_the_number_stays(study: Study, limit: int) -> None:
    rows(study, "P007", "ae", *(ae(number) for number in range(1, 9)))
    with translation.override("zh-hans"):
        whole = repeating.told(read(study, "P007", "不良事件").groups, 10_000)
        text = repeating.told(read(study, "P007", "不良事件").groups, limit)
    assert len(text) <= limit
    assert "8" in text.partition("#")[0]
    shown = text.count("#")
    assert shown == 8 or text[text.rindex(f"#{shown}") :] != whole[whole.rindex(f"#{shown}") :]


def test_a_blank_field_of_one_instance_is_said_beside_it(study: Study) -> None:
    rows(study, "P007", "ae", ae(1) | {"ae_end": "2026-03-05"}, ae(2))
    text = repeating.told(read(study, "P007", "AE结束日期").groups, 200)
    first, second = text.split(";")
    assert "2026-03-05" in first
    assert "2026-03-05" not in second
    assert "结束" in second


def test_a_form_without_an_instance_is_one_note_and_no_blank_fields(study: Study) -> None:
    result = read(study, "P007", "不良事件")
    assert (result.groups, result.facts) == ((), ())
    assert len(result.data["说明"]) == 1
    assert "不良事件" in result.unsaid[0]


@pytest.mark.parametrize(
    ("question", "counted"),
    [("P003有几条SAE", [1]), ("P003有严重不良事件吗", [1]), ("P003的AE", [])],
)
def test_what_the_question_calls_serious_is_counted_apart(
    study: Study, question: str, counted: list[int]
) -> None:
    (group,) = read(study, "P003", "不良事件", question=question).groups
    assert [flag.number for flag in group.flags] == counted


def test_no_tick_on_a_form_that_was_saved_is_an_answer(study: Study) -> None:
    with translation.override("en"):
        none = read(study, "P003", "排除标准")
        one = read(study, "P022", "排除标准")
    assert [f.value for f in none.facts] == ["none ticked"]
    assert none.facts[0].others
    assert [f.value for f in one.facts] == ["有症状的脑转移"]
    note(study, "P003", eligibility_complete="")
    blank = read(study, "P003", "排除标准")
    assert blank.facts == ()
    assert "排除标准" in blank.data["说明"][0]


def test_a_value_that_is_missing_at_one_visit_is_said(study: Study) -> None:
    result = read(study, "P031", "血糖")
    assert [told for told in result.unsaid if "血糖单位" in told and "V2" in told]


TYPED = "患者联系电话 13912345678,身份证 110101199003070011,邮箱 a.b@example.com。有胆囊结石病史。"


@pytest.mark.parametrize("field", ["medical_history_text", "allergy_history"])
def test_identifiers_in_typed_text_are_masked_for_the_reader(study: Study, field: str) -> None:
    note(study, "P006", **{field: TYPED})
    for result in (read(study, "P006", field), read(study, "P006", "既往史", "过敏史")):
        told = str((result.data, result.facts, result.lines, result.groups))
        for secret in ("13912345678", "110101199003070011", "a.b@example.com"):
            assert secret not in told
        assert "有胆囊结石病史" in told
        assert "[电话]" in told


def test_typed_text_without_identifiers_stays_as_it_was_typed(study: Study) -> None:
    text = "高血压8年，ＮＣＣＮ（2024）；否认脑转移。"
    note(study, "P006", medical_history_text=text)
    assert read(study, "P006", "既往史").facts[0].value == text


def test_a_name_that_is_no_field_may_be_a_value(study: Study) -> None:
    (group,) = read(study, "P019", "酮康唑").groups
    assert group.label == "合并用药"
    assert read(study, "P003", "酮康唑").unsaid == ("字段 酮康唑 不存在。",)


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("P003有什么AE", "whole ae"),
        ("P003的AE转归", {"ae_outcome"}),
        ("P003的SAE几级", {"ae_grade"}),
        ("P010的SAE报告日期", {"sae_report_date"}),
        ("P003用过什么合并用药", "whole conmed"),
        ("P003的化验结果", "whole labs"),
        ("P003的生命体征", "whole vitals"),
        ("P003的病理类型和分期", {"histology", "tumor_stage"}),
        ("P010与研究药物的关系", {"ae_relation"}),
        ("What AEs does P003 have?", "whole ae"),
    ],
)
def test_a_form_means_all_its_fields_unless_one_is_named(
    study: Study, question: str, fields: set[str] | str
) -> None:
    known = names(study)
    if isinstance(fields, str):
        fields = set(known.form_fields(fields.split()[-1]))
    assert set(known.mentioned(question)) == fields


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("P003的电话", ["phone"]),
        ("P003叫什么名字", ["subject_name"]),
        ("P003住在哪里", ["address"]),
        ("P003的基因检测结果", ["egfr_mutation"]),
        ("P003的邮箱", ["邮箱"]),
        ("P003 phone number", ["phone"]),
        ("P003用的药叫什么名字", []),
        ("P003的AE名称", []),
        ("P003的V2电话随访日期", []),
    ],
)
def test_what_is_never_shown(study: Study, question: str, fields: list[str]) -> None:
    assert asking.withheld(names(study), question) == fields


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("P003的血钾多少", ["血钾"]),
        ("P003的血压和心率", ["心率"]),
        ("P003的肿瘤评估", ["肿瘤评估"]),
        ("P003的LDH", ["LDH"]),
        ("P003 血钾", ["血钾"]),
        ("P003的情况", []),
        ("P003怎么样", []),
        ("P003最近还好吗", []),
        ("查一下P003的资料", []),
        ("P003的皮疹几级", []),
        ("P003的电话", []),
        ("查询ID 7的患者情况", []),
        ("P003的数据,帮我看一下", []),
        ("P003的血钾,麻烦告诉我", ["血钾"]),
    ],
)
def test_names_that_no_field_has(study: Study, question: str, unknown: list[str]) -> None:
    assert asking.unknown(names(study), question) == unknown
