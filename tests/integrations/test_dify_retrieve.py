"""Retrieval from Dify over real HTTP (reference/redcap_dify.md 3.1)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.integrations.dify import (
    QUERY_LIMIT,
    DifyClient,
    DifyError,
    DifyNotFoundError,
    DifyPermissionError,
    DifyProtocolError,
    DifyUnavailable,
    shorten,
)
from core.integrations.passages import Passage
from core.privacy.gate import Deidentified, Gate
from core.privacy.outbound_policy import OutsideRefused
from tests.hospital import DATASET, DIFY_KEY, Hospital, canned, open_hospital

QUESTION = "V2 访视时间窗是多少?"


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


def clean(text: str) -> Deidentified:
    return Gate().text(text)


def client(url: str, key: str = DIFY_KEY, dataset: str = DATASET) -> DifyClient:
    return DifyClient(url, key, dataset, sleep=lambda _: None)


def switch(hospital: Hospital, **values: bool) -> None:
    hospital.control("dify/switches", values)


def ask(*records: Any, top_k: int = 5) -> list[Passage]:
    body = json.dumps({"query": {"content": "x"}, "records": records}).encode()
    with canned(lambda _: (200, body)) as url:
        return client(url.removesuffix("/api/")).retrieve(clean("x"), top_k)


def record(number: int, score: float | None, **segment: Any) -> dict[str, Any]:
    return {
        "segment": {
            "id": f"s{number}",
            "position": number,
            "content": f"text {number}",
            "document": {"name": "方案V2.1.pdf"},
            **segment,
        },
        "child_chunks": [],
        "score": score,
    }


def test_passages_come_with_what_a_citation_needs(hospital: Hospital) -> None:
    found = client(hospital.dify_url).retrieve(clean(QUESTION))

    assert found[0].document == "方案.md"
    assert "5.3 访视安排" in found[0].content
    assert found[0].position >= 1
    assert found[0].segment_id
    assert [p.score for p in found] == sorted((p.score or 0 for p in found), reverse=True)


def test_all_required_settings_are_sent(hospital: Hospital) -> None:
    client(hospital.dify_url).retrieve(clean(QUESTION), top_k=3)

    (body,) = hospital.queries()
    assert body["query"] == QUESTION
    assert body["retrieval_model"] == {
        "search_method": "semantic_search",
        "reranking_enable": False,
        "top_k": 3,
        "score_threshold_enabled": False,
    }


@pytest.mark.parametrize("text", ["张三的 ALT 是多少", "", str(Gate().text("x"))])
def test_plain_text_never_leaves(hospital: Hospital, text: str) -> None:
    with pytest.raises(TypeError):
        client(hospital.dify_url).retrieve(text)  # type: ignore[arg-type]

    assert hospital.queries() == []


def test_an_address_outside_is_refused() -> None:
    with pytest.raises(OutsideRefused):
        client("http://api.dify.ai/v1").retrieve(clean(QUESTION))


def test_a_blank_question_is_not_asked(hospital: Hospital) -> None:
    assert client(hospital.dify_url).retrieve(clean("  ")) == []
    assert hospital.queries() == []


def test_a_long_question_is_cut_to_what_dify_takes(hospital: Hospital) -> None:
    story = "患者上周复查血常规和肝肾功能未见明显异常," * 20
    found = client(hospital.dify_url).retrieve(clean(f"{story}V2访视的时间窗是几天?"))

    assert len(hospital.queries()[0]["query"]) <= QUERY_LIMIT
    assert "时间窗是几天" in hospital.queries()[0]["query"]
    assert found


@given(st.text(alphabet="问什么?。,abc 访视\n", max_size=900))
def test_shortening_keeps_the_limit_and_the_order(text: str) -> None:
    short = shorten(text)

    assert len(short) <= QUERY_LIMIT
    assert (short == text) == (len(text) <= QUERY_LIMIT)
    left = iter(text)
    assert all(char in left for char in short)


def test_a_question_without_a_stop_keeps_its_end() -> None:
    assert shorten("甲" * 300 + "乙") == "甲" * 249 + "乙"


def test_scores_of_none_come_last_and_doubles_once() -> None:
    found = ask(record(1, None), record(2, 0.2), record(3, 0.9), record(2, 0.5), record(4, 0))

    assert [(p.segment_id, p.score) for p in found] == [
        ("s3", 0.9),
        ("s2", 0.5),
        ("s4", 0.0),
        ("s1", None),
    ]


def test_more_than_asked_for_is_cut() -> None:
    assert len(ask(*[record(n, n / 10) for n in range(9)], top_k=2)) == 2


def test_an_external_knowledge_base_has_no_segments() -> None:
    rows = [
        {"content": " a ", "title": "SOP.docx", "score": 0.4, "metadata": None},
        {"content": "b", "title": "SOP.docx", "score": 0.6, "metadata": {}},
        {"content": "a", "title": "SOP.docx", "score": 0.4, "metadata": {}},
    ]

    assert ask(*rows) == [
        Passage("SOP.docx", "b", 0, 0.6, ""),
        Passage("SOP.docx", "a", 0, 0.4, ""),
    ]


def test_children_speak_for_a_parent_that_is_too_long() -> None:
    hits = [{"content": "命中一", "score": 0.7}, {"content": "命中二", "score": 0.6}]
    long = {**record(1, None, content="长" * 3000), "child_chunks": hits}
    short = {**record(2, 0.1, content="整段"), "child_chunks": hits}

    first, second = ask(long, short)

    assert (first.content, first.score) == ("命中一\n命中二", 0.7)
    assert second.content == "整段"


def test_an_answer_belongs_to_its_question() -> None:
    (found,) = ask(record(1, 1, content="窗口几天?", answer="前后 7 天"))

    assert found.content == "窗口几天?\n前后 7 天"


def test_nothing_found_is_an_answer() -> None:
    assert ask() == []
    assert ask(record(1, 1, content="", answer=None)) == []


def test_the_stand_ins_oddities(hospital: Hospital) -> None:
    switch(hospital, external_records=True)
    assert client(hospital.dify_url).retrieve(clean(QUESTION))[0].segment_id == ""
    switch(hospital, external_records=False, parent_child=True)
    assert client(hospital.dify_url).retrieve(clean(QUESTION))[0].content
    switch(hospital, parent_child=False, keyword_score_null=True, hybrid_more_than_top_k=True)
    for method in ("keyword_search", "hybrid_search"):
        asking = DifyClient(hospital.dify_url, DIFY_KEY, DATASET, search_method=method)
        assert 0 < len(asking.retrieve(clean("访视 妊娠 停药"), top_k=1)) <= 1


@pytest.mark.parametrize(
    ("key", "dataset", "error"),
    [
        ("wrong", DATASET, DifyPermissionError),
        (DIFY_KEY, "00000000-0000-4000-8000-000000000000", DifyNotFoundError),
    ],
)
def test_refusals(hospital: Hospital, key: str, dataset: str, error: type[DifyError]) -> None:
    with pytest.raises(error):
        client(hospital.dify_url, key, dataset).retrieve(clean(QUESTION))
    assert len(hospital.queries()) == 1


@pytest.mark.parametrize(
    ("name", "error", "code"),
    [
        ("rate_limited", DifyPermissionError, "forbidden"),
        ("api_disabled", DifyPermissionError, "forbidden"),
        ("not_initialized", DifyError, "dataset_not_initialized"),
    ],
)
def test_dify_says_no(hospital: Hospital, name: str, error: type[DifyError], code: str) -> None:
    switch(hospital, **{name: True})

    with pytest.raises(error) as refused:
        client(hospital.dify_url).retrieve(clean(QUESTION))
    assert refused.value.code == code


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateway_is_asked_twice(hospital: Hospital, status: int) -> None:
    hospital.dify_fault("status", status)
    assert client(hospital.dify_url).retrieve(clean(QUESTION))

    hospital.dify_fault("status", status, times=2)
    with pytest.raises(DifyUnavailable):
        client(hospital.dify_url).retrieve(clean(QUESTION))


def test_a_lost_connection(hospital: Hospital) -> None:
    hospital.dify_fault("reset")
    assert client(hospital.dify_url).retrieve(clean(QUESTION))

    hospital.dify_fault("reset", times=2)
    with pytest.raises(DifyUnavailable) as lost:
        client(hospital.dify_url).retrieve(clean(QUESTION))
    assert lost.value.__context__ is None


@pytest.mark.parametrize(
    "text",
    [
        *["", "<html>login</html>", "[]", "null", "{}", '{"records": {}}', '{"records": [1]}'],
        *['{"records": [{"segment": "x"}]}', '{"records": [{"segment"'],
    ],
)
def test_what_is_no_answer_is_no_passage(text: str) -> None:
    with canned(lambda _: (200, text.encode())) as url, pytest.raises(DifyProtocolError):
        client(url.removesuffix("/api/")).retrieve(clean("x"))


def test_an_error_repeats_neither_question_nor_key() -> None:
    echo = {"code": f"invalid_param {QUESTION}", "message": f"input_value='{QUESTION}'"}
    body = json.dumps(echo, ensure_ascii=False).encode()

    with canned(lambda _: (400, body)) as url, pytest.raises(DifyError) as refused:
        client(url.removesuffix("/api/")).retrieve(clean(QUESTION))

    seen = f"{refused.value!r} {vars(refused.value)} {client('http://127.0.0.1/v1')!r}"
    assert refused.value.status == 400
    assert QUESTION not in seen
    assert DIFY_KEY not in seen


def test_a_dataset_id_is_a_uuid() -> None:
    with pytest.raises(ValueError, match="UUID"):
        client("http://127.0.0.1/v1", dataset="../documents")


@pytest.mark.parametrize("broken", [{"document": "方案"}, {"document": ["方案"]}])
def test_a_segment_of_another_shape_is_no_passage(broken: dict[str, Any]) -> None:
    with pytest.raises(DifyProtocolError):
        ask(record(1, 0.9, **broken))
    with pytest.raises(DifyProtocolError):
        ask({**record(1, 0.9), "child_chunks": 3})


@pytest.mark.parametrize("position", ["3", None, [], {"a": 1}])
def test_a_position_that_is_no_number_is_left_out(position: Any) -> None:
    assert [p.position for p in ask(record(1, 0.9, position=position))] == [0]
