"""Who has something is read over all subjects of the reader and told as a list (design.md 9.4)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from study.records import read_records
from tests.engines.chat.kit import ask, silenced
from tests.support.study import Study

Row = dict[str, object]


def having(study: Study, userid: str, has: Callable[[Row], bool]) -> set[str]:
    records = read_records(project=study.project, member=study[userid])
    return {record.record_id for record in records if any(map(has, record.rows))}  # type: ignore[arg-type]


def ae(row: Row) -> bool:
    return row.get("redcap_repeat_instrument") == "ae"


def sae(row: Row) -> bool:
    return str(row.get("ae_serious", "")) == "1"


def told(text: str) -> set[str]:
    return set(re.findall(r"P\d{3}|(?<![\d/-])00?7(?![\d:-])|(?<![\dP/-])7(?=[、(])", text))


@pytest.mark.full
@pytest.mark.parametrize("text", ["哪些受试者有AE", "有AE的受试者名单", "多少受试者有不良事件"])
def test_a_long_list_says_how_many_there_are(study: Study, text: str) -> None:
    wanted = having(study, "zhangyi", ae)
    reply = ask("zhangyi", text).text
    assert f"{len(wanted)} 例" in reply
    assert told(reply) <= wanted
    assert len(reply) <= 150


@pytest.mark.full
@pytest.mark.parametrize("userid", ["wanghushi", "crc_b"])
def test_a_list_is_of_the_own_site(study: Study, userid: str) -> None:
    wanted = having(study, userid, sae)
    reply = ask(userid, "谁发生过SAE").text
    assert told(reply) == wanted


@pytest.mark.full
def test_a_denial_and_a_missing_code_are_nothing_to_have(study: Study) -> None:
    wanted = having(study, "crc_b", lambda row: "阳性" in str(row.get("allergy_history", "")))
    assert told(ask("crc_b", "哪些受试者有过敏史").text) == wanted
    # Who wrote nothing has not said that there is none: no list is made of that.
    assert told(ask("crc_b", "哪些受试者没有过敏史").text) == set()


@pytest.mark.full
def test_those_without_it_are_the_others(study: Study) -> None:
    everybody = having(study, "crc_b", lambda _row: True)
    reply = ask("crc_b", "哪些受试者没有AE").text
    assert told(reply) == everybody - having(study, "crc_b", ae)


def test_what_nobody_can_have_is_said_to_be_unknown(study: Study) -> None:
    reply = ask("zhangyi", "哪些受试者有血钾浓度").text
    assert "血钾浓度" in reply
    assert told(reply) == set()


def test_an_identifier_is_not_listed_by(study: Study) -> None:
    reply = ask("zhangyi", "哪些受试者有联系电话").text
    assert told(reply) == set()
    assert "不能提供" in reply


@pytest.mark.full
def test_the_list_is_not_made_of_a_part_of_the_question(study: Study) -> None:
    """What narrows the list beyond a name is left to the model."""
    ask("zhangyi", "哪些受试者有AE而且年龄大于60")
    assert study.stand_ins.requests("llm")


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "field", "code"),
    [
        ("哪些受试者是鳞癌", "histology", "2"),
        ("女性受试者有几个", "sex", "2"),
        ("哪些受试者妊娠试验阴性", "pregnancy_test", "0"),
        ("哪些受试者妊娠试验阳性", "pregnancy_test", "1"),
        ("几个人ECOG是2分", "ecog_score", "2"),
        ("有没有死亡病例", "ae_outcome", "5"),
    ],
)
def test_who_has_a_choice_is_counted(study: Study, text: str, field: str, code: str) -> None:
    silenced(study)
    wanted = having(study, "zhangyi", lambda row: str(row.get(field, "")) == code)
    reply = ask("zhangyi", text)
    assert re.search(rf"(?<!\d){len(wanted)} 例", reply.text) or (
        not wanted and "没有" in reply.text
    )
    assert told(reply.text.partition("无法判断")[0]) <= wanted


@pytest.mark.full
def test_nobody_found_does_not_hide_that_free_texts_were_not_searched(study: Study) -> None:
    reply = ask("zhangyi", "哪些受试者有间质性肺炎").text
    assert told(reply) == set()
    assert "没有" in reply


@pytest.mark.parametrize(
    "text", ["多少人有EGFR突变", "哪些受试者EGFR是野生型", "哪些受试者是野生型", "谁有手机号"]
)
def test_what_is_never_shown_is_not_counted_either(study: Study, text: str) -> None:
    reply = ask("zhangyi", text)
    assert told(reply.text) == set()


@pytest.mark.full
def test_a_list_is_of_the_site_that_is_named(study: Study) -> None:
    wanted = having(study, "wanghushi", sae)
    assert told(ask("zhangyi", "site_a哪些受试者有SAE").text) == wanted
    assert told(ask("zhangyi", "site_b哪些受试者有SAE").text) == set()


def test_another_site_reads_like_a_subject_that_is_not_there(study: Study) -> None:
    invented = ask("wanghushi", "site_z哪些受试者有SAE").text
    assert ask("wanghushi", "site_b哪些受试者有SAE").text.replace("site_b", "site_z") == invented
    assert told(invented) == set()


@pytest.mark.full
def test_who_had_a_visit_is_a_list_and_not_the_plan(study: Study) -> None:
    wanted = having(study, "wanghushi", lambda row: bool(row.get("v3_date")))
    reply = ask("wanghushi", "哪些受试者没做V3访视").text
    everybody = having(study, "wanghushi", lambda _row: True)
    assert told(reply) == everybody - wanted, reply


@pytest.mark.full
@pytest.mark.parametrize("text", ["平均年龄多少", "男女比例", "几个人ECOG大于1"])
def test_figures_of_something_else_are_no_answer(study: Study, text: str) -> None:
    assert not re.search(r"(?<!\d)27(?!\d)", ask("zhangyi", text).text)
