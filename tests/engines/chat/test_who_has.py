"""Who has something is read over all subjects of the reader and told as a list (design.md 9.4)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from projects.records import read_records
from tests.engines.chat.kit import ask
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
    return set(re.findall(r"P\d{3}|(?<![\d:/-])00?7(?![\d:-])|(?<![\dP:/-])7(?=、)", text))


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("谁发生过SAE", sae),
        ("列出有SAE的受试者", sae),
        ("发生SAE的受试者有哪些?", sae),
        ("几个人发生过SAE", sae),
        ("有没有人发生过SAE", sae),
        ("which subjects have SAE", sae),
        ("哪些受试者有皮疹", lambda row: "皮疹" in str(row.get("ae_term", ""))),
        ("哪些受试者有活动性感染", lambda row: str(row.get("active_infection", "")) == "1"),
    ],
)
def test_all_of_them_are_listed_without_the_model(
    study: Study, text: str, has: Callable[[Row], bool]
) -> None:
    wanted = having(study, "zhangyi", has)
    reply = ask("zhangyi", text)
    assert wanted
    assert told(reply.text) == wanted
    assert study.stand_ins.requests("llm") == []
    assert [source["kind"] for source in reply.sources] == ["redcap"]


@pytest.mark.parametrize("text", ["哪些受试者有AE", "有AE的受试者名单", "多少受试者有不良事件"])
def test_a_long_list_says_how_many_there_are(study: Study, text: str) -> None:
    wanted = having(study, "zhangyi", ae)
    reply = ask("zhangyi", text).text
    assert f"等 {len(wanted)} 例" in reply
    assert told(reply) < wanted
    assert len(reply) <= 150


@pytest.mark.parametrize("userid", ["wanghushi", "crc_b"])
def test_a_list_is_of_the_own_site_and_says_so(study: Study, userid: str) -> None:
    wanted = having(study, userid, sae)
    reply = ask(userid, "谁发生过SAE").text
    assert told(reply) == wanted
    assert study[userid].site in reply


def test_a_denial_and_a_missing_code_are_nothing_to_have(study: Study) -> None:
    wanted = having(study, "crc_b", lambda row: "阳性" in str(row.get("allergy_history", "")))
    everybody = having(study, "crc_b", lambda _row: True)
    assert told(ask("crc_b", "哪些受试者有过敏史").text) == wanted
    assert (
        f"{len(everybody - wanted)}/{len(everybody)}" in ask("crc_b", "哪些受试者没有过敏史").text
    )


def test_those_without_it_are_the_others(study: Study) -> None:
    everybody = having(study, "crc_b", lambda _row: True)
    reply = ask("crc_b", "哪些受试者没有AE").text
    assert told(reply) == everybody - having(study, "crc_b", ae)


def test_what_nobody_can_have_is_said_to_be_unknown(study: Study) -> None:
    reply = ask("zhangyi", "哪些受试者有血钾浓度").text
    assert "血钾浓度 不存在" in reply
    assert told(reply) == set()


def test_an_identifier_is_not_listed_by(study: Study) -> None:
    reply = ask("zhangyi", "哪些受试者有联系电话").text
    assert told(reply) == set()
    assert "REDCap" in reply


def test_the_list_is_not_made_of_a_part_of_the_question(study: Study) -> None:
    """What narrows the list beyond a name is left to the model."""
    ask("zhangyi", "哪些受试者有AE而且年龄大于60")
    assert study.stand_ins.requests("llm")
