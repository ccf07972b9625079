"""Validators of a study's settings, and what its changes leave in the trail."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from projects import services
from projects.models import AuditEntry, Project
from study.admin.setup import PatternForm
from study.models import VisitPlanEntry
from tests.house.kit import make_member, make_project

SECRETS = {
    "redcap_token": "TOKEN-1",
    "dify_key": "KEY-1",
    "llm_api_key": "SK-1",
    "redcap_det_secret": "DET-1",
}


def problems(**fields: object) -> set[str]:
    values = {"code": "X", "name": "X", "start_date": "2026-01-06"} | fields
    try:
        Project(**values).full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        return set(error.message_dict)
    return set()


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "UTC", "America/New_York"])
def test_time_zones(zone: str) -> None:
    assert problems(timezone=zone) == set()


@pytest.mark.parametrize("zone", ["Beijing", "GMT+8", "asia/shanghai", "../etc/passwd", "北京"])
def test_what_is_no_time_zone_is_refused(zone: str) -> None:
    assert problems(timezone=zone) == {"timezone"}


@pytest.mark.parametrize("pattern", ["", r"P\d{3}", r"(?:[AB])-\d+", r"((\d|-|[0-9])+)+X"])
def test_patterns(pattern: str) -> None:
    assert problems(record_id_pattern=pattern) == set()


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "*", "(?P<x>a)", r"(?=\d)\d+", r"(\d)\1", r"\bP\d+"]
)
def test_a_pattern_that_only_a_backtracking_matcher_knows_is_refused(pattern: str) -> None:
    assert problems(record_id_pattern=pattern) == {"record_id_pattern"}
    assert "record_id_pattern" in PatternForm({"record_id_pattern": pattern}).errors


@pytest.mark.django_db
@pytest.mark.parametrize(("anchor_is_day", "refused"), [(1, True), (0, False)])
def test_day_zero_exists_only_where_the_anchor_is_day_zero(
    anchor_is_day: int, refused: bool
) -> None:
    project = make_project(anchor_is_day=anchor_is_day)
    entry = VisitPlanEntry(project=project, visit="V1", anchor_field="a", date_field="b", day=0)
    if refused:
        with pytest.raises(ValidationError, match="0"):
            entry.clean()
    else:
        entry.clean()


@pytest.mark.django_db
def test_saving_a_study_tells_who_changed_what() -> None:
    project = services.save_project(project=make_project(), actor="zhangyi")
    project.target_enrolment = 60
    services.save_project(project=project, actor="admin")
    first, second = AuditEntry.objects.order_by("number")
    assert (second.action, second.actor, second.project) == ("project.change", "admin", project)
    assert (second.old["target_enrolment"], second.new["target_enrolment"]) == (0, 60)
    assert first.number == 1


@pytest.mark.django_db
def test_a_new_study_is_a_creation() -> None:
    project = Project(code="NEW", name="新研究", start_date="2026-01-06")
    services.save_project(project=project, actor="admin")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.old, entry.new["code"]) == ("project.create", None, "NEW")


@pytest.mark.django_db
def test_secrets_never_enter_the_trail() -> None:
    project = Project(code="NEW", name="新研究", start_date="2026-01-06", **SECRETS)
    services.save_project(project=project, actor="admin")
    entry = AuditEntry.objects.get()
    for name, secret in SECRETS.items():
        assert entry.new[name] == services.HIDDEN
        assert secret not in str(entry.new)


@pytest.mark.django_db
def test_members_and_visits_leave_entries_too() -> None:
    project = make_project()
    member = make_member(project, "wanghushi", site="site_a")
    member.site = "site_b"
    root = User.objects.create(username="root", is_superuser=True)
    services.save_member(member=member, actor=root)
    entry = VisitPlanEntry(project=project, visit="V1", anchor_field="a", date_field="b", day=1)
    services.save(entry, entry.project, "admin", "plan.change", "plan.change")
    change, plan = AuditEntry.objects.exclude(project=None).order_by("number")
    assert (change.action, change.old["site"], change.new["site"]) == (
        "member.change",
        "site_a",
        "site_b",
    )
    assert (plan.action, plan.object_type) == ("plan.change", "visitplanentry")


@pytest.mark.django_db
def test_the_case_of_a_userid_is_folded() -> None:
    assert make_member(make_project(), "ZhangYi").wecom_userid == "zhangyi"
