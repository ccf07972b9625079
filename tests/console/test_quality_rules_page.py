"""The console's page of REDCap's Data Quality rules: upload, report, switch on."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from projects.models import AuditEntry, Member, Project
from skills import dq
from skills.models import QualityRule, Skill
from tests.engines.sop.kit import findings, run_of
from tests.skills.test_quality_rules import FILE
from tests.support.study import Study

pytestmark = pytest.mark.django_db
LIST = "/admin/skills/qualityrule/"
PAGE = f"{LIST}upload/"


def upload(client: Client, content: bytes | None = None, project: str = "LUNG-IIT") -> Any:
    file = SimpleUploadedFile("rules.csv", FILE.read_bytes() if content is None else content)
    return client.post(PAGE, {"project": project, "file": file}, follow=True)


def switch(client: Client, action: str, *keys: int) -> str:
    said = {"action": action, "_selected_action": keys}
    return client.post(LIST, said, follow=True).content.decode()


@pytest.mark.full
def test_from_the_file_to_a_finding(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin", "zh-hans")
    assert PAGE in client.get(LIST).content.decode()
    page = client.get(PAGE).content.decode()
    assert "尚未接管任何规则" in page
    assert "2 个计算字段" in page
    page = upload(client).content.decode()
    assert "已接管 32 条规则,8 条未接管。" in page
    assert "未知的函数" in page
    assert "尚未运行" in page
    assert "没有变化" in upload(client).content.decode()

    page = client.post(PAGE, {"project": "LUNG-IIT", "on": "1"}, follow=True).content.decode()
    assert "运行中" in page
    skill = Skill.objects.select_related("project").get(skill_type=dq.SKILL_TYPE)
    assert skill.is_active is True
    assert "年龄小于 18 岁" in {one.message for one in findings(run_of(study, skill, "P007"))}
    client.post(PAGE, {"project": "LUNG-IIT", "on": "0"})
    assert Skill.objects.get(pk=skill.pk).is_active is False
    assert AuditEntry.objects.filter(action="skill.change", actor="admin").count() >= 2


def test_the_report_leaves_as_csv(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    upload(client)
    answer = client.get(f"{LIST}export/")
    text = b"".join(answer).decode("utf-8-sig")  # type: ignore[arg-type]
    lines = [*csv.DictReader(io.StringIO(text))]
    assert len(lines) == 40
    assert {line["State"] for line in lines} == {"Taken over", "Not taken over"}
    assert [bool(line["Why not"].strip("-")) for line in lines].count(True) == 8
    assert any("[agee] < 18" in line["Logic in REDCap"] for line in lines)


@pytest.mark.full
def test_ticked_rules_are_switched(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    upload(client)
    taken = QualityRule.objects.filter(state="taken").values_list("pk", flat=True)
    refused = QualityRule.objects.filter(state="refused").first()
    assert refused
    assert "2 rules switched." in switch(client, "switch_off", *taken[:2], refused.pk)
    assert QualityRule.objects.filter(is_on=True).count() == 30
    assert "1 rule switched." in switch(client, "switch_on", taken[0])
    assert "None of these rules changed." in switch(client, "switch_on", refused.pk)
    assert QualityRule.objects.filter(is_on=True).count() == 31
    rule = client.get(f"{LIST}{taken[0]}/change/").content.decode()
    assert "[age_calculated] &lt; 18" in rule


@pytest.mark.full
def test_a_wrong_file_says_why(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    for content, part in ((b"a,b\n1,2\n", "names no column"), (b"", "empty")):
        page = upload(client, content).content.decode()
        assert 'role="alert"' in page
        assert part in page
    page = client.post(PAGE, {"project": "LUNG-IIT", "on": "1"}).content.decode()
    assert "No rule is switched on." in page
    assert not QualityRule.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize("who", ["zhangyi", "wanghushi", "crc_b", "auditor", "charlie"])
def test_only_an_administrator_of_the_study_uploads(
    who: str, as_user: Callable[..., Client], study: Study
) -> None:
    upload(as_user("admin"))
    client = as_user(who)
    assert client.get(PAGE).status_code == 403
    assert upload(client).status_code == 403
    assert client.post(PAGE, {"project": "LUNG-IIT", "on": "1"}).status_code == 403
    one = QualityRule.objects.filter(is_on=True).first()
    assert one
    switch(client, "switch_off", one.pk)
    assert QualityRule.objects.get(pk=one.pk).is_on is True


@pytest.mark.full
def test_an_administrator_of_one_study_does_not_reach_another(
    as_user: Callable[..., Client], study: Study
) -> None:
    other = Project.objects.create(code="OTHER-1", name="Another study", start_date="2026-01-01")
    Member.objects.create(project=other, person=study["zhangyi"].person, role="ADMIN")
    upload(as_user("admin"))
    client = as_user("zhangyi")
    assert upload(client).status_code == 403
    assert client.get(PAGE, {"project": "NO-SUCH"}).status_code == 403
    assert "Another study" in client.get(PAGE).content.decode()
    one = QualityRule.objects.filter(is_on=True).first()
    assert one
    switch(client, "switch_off", one.pk)
    assert QualityRule.objects.get(pk=one.pk).is_on is True
    page = upload(client, project="OTHER-1").content.decode()
    assert "REDCap" in page
    assert 'role="alert"' in page
