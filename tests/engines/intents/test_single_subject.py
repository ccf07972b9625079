"""One subject: named by a personal name, by nothing else, or by a pronoun."""

import pytest

from engines.assistant.intents import detect

NAMED = ["孙六 入组了没", "郑七八 入组了吗", "何建国 的血糖", "马秀兰 现在怎么样"]
BARE = {
    "受试者P-091": "query_record",
    "患者P092": "query_record",
    "02中心P093第4次访视": "visit_window",
    "P094 V3": "visit_window",
    "P094 V3 体重63": "data_entry",
}
NO_OPINION = ["n", "%d%d%x", "qwer", "\x00\x01", "---"]


@pytest.mark.parametrize("text", NAMED)
def test_a_name_may_stand_apart(text: str) -> None:
    found = detect(text)
    assert (found.intents, found.record_ids) == (["query_record"], [])
    assert found.parts[0].named


def test_a_name_of_no_known_shape_leaves_the_question() -> None:
    assert detect("试验丙二 入组了吗").intents == ["query_record"]
    assert detect("我们入组了几例").intents == ["count_records"]


def test_a_name_takes_no_subject_of_another_part() -> None:
    found = detect("质控P091,再出周报,孙六 下次访视是哪天")
    assert found.parts[-1].intent == "visit_window"
    assert found.parts[-1].record_ids == []


@pytest.mark.parametrize(("text", "intent"), BARE.items())
def test_nothing_but_a_subject_is_no_entry(text: str, intent: str) -> None:
    assert detect(text).intents == [intent]


def test_a_fact_of_somebody_spoken_of_is_sure() -> None:
    found = detect("那他的入组日期呢")
    assert found.intents == ["query_record"]
    assert found.confidence >= 0.9


@pytest.mark.parametrize("text", ["质控P091并告诉我它的AE", "给P091做质控,然后查她的合并用药"])
def test_what_is_asked_of_it_after_an_order_is_asked_of_the_same_subject(text: str) -> None:
    found = detect(text)
    assert [part.intent for part in found.parts] == ["qc_task", "query_record"]
    assert [part.record_ids for part in found.parts] == [["P091"], ["P091"]]


@pytest.mark.parametrize("text", NO_OPINION)
def test_signs_and_stray_letters_are_no_opinion(text: str) -> None:
    assert detect(text).intents != ["feedback"]


@pytest.mark.parametrize("text", ["👎", "too long", "答得不准", "very helpful"])
def test_opinions_are(text: str) -> None:
    assert detect(text).intents == ["feedback"]


@pytest.mark.parametrize("text", ["回复不超过60字", "回答控制在80字以内", "汇报最多100个字"])
def test_how_long_answers_may_be_is_remembered(text: str) -> None:
    assert detect(text).intents == ["remember"]


def test_how_long_a_report_is_is_part_of_its_order() -> None:
    assert detect("出个周报,不超过200字").intents == ["generate_report"]


@pytest.mark.parametrize("finding", ["有没有AE", "哪个组?", "分到哪个组?"])
def test_a_finding_after_a_subject_is_that_subjects(finding: str) -> None:
    found = detect(f"P093的V3是几号做的?{finding}")
    assert found.intents == ["visit_window", "query_record"]
    assert found.parts[-1].record_ids == ["P093"]


def test_a_person_sought_after_a_subject_is_anybody() -> None:
    assert detect("P093的V3是几号做的?谁发烧了").intents == ["visit_window", "qa_query"]


def test_what_a_subject_said_belongs_to_the_order() -> None:
    assert detect("S-0093说他昨晚吐了,帮我登记一下").intents == ["data_entry"]
