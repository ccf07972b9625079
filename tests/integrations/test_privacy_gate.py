"""The gate with what a study knows (design.md 9.1, edge case E47)."""

from __future__ import annotations

import json
import pickle
from datetime import date

import pytest

from core.privacy.gate import Deidentified, Gate
from core.privacy.identifier_index import Known
from core.privacy.identifying_fields import is_birth, mentions_birth
from core.privacy.outbound_policy import PrivacyError

KNOWN = Known.of(
    {
        "subject_name": ["张三", "张三丰", "李四", "Anna Li", "买买提·艾力"],
        "id_card": ["110101196201010008"],
        "phone": ["13800138000"],
        "hospital_no": ["ZY9000001", "12"],
    },
    keep=["P001", "7", "007"],
)


def gate(**more: object) -> Gate:
    options = {
        "identifier_fields": {"subject_name", "phone", "notes_id"},
        "today": date(2026, 11, 21),
    }
    return Gate(KNOWN, **(options | more))  # type: ignore[arg-type]


def test_e47_nothing_of_the_example_leaves() -> None:
    g = gate()
    sent = g.text("张三的ALT是多少?") + g.data(
        {"record_id": "P001", "subject_name": "张三", "notes": "患者李四，电话13800138000"}
    )
    for secret in ("张三", "李四", "13800138000", "110101196201010008"):
        assert secret not in sent
    assert "P001" in sent


def test_only_the_gate_makes_deidentified_text() -> None:
    for make in (lambda: Deidentified("张三"), lambda: Deidentified("张三", object())):
        with pytest.raises(TypeError):
            make()
    assert type(gate().text("x")) is Deidentified


def test_joining_or_slicing_gives_a_plain_text_again() -> None:
    safe = gate().text("x")
    for joined in (safe + "张三", f"{safe}张三", safe[:1], safe.replace("x", "张三")):
        assert type(joined) is str


def test_deidentified_text_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(gate().text("x"))
    assert pickle.loads(pickle.dumps(str(gate().text("x")))) == "x"


def test_placeholders_are_stable_within_a_request() -> None:
    g = gate()
    assert g.text("张三") == g.text("患者张三来了")[2:8] == "[姓名#1]"
    assert g.text("李四和张三") == "[姓名#2]和[姓名#1]"
    assert gate().text("李四") == "[姓名#1]"


@pytest.mark.parametrize(
    "text",
    [
        "张三",
        "张 三",
        "张·三",
        "ANNA LI",
        "anna li",
        "Anna  Li",
        "AnnaLi",
        "买买提艾力",
        "ZY 9000001",
    ],
)
def test_known_values_are_found_in_other_spellings(text: str) -> None:
    assert "#1]" in gate().text(f"问:{text}。")


def test_the_longer_name_is_one_person() -> None:
    assert gate().text("张三丰与张三") == "[姓名#1]与[姓名#2]"


def test_record_ids_and_short_numbers_are_not_identifiers() -> None:
    assert gate().text("P001、7、007、12") == "P001、7、007、12"


def test_hidden_subjects_are_masked_as_such() -> None:
    g = Gate([KNOWN, Known.of({"受试者": ["P003", "S-0012"]})])
    assert (
        g.text("P003 与 p003 与 S0012 与 P001") == "[受试者#1] 与 [受试者#1] 与 [受试者#2] 与 P001"
    )
    assert g.text("P0031") == "P0031"


def test_data_drops_flagged_and_gene_fields_in_every_shape() -> None:
    g = gate(labels={"egfr": "EGFR基因突变"})
    sent = json.loads(
        g.data(
            {
                "subject_name": "某某",
                "egfr": "L858R",
                "notes_id___1": "1",
                "alt": "38",
                "values": [
                    {"field": "phone", "label": "电话", "value": "1"},
                    {"field": "x", "label": "SNP 测序", "value": "T790M"},
                    {"field": "alt", "label": "ALT", "value": "38"},
                ],
                "nested": {"snp_result": "1", "ok": [1, 2.5, None, True]},
            }
        )
    )
    assert sent == {
        "alt": "38",
        "values": [{"field": "alt", "label": "ALT", "value": "38"}],
        "nested": {"ok": [1, 2.5, None, True]},
    }


def test_data_keeps_chinese_readable_and_masks_numbers_that_are_phones() -> None:
    sent = gate().data({"备注": "联系", "n": 13800138000})
    assert sent == '{"备注": "联系", "n": "[电话#1]"}'


def test_birth_date_fields_become_ages() -> None:
    labels = {"birth_date": "出生日期", "dob": "DOB", "alt": "ALT"}
    fields = {name for name, label in labels.items() if is_birth(name, label)}
    assert fields == {"birth_date", "dob"}
    sent = json.loads(gate(birth_fields=fields).data({"birth_date": "1962-01-01", "alt": "1"}))
    assert sent == {"age": 64, "alt": "1"}


def test_a_date_of_onset_is_none_of_birth() -> None:
    labels = ("发生日期", "事件发生日", "產生日期", "医生日志", "生日", "患者生日", "生日期")
    told = [label for label in labels if is_birth("f", label) and mentions_birth("f", label)]
    assert told == ["生日", "患者生日", "生日期"]


def test_what_is_learnt_later_holds_for_a_text_that_was_read_before() -> None:
    g = Gate(Known())
    note = "住院号以外的编号 K7Q-88231"
    assert g.text(note) == note
    g.learn(["K7Q-88231"])
    assert "88231" not in g.text(note)


def test_the_readers_own_words_come_back_however_often_they_were_read() -> None:
    g = Gate(Known.of({"name": ["陈晓燕"]}))
    unowned, own = g.text("陈晓燕今天来"), g.text("陈晓燕今天来", own=True)
    assert unowned == own == g.text("陈晓燕今天来")
    assert g.restore(own) == "陈晓燕今天来"


def test_values_of_a_fresh_reading_are_learnt() -> None:
    g = gate()
    assert "新人甲" in g.text("新人甲")
    g.learn(["新人甲", "ZY7654321"])
    assert g.text("新人甲 ZY7654321") == "[姓名#1] [就诊号#1]"


def test_a_reader_gets_back_only_what_they_typed() -> None:
    g = gate()
    asked = g.text("张三的情况", own=True)
    note = g.text("患者李四")
    assert g.restore(f"{asked},{note}") == "张三的情况,患者[姓名]"


def test_the_log_of_replacements_holds_no_value() -> None:
    g = gate(digest_key=b"k")
    g.text("张三 13800138000")
    assert [row["kind"] for row in g.replaced] == ["姓名", "电话"]
    assert "张三" not in json.dumps(g.replaced, ensure_ascii=False)
    other = gate(digest_key=b"other")
    other.text("张三 13800138000")
    assert g.replaced != other.replaced


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("张三")


def test_a_fault_inside_blocks_and_says_nothing_of_the_value() -> None:
    for call in (lambda: gate().data({"x": Hostile()}), lambda: gate().text(None)):  # type: ignore[arg-type]
        with pytest.raises(PrivacyError) as caught:
            call()
        assert "张三" not in str(caught.value)


def test_an_endless_structure_blocks() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    with pytest.raises(PrivacyError):
        gate().data(loop)


@pytest.mark.full
def test_ten_thousand_names_do_not_slow_a_message_down() -> None:
    names = [
        f"{a}{b}{c}"
        for a in "赵钱孙李周吴郑王冯陈"
        for b in "伟芳娜敏静丽强磊"
        for c in map(chr, range(0x4E00, 0x4E80))
    ]
    known = Known.of({"name": names})
    text = "患者无不适主诉。" * 200 + names[-1]
    assert names[-1] not in Gate(known).text(text)


@pytest.mark.parametrize("text", ["İstanbul", "ſ", "K", "ı"])
def test_letters_with_odd_cases_do_not_block(text: str) -> None:
    assert Gate(Known.of({"name": ["istanbul", "stein", "karl"]})).text(f"{text} P001")
