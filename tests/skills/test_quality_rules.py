"""Forty Data Quality rules of REDCap taken over from their CSV, each with its line in the report."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ValidationError

from engines.sop.dry import walk
from projects.models import AuditEntry, Project
from skills import dq
from skills.models import QualityRule, Skill, SkillVersion
from study import records
from tests.engines.sop.kit import findings, run_of
from tests.support.study import Study

pytestmark = pytest.mark.django_db
FILE = Path(__file__).with_name("dq_rules.csv")
REFUSED = {
    33: "agee", 34: "不完整", 35: "lookup", 36: "复选框", 37: "没有引用任何字段", 38: "没有逻辑",
    39: "同名", 40: "visit_9_arm_1",
}  # fmt: skip
FOUND = {
    "P007": "年龄小于 18 岁", "P020": "年龄大于 75 岁", "P009": "知情同意晚于入组", "P024": "男性填写妊娠试验",
    "P015": "育龄女性无妊娠试验", "P004": "ECOG 大于 2", "P026": "活动性感染", "P022": "勾选任一排除标准",
    "P030": "首次用药早于入组", "P017": "BMI 与身高体重不符", "P016": "ALT 超过上限 3 倍", "P031": "血糖无单位",
    "P023": "AE 结束早于开始", "P010": "SAE 无报告日期", "P019": "使用酮康唑", "P033": "无知情同意日期",
}  # fmt: skip
CLEAN = ("P001", "P006", "P008", "P011")


def take(study: Study, content: bytes | None = None) -> dq.Taken:
    return dq.take_over(project=study.project, content=content or FILE.read_bytes(), actor="admin")


def rows() -> list[QualityRule]:
    return [*QualityRule.objects.all()]


@pytest.mark.full
def test_forty_rules_and_their_report(study: Study) -> None:
    done = take(study)
    assert (done.taken, done.refused, done.changed) == (32, 8, True)
    report = rows()
    assert [row.position for row in report] == [*range(1, 41)]
    assert {row.position for row in report if row.state == "refused"} == REFUSED.keys()
    for row in report:
        assert REFUSED.get(row.position, "") in row.reason
        assert bool(row.reason) is (row.state == "refused")
    assert report[0].real_time is True
    assert report[0].rule == {
        "id": report[0].rule_key,
        "field": "age_calculated",
        "logic": {"!": [{"redcap": ["[age_calculated] < 18"]}]},
        "message": "年龄小于 18 岁",
    }
    skill = Skill.objects.get(skill_type=dq.SKILL_TYPE)
    assert skill.is_active is False
    assert len(skill.config["nodes"][dq.NODE]["rules"]) == 32
    entry = AuditEntry.objects.get(action="dq.import")
    assert (entry.new["taken"], entry.new["not_taken"]) == (32, 8)


@pytest.mark.full
def test_the_engine_runs_them(study: Study) -> None:
    take(study)
    skill = dq.switch_skill(project=study.project, on=True, actor="admin")
    read = {data.record_id: data for data in records.read_records(project=study.project)}
    for subject, name in FOUND.items():
        done = walk(project=study.project, config=skill.config, data=read[subject])
        assert name in {one.message for one in done.observations if one.outcome == "FAIL"}, subject
    for subject in CLEAN:
        done = walk(project=study.project, config=skill.config, data=read[subject])
        wrong = [one for one in done.observations if one.outcome in {"FAIL", "ERROR"}]
        assert not wrong, subject
    assert "年龄小于 18 岁" in {one.message for one in findings(run_of(study, skill, "P007"))}


@pytest.mark.full
def test_the_same_file_again_changes_nothing(study: Study) -> None:
    take(study)
    entries, keys = AuditEntry.objects.count(), [row.pk for row in rows()]
    done = take(study)
    assert (done.taken, done.changed) == (32, False)
    assert [row.pk for row in rows()] == keys
    assert AuditEntry.objects.count() == entries
    assert SkillVersion.objects.filter(skill__skill_type=dq.SKILL_TYPE).count() == 1


@pytest.mark.full
def test_a_mended_file_keeps_ids_and_switches(study: Study) -> None:
    take(study)
    first, second = rows()[:2]
    changed = dq.switch_rules(
        project=study.project, keys=[first.rule_key, "dq.none"], on=False, actor="admin"
    )
    assert changed == 1
    assert dq.switch_rules(project=study.project, keys=[first.rule_key], on=False, actor="x") == 0
    mended = FILE.read_text("utf-8").replace("[age_calculated] < 18", "[age_calculated] < 16")
    assert take(study, mended.encode()).changed is True
    again = rows()[:2]
    assert [row.rule_key for row in again] == [first.rule_key, second.rule_key]
    assert [row.is_on for row in again] == [False, True]
    rules = Skill.objects.get(skill_type=dq.SKILL_TYPE).config["nodes"][dq.NODE]["rules"]
    assert first.rule_key not in {rule["id"] for rule in rules}


@pytest.mark.full
def test_what_a_person_made_of_the_skill_stays(study: Study) -> None:
    take(study)
    skill = Skill.objects.get(skill_type=dq.SKILL_TYPE)
    ask = {"type": "human_review", "description": "请复核"}
    nodes = {**skill.config["nodes"], "ask": ask}
    nodes[dq.NODE] = {**nodes[dq.NODE], "on_fail": "ask"}
    Skill.objects.filter(pk=skill.pk).update(config={**skill.config, "nodes": nodes})
    dq.switch_rules(project=study.project, keys=[rows()[0].rule_key], on=False, actor="admin")
    config = Skill.objects.get(pk=skill.pk).config
    assert config["nodes"]["ask"] == ask
    assert config["nodes"][dq.NODE]["on_fail"] == "ask"
    assert len(config["nodes"][dq.NODE]["rules"]) == 31


@pytest.mark.full
def test_without_any_rule_on_nothing_runs(study: Study) -> None:
    with pytest.raises(ValidationError):
        dq.switch_skill(project=study.project, on=True, actor="admin")
    take(study)
    dq.switch_skill(project=study.project, on=True, actor="admin")
    keys = [row.rule_key for row in rows() if row.rule_key]
    assert dq.switch_rules(project=study.project, keys=keys, on=False, actor="admin") == 32
    assert Skill.objects.get(skill_type=dq.SKILL_TYPE).is_active is False


@pytest.mark.full
@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "rule_name"),
        (b"name,logic\na,b\n", "rule_name"),
        (b"rule_name,rule_logic,real_time_execution\n\n,,\n", "没有规则"),
        (b"rule_name,rule_logic\n" + b"a,[b] = 1\n" * 1001, "1000"),
        (b"\xff\xfe\xff", "文本"),
        (b"x" * (dq.MOST_BYTES + 1), "2 MB"),
    ],
)
def test_what_is_no_such_file_is_refused_whole(study: Study, content: bytes, part: str) -> None:
    take(study)
    with pytest.raises(ValidationError, match=part):
        dq.take_over(project=study.project, content=content, actor="admin")
    assert len(rows()) == 40


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_files_as_spreadsheets_save_them(encoding: str, delimiter: str) -> None:
    text = delimiter.join(dq.COLUMNS) + "\r\n" + delimiter.join(["年龄", "[age] > 3", "y"])
    [line] = dq.read_lines(text.encode(encoding))
    assert line == dq.Line(1, "年龄", "[age] > 3", True)


def test_without_a_dictionary_nothing_is_taken_over(study: Study) -> None:
    other = Project.objects.create(code="OTHER-1", name="Another study", start_date="2026-01-01")
    with pytest.raises(ValidationError, match="REDCap"):
        dq.take_over(project=other, content=FILE.read_bytes(), actor="admin")
