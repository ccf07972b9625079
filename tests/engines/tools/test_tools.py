"""The tools of seed 001 with query_study, and their registry (seed 001, 5; issue 3, Tools)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from engines.outgoing import gate_for
from engines.tools import (
    READONLY_TOOLS,
    Status,
    Tool,
    ToolContext,
    ToolResult,
    definitions,
    execute,
    get,
    register,
)
from engines.tools.fields import FieldNames
from engines.tools.stats import LISTED, listed
from projects.models import Subject
from projects.reader import Reader
from tests.support.study import Study


def context(study: Study, userid: str = "zhangyi") -> ToolContext:
    return ToolContext(study.project, study[userid], gate_for(Reader(study.project, study[userid])))


def run(study: Study, name: str, userid: str = "zhangyi", **arguments: Any) -> ToolResult:
    return execute(context(study, userid), name, arguments)


def names(study: Study) -> FieldNames:
    here = context(study)
    return FieldNames(here.metadata, here.aliases)


def test_they_are_read_only_and_described() -> None:
    assert len(READONLY_TOOLS) == 5
    for name in READONLY_TOOLS:
        tool = get(name)
        assert tool is not None
        assert tool.read_only
        Draft202012Validator.check_schema(dict(tool.parameters))
        assert tool.description


def test_definitions_are_what_the_protocol_wants() -> None:
    made = definitions(READONLY_TOOLS)
    assert [d["function"]["name"] for d in made] == list(READONLY_TOOLS)
    assert {d["type"] for d in made} == {"function"}
    assert definitions(["nothing"]) == []


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="read_clinical_data"):
        register(Tool("read_clinical_data", "x", {}, lambda _c, _a: ToolResult("x", Status.OK)))


def test_roles_limit_a_tool(study: Study) -> None:
    def function(_context: ToolContext, _arguments: object) -> ToolResult:
        return ToolResult("only_admin", Status.OK)

    if get("only_admin") is None:
        register(Tool("only_admin", "x", {"type": "object"}, function, roles=frozenset({"ADMIN"})))
    allowed = ["only_admin"]
    assert definitions(allowed, "PI") == []
    assert len(definitions(allowed, "ADMIN")) == 1
    assert execute(context(study), "only_admin", {}, allowed=allowed).status is Status.REFUSED
    assert execute(context(study, "admin"), "only_admin", {}, allowed=allowed).status is Status.OK


def test_reading_gives_labels_units_place_and_time(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P001", fields=["入组日期", "sex"])
    assert result.status is Status.OK
    assert result.data["values"]["Baseline 基线"] == {"入组日期": "2026-02-05"}
    assert result.data["values"]["Screening 筛选"] == {"性别": "男"}
    assert len(result.data["读取时间"]) == len("2026-11-21 16:30")
    fact = next(fact for fact in result.facts if fact.field == "sex")
    assert (fact.record_id, fact.value, fact.others) == ("P001", "男", ("女",))
    assert result.lines[-1] == "P001 入组日期:2026-02-05"


def test_repeating_forms_name_their_instance(study: Study) -> None:
    with_ae = [
        rid
        for rid in Subject.objects.filter(project=study.project).values_list("record_id", flat=True)
        if run(study, "read_clinical_data", record_id=rid, fields=["ae_term"]).facts
    ]
    result = run(study, "read_clinical_data", record_id=with_ae[0], fields=["不良事件名称"])
    assert all("#" in place for place in result.data["values"])


def test_seven_is_not_double_o_seven(study: Study) -> None:
    seven = run(study, "read_clinical_data", record_id="7")
    other = run(study, "read_clinical_data", record_id="007")
    assert (seven.record_ids, other.record_ids) == (("7",), ("007",))
    assert seven.data["values"] != other.data["values"]
    assert run(study, "read_clinical_data", record_id="07").status is Status.NOT_FOUND


def test_a_bare_number_of_another_site_does_not_leave(study: Study) -> None:
    sites = dict(Subject.objects.filter(project=study.project).values_list("record_id", "site"))
    assert (sites["7"], sites["007"]) == ("site_a", "site_b")
    note = "请同时参考受试者7和受试者007的情况,ALT 7 U/L"
    told = {
        user: gate_for(Reader(study.project, study[user])).text(note)
        for user in ("crc_b", "wanghushi")
    }
    assert told["crc_b"] == note.replace("受试者7", "受试者[受试者#1]")
    assert told["wanghushi"] == note.replace("007", "[受试者#1]")
    assert gate_for(Reader(study.project, study["zhangyi"])).text(note) == note


def test_absent_and_not_yours_are_the_same_result(study: Study) -> None:
    for tool in ("read_clinical_data", "check_visit_window"):
        yours = run(study, tool, "crc_b", record_id="P001")
        absent = run(study, tool, "crc_b", record_id="P999")
        assert yours == absent
        assert yours.status is Status.NOT_FOUND


def test_identifiers_and_genes_are_not_read_out(study: Study) -> None:
    own = json.loads(study.project.subjects.get(record_id="P001").identifiers)
    result = run(
        study, "read_clinical_data", record_id="P001", fields=["姓名", "联系电话", "EGFR基因突变"]
    )
    assert result.facts == ()
    assert len(result.data["说明"]) == 3
    assert not [v for v in own.values() if v in json.dumps(result.data, ensure_ascii=False)]
    overview = run(study, "read_clinical_data", record_id="P001")
    assert not [v for v in own.values() if v in json.dumps(overview.data, ensure_ascii=False)]
    assert overview.facts


def test_a_blank_field_is_said_to_be_blank(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P001", fields=["withdraw_date"])
    assert result.facts == ()
    assert "退出日期" in result.data["说明"][0]


@pytest.mark.parametrize("fields", [["血钾浓度"], ["zzzzzz", "nosuchfield"], ["record_id"]])
def test_a_field_that_does_not_exist_reads_out_no_other(study: Study, fields: list[str]) -> None:
    result = run(study, "read_clinical_data", record_id="P001", fields=fields)
    assert (result.data["values"], result.facts) == ({}, ())
    advice = [] if fields == ["record_id"] else [f"字段 {name} 不存在" for name in fields]
    told = result.data.get("说明", [])
    assert len(told) == len(advice)
    assert all(note.startswith(said) for note, said in zip(told, advice, strict=True))


def test_an_overview_is_short_and_begins_with_the_status(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P001")
    assert len(result.facts) <= 28
    assert "受试者状态" in result.lines[0]
    assert result.status is Status.OK


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ("age", "age_calculated"),
        ("年龄", "age_calculated"),
        ("ECOG", "ecog_score"),
        ("性别", "sex"),
        ("history", "medical_history_text"),
        ("enroll_date", "enroll_date"),
        ("入组日期", "enroll_date"),
        ("ALT", "alt"),
        ("谷丙转氨酶ALT（U/L）", "alt"),
        ("首次用药日期", "first_dose_date"),
    ],
)
def test_names_of_fields(study: Study, asked: str, field: str) -> None:
    assert names(study).resolve(asked).fields == (field,)


def test_forms_and_everyday_words_stand_for_several_fields(study: Study) -> None:
    assert set(names(study).resolve("血压").fields) == {"sbp", "dbp"}
    assert "ae_term" in names(study).resolve("不良事件").fields
    assert names(study).resolve("conmed").fields[0] == "cm_name"


@pytest.mark.parametrize("asked", ["入组的日子", "alte", "ecog_scor", "血红蛋"])
def test_close_names_are_offered(study: Study, asked: str) -> None:
    resolved = names(study).resolve(asked)
    assert resolved.fields == ()
    assert resolved.suggestions
    assert resolved.advice.startswith(f"字段 {asked} 不存在,您是否要:")


def test_nothing_close_is_said_too(study: Study) -> None:
    assert names(study).resolve("zzzzzz").advice == "字段 zzzzzz 不存在。"


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("P001 入组了吗?", {"enrolled", "enroll_date"}),
        ("P003 的 ECOG 是几分", {"ecog_score"}),
        ("P001 的ALT和AST", {"alt", "ast"}),
        ("他多大年龄", {"age_calculated"}),
        ("P001 现在怎么样", set()),
        ("查询ID 7的患者情况", set()),
        ("血压多少", {"sbp", "dbp"}),
    ],
)
def test_fields_a_question_speaks_of(study: Study, question: str, fields: set[str]) -> None:
    assert set(names(study).mentioned(question)) == fields


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_clinical_data", {}),
        ("read_clinical_data", {"record_id": ""}),
        ("read_clinical_data", {"record_id": 7}),
        ("read_clinical_data", {"record_id": "P001", "fields": "ALT"}),
        ("read_clinical_data", {"record_id": "P001", "sql": "x"}),
        ("read_clinical_data", {"record_id": "P001", "fields": ["x" * 101]}),
        ("search_protocol", {"query": ""}),
        ("get_project_stats", {"site": "site_a"}),
        ("check_visit_window", {"visit": "V1"}),
    ],
)
def test_wrong_arguments_are_an_instruction(
    study: Study, name: str, arguments: dict[str, Any]
) -> None:
    result = execute(context(study), name, arguments)
    assert result.status is Status.BAD_ARGUMENTS
    assert "请按此说明修正后重试" in result.data
    assert result.failed


def test_counts_are_capped_lists(study: Study) -> None:
    result = run(study, "get_project_stats")
    total = Subject.objects.filter(project=study.project).count()
    assert result.data["总例数"] == total
    assert result.data["全部名单"].endswith(f"等 {total} 例")
    assert result.data["全部名单"].count("、") == LISTED - 1
    assert result.data["目标入组"] == 30
    assert result.data["还差例数"] == 30 - result.data["入组人数"]
    assert result.data["完成率"] == f"{result.data['入组人数'] * 100 / 30:.1f}%"
    assert sum(result.data["各状态人数"].values()) == total
    assert sum(row["总数"] for row in result.data["各中心"].values()) == total


def test_counts_of_one_site(study: Study) -> None:
    mine = Subject.objects.filter(project=study.project, site="site_b").count()
    result = run(study, "get_project_stats", "crc_b")
    assert result.data["总例数"] == mine
    assert "目标入组" not in result.data
    assert "各中心" not in result.data
    assert "P001" not in json.dumps(result.data, ensure_ascii=False)


def test_a_short_list_is_whole() -> None:
    assert listed(["P001", "P002"]) == "P001、P002"


def test_visits_of_a_subject(study: Study) -> None:
    result = run(study, "check_visit_window", record_id="P001")
    assert list(result.data["访视"]) == ["V1", "V2", "V3", "V4", "V5", "V6"]
    assert "1" in result.data["锚点约定"]
    one = run(study, "check_visit_window", record_id="P001", visit="v2")
    assert list(one.data["访视"]) == ["V2"]
    wrong = run(study, "check_visit_window", record_id="P001", visit="V99")
    assert wrong.status is Status.BAD_ARGUMENTS
    assert "V6" in wrong.data


def test_search_gives_five_passages_with_relevance(study: Study) -> None:
    result = run(study, "search_protocol", query="排除标准")
    assert 0 < len(result.blocks) <= 5
    assert result.blocks[0].startswith("[文档1] ")
    assert result.sources[0]["position"] > 0


def test_a_failed_read_is_down_not_empty(study: Study) -> None:
    study.stand_ins.fault("redcap", "status", 503, times=None)
    for name, arguments in (
        ("read_clinical_data", {"record_id": "P001"}),
        ("get_project_stats", {}),
    ):
        result = execute(context(study), name, arguments)
        assert result.status is Status.DOWN
        assert result.outside_down
        assert result.failed
