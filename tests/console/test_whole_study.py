"""What holds for all sites takes a membership without a site: one rule in console and API.

The attack: an administrator of one site takes over the study. Every form, action and route is enumerated; one
that is new and not declared here fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from memory.models import ProjectMemory, WeeklyReport
from projects.models import Member, Person, Project
from skills import form_templates
from skills.amendments import to_check
from skills.models import FieldMapping, FormTemplate, Skill
from study.models import FieldRole, ProtocolDocument, ProtocolUpload
from study.protocol.index import import_document
from tests.engines.accepted import accepted
from tests.support.addresses import addresses
from tests.support.study import Study

pytestmark = pytest.mark.django_db
SITE = "site_a"

# What an administrator of a site may write. Rows of a site's people: `projects.members` bounds them.
FORMS = {("projects.member", "add"), ("projects.member", "change")}
ACTIONS = {
    "projects.member": {"ask_wecom"},
    "projects.apitoken": {"revoke_selected"},
    "engines.pendingaction": {
        *("confirm_findings", "query_findings", "assign_findings", "accept_findings"),
        *("reject_findings", "reopen_findings", "resolve_findings"),
    },
    "engines.taskrun": {"approve_review", "reject_review"},
    "engines.deviation": {"confirm_deviations", "reject_deviations", "take_back_deviations"},
    "memory.weeklyreport": {"compare"},
}
EXPORTS = {"export_selected"}

# Routes beside Django's own five of each page, by what they write.
READS = {
    "help",
    *("visit_board", "visit_calendar", "subject_page", "search", "index", "autocomplete", "jsi18n"),
    *(
        "view_on_site",
        "markdown_preview",
        "what_would_be_sent",
        "study_protocoldocument_try_search",
    ),
    *("study_visitplanentry_export_list", "study_subject_export_list", "skills_skill_schema"),
    *("skills_fieldmapping_export_list", "skills_qualityrule_export_list", "engines_schedules"),
    *("skills_qualityrule_export_book", "skills_skill_export_skill", "engines_review_export_list"),
    *("engines_pendingaction_rates", "engines_pendingaction_undecided", "engines_review_desk"),
    *("papers", "pictures", "engines_safetyclock_export_list", "engines_safetyclock_export_book"),
    *("engines_deviation_export_list", "engines_deviation_export_book"),
    *("engines_pendingaction_export_list", "engines_pendingaction_export_book"),
    *("study_redcapquery_export_list", "study_redcapquery_export_book"),
    *("engines_redcapquery_redcap", "engines_modelacceptance_pdf"),
    *(
        "engines_pendingaction_redcap",
        "engines_taskrun_export_list",
        "app_list",
        "",
        "api-root",
        "schema",
        "unknown",
    ),
}
OWN = {
    *(
        "account_login",
        "login",
        "logout",
        "password_change",
        "password_change_done",
        "auth_user_password_change",
    ),
    *("projects_member_invitations", "engines_pendingaction_filter"),
    *(
        "engines_pendingaction_filter_remove",
        "memory_usermemory_forget",
        "chat",
        "chat-answer",
        "choose_study",
    ),
}
OF_SITE = {
    *("projects_member_ask_wecom_after", "projects_project_blinding"),
    *(
        "engines_pendingaction_resolve",
        "engines_pendingaction_step",
        "engines_pendingaction_assign",
    ),
    *("engines_pendingaction_comment", "engines_taskrun_decide", "engines_taskrun_cancel"),
    *("engines_taskrun_rerun", "engines_taskrun_order", "engines_review_opened"),
    *("engines_review_desk_page", "engines_batch_cancel", "engines_deviation_decide"),
    "engines_taskrun_try",
}
WHOLE = {
    *("projects_project_setup", "projects_project_setup_progress", "projects_project_confirm"),
    *("study_fieldrole_propose", "study_referencelimit_propose", "skills_fieldmapping_propose"),
    *("skills_fieldmapping_lines", "skills_qualityrule_upload", "skills_skill_check"),
    *("skills_skill_rule", "skills_skill_offer"),
    *(
        "skills_skill_import_skills",
        "skills_formtemplate_restore",
        "skills_formtemplate_match_text",
    ),
    *("memory_weeklyreport_restore", "memory_projectmemory_retire", "memory_projectmemory_return"),
    *("memory_projectmemory_restore", "hot_memory_meter", "engines_schedule"),
    *("engines_pendingaction_checks", "projects_auditentry_export_list"),
    *("projects_auditentry_check_chain", "llm_llmusage_show_totals", "site_risk"),
    *("engines_safetyclock_settings", "study_protocoldocument_upload"),
    *("study_protocoldocument_upload_files", "study_protocoldocument_preview"),
    *("amendment_rehearsal", "amendment_flags", "engines_modelacceptance_sign"),
    "trail_reviews",
}
HOUSE = {"projects_person_ask_wecom_after", "wechat_botconnection_check"}
DJANGOS = ("_changelist", "_add", "_history", "_delete", "_change")

API_OF_SITE = {"task-run", "pending-action"}
API_WHOLE = {"skill", "field-mapping", "form-template", "project-memory", "protocol-document"}


@pytest.fixture
def chief_a(study: Study) -> Client:
    """An administrator of one site."""
    user = User.objects.create_user("chief_a", is_staff=True)
    person = Person.objects.create(wecom_userid="chief_a", user=user)
    Member.objects.create(project=study.project, person=person, role="ADMIN", site=SITE)
    return browser("chief_a")


@pytest.fixture
def chief(study: Study) -> Client:
    """An administrator of all sites, who is no superuser."""
    user = User.objects.create_user("chief", is_staff=True)
    person = Person.objects.create(wecom_userid="chief", user=user)
    Member.objects.create(project=study.project, person=person, role="ADMIN")
    return browser("chief")


def browser(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name), "django.contrib.auth.backends.ModelBackend")
    return client


def own_routes() -> set[str]:
    djangos = {
        f"{model._meta.app_label}_{model._meta.model_name}{end}"
        for model in admin.site._registry
        for end in DJANGOS
    }
    console = {one.name for one in addresses() if one.path.startswith("/admin/")}
    return console - djangos


def test_every_route_is_declared() -> None:
    """Whoever adds one says here what it writes."""
    declared = READS | OWN | OF_SITE | WHOLE | HOUSE
    assert own_routes() - declared == set()


@pytest.mark.full
def test_no_form_and_no_action_is_open_to_an_administrator_of_a_site(
    study: Study, chief_a: Client, chief: Client
) -> None:
    limited, whole = (client.get("/admin/").wsgi_request for client in (chief_a, chief))
    open_forms, opened, open_actions, acted = set(), set(), {}, set()
    for model, page in admin.site._registry.items():
        label = model._meta.label_lower
        row = model._default_manager.first()
        for verb in ("add", "change", "delete"):
            for request, found in ((limited, open_forms), (whole, opened)):
                may = getattr(page, f"has_{verb}_permission")
                if may(request) or (row is not None and verb != "add" and may(request, row)):
                    found.add((label, verb))
        actions = {*page.get_actions(limited)} - EXPORTS
        acted |= {*page.get_actions(whole)}
        if actions - ACTIONS.get(label, set()) and page.has_view_permission(limited):
            open_actions[label] = actions
    assert open_forms - FORMS - {("projects.apitoken", "add")} == set()
    assert len(opened) > 15
    assert open_actions == {}
    assert {"switch_on", "switch_off", "accept_proposals", "write_again"} <= acted


def sent(client: Client, url: str, **fields: Any) -> int:
    return client.post(url, fields).status_code


def rule_key(document: int) -> str:
    """A rule that the version of a document touches."""
    touched = to_check(ProtocolDocument.objects.get(pk=document))
    return next(one.key for one in touched if one.kind == "rule")


def rows_of(study: Study) -> dict[str, list[Any]]:
    """The parameters of the routes that are about a row."""
    memory = ProjectMemory.objects.get(project=study.project)
    template = FormTemplate(project=study.project, form_name="f", field_schema={}, keywords=["词"])
    made = FormTemplate.objects.filter(
        project=study.project
    ).first() or form_templates.save_template(template=template, actor="test")
    report = WeeklyReport.objects.filter(project=study.project, versions__isnull=False).first()
    cron = Skill.objects.filter(project=study.project, trigger_type="cron").first()
    old = ProtocolDocument.objects.get(project=study.project, name__contains="研究方案")
    amended = import_document(study.project, old.name, old.text.replace("18～75", "18～80"))
    upload = ProtocolUpload.objects.create(
        project=study.project, filename="f.md", name="手册", text="# 一\n文字", state="read"
    )
    return {
        "projects_project_setup": [study.project.pk],
        "projects_project_setup_progress": [study.project.pk],
        "projects_project_confirm": [study.project.pk],
        "skills_formtemplate_restore": [made.pk, 1],
        "memory_weeklyreport_restore": [report and report.pk, 1],
        "memory_projectmemory_retire": [memory.pk],
        "memory_projectmemory_return": [memory.pk, 1],
        "memory_projectmemory_restore": [memory.pk, 1],
        "engines_schedule": [cron and cron.pk],
        "amendment_flags": [amended.pk],
        "amendment_rehearsal": [upload.pk],
        "study_protocoldocument_preview": [upload.pk],
        "engines_modelacceptance_sign": [accepted(study.project).pk],
    }


@pytest.mark.full
def test_what_holds_for_all_sites_is_closed_to_an_administrator_of_one(
    study: Study, chief_a: Client, chief: Client
) -> None:
    rows = rows_of(study)
    bodies: dict[str, dict[str, Any]] = {
        "projects_project_setup": {"do": "sites"},
        "hot_memory_meter": {"content": "x"},
        "amendment_flags": {"kind": "rule", "key": rule_key(rows["amendment_flags"][0])},
        "projects_auditentry_check_chain": {"chain": str(study.project.pk)},
        "trail_reviews": {"do": "plan", "days": 30, "role": "AUDITOR", "share": 10},
    }
    reads = {
        "projects_project_setup_progress",
        "projects_auditentry_export_list",
        "llm_llmusage_show_totals",
        "amendment_rehearsal",
    }
    bare = {"hot_memory_meter", "site_risk", "amendment_flags", "amendment_rehearsal"}
    bare |= {"trail_reviews"}
    for name in sorted(WHOLE):
        args = rows.get(name, [])
        if None in args:
            continue
        prefix = "" if name in bare else "admin:"
        url = reverse(f"{prefix}{name}", args=args)
        limited, whole = (
            client.get(url).status_code
            if name in reads
            else sent(client, url, **bodies.get(name, {}))
            for client in (chief_a, chief)
        )
        assert limited in (403, 404), (name, limited)
        assert whole not in (403, 404, 405, 500), (name, whole)


@pytest.mark.full
def test_each_form_refuses_what_is_posted_to_it(study: Study, chief_a: Client) -> None:
    """Variants: not the button, but the request; add, change and delete of every page."""
    before = {
        model: [*model._base_manager.values()]
        for model in (Project, Skill, FieldMapping, FieldRole)
    }
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        row = model._default_manager.first()
        label = model._meta.label_lower
        urls = {"add": reverse(f"{name}_add")}
        if row is not None:
            urls |= {
                verb: reverse(f"{name}_{verb}", args=[row.pk]) for verb in ("change", "delete")
            }
        for verb, url in urls.items():
            if (label, verb) in FORMS | {("projects.apitoken", "add")}:
                continue
            answer = chief_a.post(url, {"redcap_url": "https://evil.example/api/", "post": "yes"})
            assert answer.status_code in (403, 404, 302), (url, answer.status_code)
    assert before == {model: [*model._base_manager.values()] for model in before}


@pytest.mark.full
def test_the_api_asks_the_same(study: Study, chief_a: Client, chief: Client) -> None:
    code = study.project.code
    skill = Skill.objects.filter(project=study.project).exclude(config={})[0]
    mapping = FieldMapping.objects.filter(project=study.project)[0]
    memory = ProjectMemory.objects.get(project=study.project)
    calls = {
        ("post", "skills/"): {
            "project": code, "skill_type": "x", "name": "x", "config": skill.config,
            "trigger_type": "webhook",
        },
        ("patch", f"skills/{skill.pk}/"): {"name": "x", "version": skill.version},
        ("post", "skills/import/"): {"project": code, "skills": []},
        ("post", "field-mappings/"): {"project": code, "alias_name": "x", "actual_name": "alt"},
        ("patch", f"field-mappings/{mapping.pk}/"): {"actual_name": "alt"},
        ("post", "form-templates/"): {"project": code, "form_name": "x", "field_schema": [], "keywords": []},
        ("patch", f"project-memory/{memory.pk}/"): {"content": "x", "version": memory.version},
        ("post", "protocol-documents/"): {"project": code, "name": "方案", "text": "# 一\n改"},
    }  # fmt: skip
    assert {path.split("/")[0].removesuffix("s") for _verb, path in calls} >= API_WHOLE - {
        "project-memory"
    }
    for (verb, path), body in calls.items():
        limited, whole = (
            getattr(client, verb)(
                f"/api/v1/{path}", json.dumps(body), content_type="application/json"
            )
            for client in (chief_a, chief)
        )
        assert limited.status_code == 403, (path, limited.content)
        assert whole.status_code != 403, (path, whole.content)


def test_every_writing_route_of_the_api_is_declared() -> None:
    writing = set()
    for one in addresses():
        cls = getattr(one.callback, "cls", None)
        if not one.path.startswith("/api/v1/") or cls is None:
            continue
        verbs = getattr(one.callback, "actions", None) or {}
        if {*verbs} & {"post", "put", "patch", "delete"}:
            writing.add(one.name.rsplit("-", 1)[0] if verbs else one.name)
    known = API_OF_SITE | API_WHOLE
    assert {name for name in writing if not name.startswith(tuple(known))} == set()


@pytest.mark.full
def test_all_sites_stay_open_to_who_has_none(study: Study, chief: Client) -> None:
    page = chief.get(f"/admin/projects/project/{study.project.pk}/change/").content.decode()
    assert 'name="redcap_url"' in page
    assert apps.get_model("skills", "Skill")._meta.label in {
        model._meta.label for model in admin.site._registry
    }


@pytest.mark.full
def test_an_administrator_of_a_site_reads_no_wiring(study: Study, chief_a: Client) -> None:
    page = chief_a.get(f"/admin/projects/project/{study.project.pk}/change/").content.decode()
    assert "redcap_token" not in page
    assert study.project.redcap_det_secret not in page


def test_members_of_other_sites_stay_theirs(
    study: Study, chief_a: Client, as_user: Callable[..., Client]
) -> None:
    row = Member.objects.get(wecom_userid="crc_b")
    answer = chief_a.post(
        f"/admin/projects/member/{row.pk}/change/",
        {"role": "CRC", "site": SITE, "language": "zh-hans", "is_active": "on"},
    )
    assert answer.status_code == 403
