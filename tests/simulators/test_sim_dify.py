"""The Dify stand-in (reference/redcap_dify.md 3.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from demo.simulators.dify.index import CHUNK_CHARS, Index, split, tokens
from demo.simulators.dify.service import SWITCHES
from tests.simulators.sim_study import DATASET, DIFY_KEY, Sim


def model(**changes: Any) -> dict[str, Any]:
    return {
        "search_method": "semantic_search",
        "reranking_enable": False,
        "reranking_mode": None,
        "reranking_model": {"reranking_provider_name": "", "reranking_model_name": ""},
        "top_k": 2,
        "score_threshold_enabled": False,
        "score_threshold": None,
        "weights": None,
        **changes,
    }


def ask(sim: Sim, query: str, **changes: Any) -> list[dict[str, Any]]:
    answer = sim.retrieve({"query": query, "retrieval_model": model(**changes)})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["records"]
    return found


def switch(sim: Sim, *names: str) -> None:
    sim.control("dify/switches", dict.fromkeys(names, True))


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("", "Authorization header must be provided and start with 'Bearer'"),
        (DIFY_KEY, "Authorization header must be provided and start with 'Bearer'"),
        (f"Basic {DIFY_KEY}", "Authorization scheme must be 'Bearer'"),
        ("Bearer dataset-wrong", "Access token is invalid"),
    ],
)
def test_401(sim: Sim, key: str, message: str) -> None:
    answer = sim.retrieve({"query": "x"}, key=key)
    assert answer.status_code == 401
    assert answer.json() == {"code": "unauthorized", "message": message, "status": 401}
    assert answer.headers["www-authenticate"] == 'Bearer realm="api"'


def test_no_key_works_before_configuration(blank_sim: Sim) -> None:
    assert blank_sim.retrieve({"query": "x"}).status_code == 401


def test_the_scheme_is_read_without_regard_to_case(sim: Sim) -> None:
    assert sim.retrieve({"query": "x"}, key=f"bearer {DIFY_KEY}").status_code == 200


def test_another_dataset(sim: Sim) -> None:
    answer = sim.retrieve({"query": "x"}, dataset="00000000-0000-0000-0000-000000000000")
    assert answer.status_code == 404
    assert answer.json() == {"code": "not_found", "message": "Dataset not found.", "status": 404}


@pytest.mark.parametrize("dataset", ["abc", "1", f"{DATASET}0"])
def test_a_path_without_a_uuid_is_a_plain_404(sim: Sim, dataset: str) -> None:
    answer = sim.retrieve({"query": "x"}, dataset=dataset)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")


def test_the_alias_and_the_method(sim: Sim) -> None:
    path = f"/dify/v1/datasets/{DATASET.upper()}/hit-testing"
    headers = {"Authorization": f"Bearer {DIFY_KEY}"}
    assert sim.http.post(path, json={"query": "x"}, headers=headers).status_code == 200
    assert sim.http.get(path, headers=headers).status_code == 405


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "status", "code", "message"),
    [
        ("api_disabled", 403, "forbidden", "Dataset api access is not enabled."),
        (
            "rate_limited",
            403,
            "forbidden",
            "Sorry, you have reached the knowledge base request rate limit of your subscription.",
        ),
        (
            "not_initialized",
            400,
            "dataset_not_initialized",
            "The dataset is still being initialized or indexing. Please wait a moment.",
        ),
    ],
)
def test_switched_refusals(sim: Sim, name: str, status: int, code: str, message: str) -> None:
    switch(sim, name)
    answer = sim.retrieve({"query": "x" * 999})
    assert answer.status_code == status
    assert answer.json() == {"code": code, "message": message, "status": status}
    sim.control("reset", {})
    assert sim.retrieve({"query": "x"}).status_code == 200


def invalid(sim: Sim, body: Any) -> str:
    answer = sim.retrieve(body)
    assert answer.status_code == 400
    assert (answer.json()["code"], answer.json()["status"]) == ("invalid_param", 400)
    message: str = answer.json()["message"]
    return message


def test_250_characters_are_enough_and_251_too_many(sim: Sim) -> None:
    assert sim.retrieve({"query": "访" * 250}).status_code == 200
    message = invalid(sim, {"query": "访" * 251})
    assert message.startswith(
        "1 validation error for HitTestingPayload\nquery\n"
        "  String should have at most 250 characters [type=string_too_long, input_value='访"
    )
    assert "访" * 30 not in message


def test_the_older_text(sim: Sim) -> None:
    switch(sim, "old_query_error")
    assert (
        invalid(sim, {"query": "x" * 251}) == "Query is required and cannot exceed 250 characters"
    )


@pytest.mark.parametrize("body", [{}, {"query": ""}, {"query": None}, {"retrieval_model": None}])
def test_a_query_is_required(sim: Sim, body: dict[str, Any]) -> None:
    assert invalid(sim, body) == "Query or attachment_ids is required"


def test_attachments_replace_the_query(sim: Sim) -> None:
    assert sim.retrieve({"attachment_ids": ["x"]}).status_code == 200


@pytest.mark.parametrize(
    "missing", ["search_method", "reranking_enable", "top_k", "score_threshold_enabled"]
)
def test_four_keys_are_required(sim: Sim, missing: str) -> None:
    body = model()
    del body[missing]
    message = invalid(sim, {"query": "x", "retrieval_model": body})
    assert message.startswith("1 validation error for HitTestingPayload\n")
    assert f"retrieval_model.{missing}\n  Field required [type=missing, " in message


def test_an_empty_model_lacks_all_four(sim: Sim) -> None:
    message = invalid(sim, {"query": "x", "retrieval_model": {}})
    assert message.startswith("4 validation errors for HitTestingPayload\n")


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"search_method": "magic"}, "enum"),
        ({"top_k": "5"}, "int_type"),
        ({"top_k": True}, "int_type"),
        ({"reranking_enable": None}, "bool_type"),
        ({"score_threshold_enabled": "yes"}, "bool_type"),
    ],
)
def test_wrong_values(sim: Sim, changes: dict[str, Any], kind: str) -> None:
    message = invalid(sim, {"query": "x", "retrieval_model": model(**changes)})
    assert f"[type={kind}, " in message


@pytest.mark.parametrize("body", [{"query": 5}, {"query": "x", "retrieval_model": [1]}])
def test_wrong_types(sim: Sim, body: dict[str, Any]) -> None:
    assert "validation error" in invalid(sim, body)


@pytest.mark.parametrize("body", ["text", 5, None])
def test_a_body_that_is_no_object(sim: Sim, body: Any) -> None:
    assert sim.retrieve(body).json()["code"] == "bad_request"


def test_a_body_that_is_no_json(sim: Sim) -> None:
    path = f"/dify/v1/datasets/{DATASET}/retrieve"
    headers = {"Authorization": f"Bearer {DIFY_KEY}"}
    assert sim.http.post(path, content="{", headers=headers).status_code == 400


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("V2 访视时间窗", "## 5.3 访视安排"),
        ("第二次访视要做 CT 吗", "## 5.3 访视安排"),
        ("合并用药禁止哪些", "## 6.1 合并用药"),
        ("酮康唑", "## 6.1 合并用药"),
        ("SAE 多少小时内报告", "## 8 不良事件"),
        ("试验药物的疗效", "## 1 研究目的"),
    ],
)
@pytest.mark.parametrize(
    "method", ["semantic_search", "keyword_search", "full_text_search", "hybrid_search"]
)
def test_the_right_passage_comes_first(sim: Sim, query: str, heading: str, method: str) -> None:
    first = ask(sim, query, search_method=method)[0]
    assert heading in first["segment"]["content"]


def test_the_shape_of_an_answer(sim: Sim) -> None:
    body = sim.retrieve({"query": "访视", "retrieval_model": model()}).json()
    assert body["query"] == {"content": "访视"}
    record = body["records"][0]
    assert set(record) == {"segment", "child_chunks", "score", "tsne_position", "files", "summary"}
    segment = record["segment"]
    assert segment["document"]["name"] == "方案V2.1.md"
    assert segment["document"]["id"] == segment["document_id"]
    assert segment["position"] == 2
    assert segment["word_count"] == len(segment["content"])
    assert (segment["enabled"], segment["status"], segment["error"]) == (True, "completed", None)
    assert segment["hit_count"] == 1
    assert ask(sim, "访视")[0]["segment"]["hit_count"] == 2


def test_scores_fall_and_stay_between_0_and_1(sim: Sim) -> None:
    scores = [record["score"] for record in ask(sim, "访视 合并用药 不良事件", top_k=10)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert scores[0] > 0


def test_top_k_and_its_default(sim: Sim) -> None:
    assert len(ask(sim, "研究", top_k=1)) == 1
    assert len(sim.retrieve({"query": "研究"}).json()["records"]) == 4
    assert len(sim.retrieve({"query": "研究", "retrieval_model": None}).json()["records"]) == 4


def test_semantic_search_always_finds_something_keywords_do_not(sim: Sim) -> None:
    assert len(ask(sim, "zzz")) == 2
    assert ask(sim, "zzz")[0]["score"] == 0
    assert ask(sim, "zzz", search_method="keyword_search") == []
    assert ask(sim, "zzz", search_method="full_text_search") == []


def test_a_threshold(sim: Sim) -> None:
    every = [record["score"] for record in ask(sim, "访视时间窗", top_k=9)]
    limit = (every[0] + every[1]) / 2
    on = {"score_threshold_enabled": True, "score_threshold": limit, "top_k": 9}
    assert [r["score"] for r in ask(sim, "访视时间窗", **on)] == every[:1]
    off = {**on, "score_threshold_enabled": False}
    assert [r["score"] for r in ask(sim, "访视时间窗", **off)] == every


def test_null_scores_with_keyword_search(sim: Sim) -> None:
    switch(sim, "keyword_score_null")
    assert {r["score"] for r in ask(sim, "访视", search_method="keyword_search")} == {None}
    assert ask(sim, "访视")[0]["score"] > 0


def test_more_than_top_k_in_hybrid_mode(sim: Sim) -> None:
    switch(sim, "hybrid_more_than_top_k")
    records = ask(sim, "访视", search_method="hybrid_search")
    assert [r["score"] is None for r in records] == [False, False, True, True]
    assert len(ask(sim, "访视")) == 2


def test_score_0_in_spite_of_a_threshold(sim: Sim) -> None:
    switch(sim, "zero_score_despite_threshold")
    on = {"score_threshold_enabled": True, "score_threshold": 0.99}
    assert [r["score"] for r in ask(sim, "访视", **on)] == [0]


def test_threshold_1_is_an_error(sim: Sim) -> None:
    switch(sim, "threshold_one_error")
    body = {"query": "x", "retrieval_model": model(score_threshold_enabled=True, score_threshold=1)}
    answer = sim.retrieve(body)
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_server_error")


def test_external_records(sim: Sim) -> None:
    switch(sim, "external_records")
    record = ask(sim, "访视时间窗")[0]
    assert set(record) == {"content", "title", "score", "metadata"}
    assert (record["title"], record["metadata"]) == ("方案V2.1.md", {"position": 2})


def test_parent_child(sim: Sim) -> None:
    switch(sim, "parent_child")
    child = ask(sim, "访视时间窗")[0]["child_chunks"][0]
    assert child["content"].startswith("## 5 研究流程")


def test_switches_are_listed_and_unknown_ones_refused(sim: Sim) -> None:
    assert sim.control("dify/switches") == dict.fromkeys(SWITCHES, False)
    assert sim.try_control("dify/switches", {"nosuch": True}).status_code == 400
    assert sim.try_control("dify/nosuch").status_code == 404


def test_every_query_is_in_the_request_log(sim: Sim) -> None:
    sim.retrieve({"query": "张三的访视"})
    bodies = [json.loads(row["body"]) for row in sim.control("requests?service=dify")]
    assert bodies == [{"query": "张三的访视"}]


def test_ids_are_the_same_after_a_reload(sim: Sim) -> None:
    before = ask(sim, "访视")[0]["segment"]["id"]
    sim.control("reset", {})
    assert ask(sim, "访视")[0]["segment"]["id"] == before


def contents(text: str) -> list[str]:
    return [chunk.content for chunk in split("d", text)]


def test_numbered_headings_split_a_text_without_markdown() -> None:
    text = "前言\n\n1 甲\n正文\n1.1 乙\n正文 2 次\n1. 项\n2 丙\n正文"
    found = contents(text)
    assert found == ["前言", "1 甲\n正文", "1.1 乙\n正文 2 次\n1. 项", "2 丙\n正文"]
    assert [chunk.position for chunk in split("d", text)] == [1, 2, 3, 4]


def test_markdown_headings_split_and_list_items_do_not() -> None:
    assert contents("# 甲\n正文\n1. 一\n2. 二\n1 三\n## 乙\n正文") == [
        "# 甲\n正文\n1. 一\n2. 二\n1 三",
        "## 乙\n正文",
    ]


def test_a_bare_heading_joins_the_next_chunk() -> None:
    assert contents("# 甲\n\n## 乙\n正文\n# 丙") == ["# 甲\n\n## 乙\n正文", "# 丙"]


def test_split_cuts_long_sections() -> None:
    lines = "\n".join(f"第{n}行" + "字" * 90 for n in range(20))
    chunks = split("d", f"1 长\n{lines}")
    assert len(chunks) > 3
    assert all(len(c.content) <= CHUNK_CHARS for c in chunks)
    assert sum(c.content.count("行") for c in chunks) == 20


def test_tokens() -> None:
    assert tokens("CYP3A4 抑制剂", singles=False) == {"cyp3a4": 1, "抑制": 1, "制剂": 1}
    assert tokens("用药用药") == {"用药": 2, "药用": 1, "用": 2, "药": 2}
    assert tokens("±") == {}


def test_an_empty_index_finds_nothing() -> None:
    assert Index([]).search("x", singles=True) == []
