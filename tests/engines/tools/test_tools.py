"""The tools of seed 001 with query_study, and their registry (seed 001, 5; issue 3, Tools)."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from engines.assistant.tools import (
    OF_WORKFLOWS,
    READONLY_TOOLS,
    Status,
    Tool,
    ToolContext,
    ToolResult,
    definitions,
    execute,
    tools,
)
from study.identities import gate_for
from study.models import Subject
from study.request_cache import Reader
from tests.study.blinding.prover import CALLS
from tests.support.study import Study


def context(study: Study, userid: str = "zhangyi") -> ToolContext:
    return ToolContext(study.project, study[userid], gate_for(Reader(study.project, study[userid])))


def run(study: Study, name: str, userid: str = "zhangyi", **arguments: Any) -> ToolResult:
    return execute(context(study, userid), name, arguments)


def told(result: ToolResult) -> str:
    return "\n".join(result.data["结果"])


def test_they_are_read_only_and_described() -> None:
    assert len(READONLY_TOOLS) == 5
    for name in (*READONLY_TOOLS, *OF_WORKFLOWS):
        tool = tools()[name]
        assert tool.read_only
        Draft202012Validator.check_schema(dict(tool.parameters))
        assert tool.description


def test_the_prover_of_blinding_calls_all_that_read() -> None:
    reading = {name for name, tool in tools().items() if tool.read_only}
    assert {name for name, _arguments in CALLS} == reading


def test_definitions_are_what_the_protocol_wants() -> None:
    made = definitions(READONLY_TOOLS)
    assert [d["function"]["name"] for d in made] == list(READONLY_TOOLS)
    assert {d["type"] for d in made} == {"function"}
    assert definitions(["nothing"]) == []


def test_a_message_is_sent_by_workflows_alone(study: Study) -> None:
    sent = {"roles": ["PI"], "text": "请看"}
    result = execute(context(study), "send_message", sent, allowed=["send_message"])
    assert result.status is Status.REFUSED
    assert run(study, "send_message", **sent).status is Status.REFUSED


def test_roles_limit_a_tool(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(_context: ToolContext, _arguments: object) -> ToolResult:
        return ToolResult("only_admin", Status.OK)

    tool = Tool("only_admin", "x", {"type": "object"}, function, roles=frozenset({"ADMIN"}))
    monkeypatch.setitem(tools(), "only_admin", tool)
    allowed = ["only_admin"]
    assert definitions(allowed, "PI") == []
    assert len(definitions(allowed, "ADMIN")) == 1
    assert execute(context(study), "only_admin", {}, allowed=allowed).status is Status.REFUSED
    assert execute(context(study, "admin"), "only_admin", {}, allowed=allowed).status is Status.OK


def test_reading_gives_labels_units_place_and_time(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P001", fields=["入组日期", "sex", "ALT"])
    assert result.status is Status.OK
    assert "P001 · 入组日期" in told(result)
    assert "2026-02-05" in told(result)
    assert "= 男" in told(result)
    assert datetime.fromisoformat(result.data["读取时间"]).tzinfo
    fact = next(fact for fact in result.facts if fact.field == "alt")
    assert (fact.subject, fact.unit, bool(fact.event)) == ("P001", "U/L", True)


@pytest.mark.full
def test_labels_mapped_names_and_forms_are_names(study: Study) -> None:
    fields = [
        {
            fact.field
            for fact in run(study, "read_clinical_data", record_id="P001", fields=[name]).facts
        }
        for name in ("谷丙转氨酶ALT（U/L）", "alt", "ALT", "不良事件")
    ]
    assert fields[0] == fields[1] == fields[2] == {"alt"}
    assert "ae_term" in fields[3]


def test_repeating_forms_name_their_instance(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P001", fields=["ae"])
    assert {fact.instance for fact in result.facts} == {1}
    assert "#1" in told(result)


def test_seven_is_not_double_o_seven(study: Study) -> None:
    seven = run(study, "read_clinical_data", record_id="7")
    other = run(study, "read_clinical_data", record_id="007")
    assert (seven.record_ids, other.record_ids) == (("7",), ("007",))
    assert told(seven) != told(other)
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


@pytest.mark.parametrize("name", ["姓名", "联系电话", "EGFR基因突变", "egfr_mutation", "血钾浓度"])
def test_what_is_never_told_reads_like_no_field(study: Study, name: str) -> None:
    own = json.loads(study.project.subjects.get(record_id="P001").identifiers)
    result = run(study, "read_clinical_data", record_id="P001", fields=[name])
    assert result.status is Status.BAD_ARGUMENTS
    assert not result.facts
    none = run(study, "read_clinical_data", record_id="P001", fields=["xyzzy"])
    assert result.data.partition("(")[0].replace(name, "xyzzy").startswith(none.data[:20])
    assert not [value for value in own.values() if value in result.data]


def test_everything_of_a_subject_without_identifiers(study: Study) -> None:
    own = json.loads(study.project.subjects.get(record_id="P001").identifiers)
    result = run(study, "read_clinical_data", record_id="P001")
    assert result.status is Status.OK
    assert {"sex", "age_calculated", "enroll_date", "alt"} <= {fact.field for fact in result.facts}
    assert not [v for v in own.values() if v in json.dumps(result.data, ensure_ascii=False)]
    assert not [v for v in own.values() if any(v in fact.text for fact in result.facts)]


def test_a_blank_field_is_said_to_be_blank(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P001", fields=["withdraw_date"])
    assert [fact.kind for fact in result.facts] in ([], ["blank"])
    assert "2026" not in told(result).replace(result.data["读取时间"], "")


def test_close_names_are_offered(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P001", fields=["ecog_scor"])
    assert "ecog_score" in result.data


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


@pytest.mark.full
def test_how_the_study_stands(study: Study) -> None:
    result = run(study, "get_project_stats")
    total = Subject.objects.filter(project=study.project).count()
    (counted, enrolled, target, by_site, by_status, _open) = [one for _q, one in result.asked]
    assert counted.facts[0].value == total
    assert target.facts[0].value == 30
    assert sum(group.value for group in by_site.groups) == enrolled.facts[0].value == 27
    assert sum(group.value for group in by_status.groups) == total
    assert f"{total}" in told(result)


@pytest.mark.full
def test_counts_of_one_site(study: Study) -> None:
    mine = Subject.objects.filter(project=study.project, site="site_b").count()
    result = run(study, "get_project_stats", "crc_b")
    assert result.asked[0][1].facts[0].value == mine
    assert "site_a" not in json.dumps(result.data, ensure_ascii=False)
    assert "P001" not in json.dumps(result.data, ensure_ascii=False)


def test_visits_of_a_subject(study: Study) -> None:
    result = run(study, "check_visit_window", record_id="P001")
    visits = {fact.value for fact in result.facts if fact.field == "@visits.visit"}
    assert visits == {"V1", "V2", "V3", "V4", "V5", "V6"}
    one = run(study, "check_visit_window", record_id="P001", visit="v2")
    assert {fact.value for fact in one.facts if fact.field == "@visits.visit"} == {"V2"}
    wrong = run(study, "check_visit_window", record_id="P001", visit="V99")
    assert wrong.status is Status.BAD_ARGUMENTS
    assert "V6" in wrong.data


def test_search_gives_five_passages_with_relevance(study: Study) -> None:
    result = run(study, "search_protocol", query="排除标准")
    assert 0 < len(result.passages) <= 5
    assert result.data.startswith("[文档1] ")
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


@pytest.mark.full
def test_due_visits_with_today_and_the_roster(study: Study) -> None:
    """For workflows only: what is to be done, of the reader's own subjects."""
    allowed = ["list_due_visits"]
    result = execute(context(study, "crc_b"), "list_due_visits", {}, allowed=allowed)
    mine = Subject.objects.filter(project=study.project, site="site_b", is_present=True)
    assert result.data["可见受试者"] == sorted(mine.values_list("record_id", flat=True))
    assert result.data["今天"] == study.run["demo_today"]
    assert {*result.record_ids} <= {*result.data["可见受试者"]}
    everybody = execute(context(study, "zhangyi"), "list_due_visits", {}, allowed=allowed)
    assert any(line.startswith("P005 V3") for line in everybody.data["待完成访视"])
    later = execute(
        context(study, "zhangyi"), "list_due_visits", {"overdue": False}, allowed=allowed
    )
    assert not any(line.startswith("P005 V3") for line in later.data["待完成访视"])
    assert any(line.startswith("P008 V2") for line in later.data["待完成访视"])


def test_due_visits_are_refused_where_nobody_listed_them(study: Study) -> None:
    assert execute(context(study), "list_due_visits", {}).status is Status.REFUSED
    wrong = execute(
        context(study), "list_due_visits", {"from": "26.11.2026"}, allowed=["list_due_visits"]
    )
    assert wrong.status is Status.BAD_ARGUMENTS
