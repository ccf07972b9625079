"""Skills, visit plan, memory and members of the demo study fit its REDCap project."""

from __future__ import annotations

import json
import re

from tests.demo.study_files import (
    choices,
    dictionary,
    events_named,
    load,
    records,
    rules,
    text,
    value_of,
    variables,
)


def test_every_target_of_every_skill_resolves() -> None:
    for skill in load("skills.json"):
        config = skill["config"]
        nodes = config["nodes"]
        assert config["start_node"] in nodes
        assert (skill["trigger_type"] == "cron") == bool(skill["cron_schedule"])
        reached, waiting = set(), [config["start_node"]]
        while waiting:
            name = waiting.pop()
            if name == "end" or name.startswith("end_") or name in reached:
                continue
            assert name in nodes, (skill["skill_type"], name)
            reached.add(name)
            waiting += [v for k, v in nodes[name].items() if k.startswith("on_")]
        assert reached == set(nodes), skill["skill_type"]


def test_rules_read_fields_of_the_study_and_have_their_own_ids() -> None:
    fields = dictionary()
    alias = {m["alias_name"]: m["actual_name"] for m in load("field_mappings.json")}
    events = {row["unique_event_name"] for row in load("redcap/events.json")}
    ids = []
    for _skill, _node, rule in rules():
        ids.append(rule["id"])
        assert rule["severity"] in {"error", "warning", "info"}
        for name in [rule["field"], *variables(rule["logic"])]:
            column, _, code = alias.get(name, name).partition("___")
            assert column in fields, rule["id"]
            assert not code or code in choices(fields[column]), rule["id"]
        assert set(events_named(rule["logic"])) <= events, rule["id"]
    assert len(ids) == len(set(ids))


def test_the_three_rules_of_the_seed_are_kept() -> None:
    seed = {
        ("age", json.dumps({">=": [{"var": "age"}, 18]})),
        ("age", json.dumps({"<=": [{"var": "age"}, 75]})),
        ("ecog", json.dumps({"<=": [{"var": "ecog"}, 2]})),
    }
    ours = {(r["field"], json.dumps(r["logic"])) for s, _n, r in rules() if s == "qc_process"}
    assert seed <= ours


def test_no_rule_reads_the_genome_field() -> None:
    for _skill, _node, rule in rules():
        assert "egfr_mutation" not in {rule["field"], *variables(rule["logic"])}


def test_the_visit_plan_names_date_fields_and_the_rules_use_its_windows() -> None:
    fields = dictionary()
    by_id = {rule["id"]: rule["logic"] for _s, _n, rule in rules()}
    plan = load("visit_plan.json")
    assert [visit["visit"] for visit in plan] == [f"V{number}" for number in range(1, 7)]
    for visit in plan:
        for name in (visit["anchor_field"], visit["date_field"]):
            assert fields[name]["text_validation_type_or_show_slider_number"] == "date_ymd"
        window = by_id["VW" + visit["visit"][1:]]["in_window"]
        assert window[0] == {"var": visit["date_field"]}
        assert window[1] == {"across_events": ["baseline_arm_1", {"var": visit["anchor_field"]}]}
        assert window[2:] == [visit["day"], visit["minus"], visit["plus"]]
        stated = f"Day {visit['day']} | ±{visit['plus']} |"
        assert stated in text("documents/protocol.md"), visit["visit"]
    assert load("project.json")["withdraw_field"] in fields


def test_the_hot_memory_is_true_of_the_data() -> None:
    memory = text("hot_memory.md")
    assert "P005 患者依从性差" in memory
    assert int(value_of("P005", "v2_arm_1", "drug_compliance")) < 80
    assert 'P003 SAE 已判定为"可能无关"（2月5日 PI 决策）' in memory
    serious = [
        row["values"]
        for row in records()
        if row["record"] == "P003" and row["values"].get("ae_serious") == "1"
    ]
    assert [(ae["ae_relation"], ae["ae_judge_date"]) for ae in serious] == [("4", "2026-02-05")]
    assert serious[0]["sae_report_date"]


def test_members_are_the_personas() -> None:
    members = {m["wecom_userid"]: (m["role"], m["site"]) for m in load("members.json")}
    assert members == {
        "zhangyi": ("PI", ""),
        "wanghushi": ("CRC", "site_a"),
        "crc_b": ("CRC", "site_b"),
        "admin": ("ADMIN", ""),
        "auditor": ("AUDITOR", ""),
    }


def test_record_ids_match_the_project_pattern() -> None:
    pattern = load("project.json")["record_id_pattern"]
    assert all(re.fullmatch(pattern, row["record"]) for row in records())


def test_the_name_of_the_study_does_not_repeat_its_code() -> None:
    """Titles put the code before it."""
    project = load("project.json")
    assert project["code"] not in project["name"]
