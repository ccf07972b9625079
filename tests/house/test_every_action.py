"""Every action that an app registers is written by what people and jobs really do, each through its door."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client, TestCase, override_settings
from django.utils.timezone import now

from core.house.db import atomic
from engines import llm_canary
from engines.models import Deviation, VisitReminder
from memory.hot import distiller
from memory.hot.distill import distil
from memory.hot.distiller import Said
from memory.models import MemoryProposal
from projects import audit, backup, restoring
from projects.models import ApiToken, AuditEntry, Member, Person
from projects.tasks import write_reads
from skills.models import QualityRule, Skill
from study import dictionary, records, roster
from study.models import ProtocolDocument, Subject
from study.tasks import read_study
from tests.console import test_new_study as new_study
from tests.console import test_trail_reviews as trail_reviews
from tests.console.test_memory_pages import edit
from tests.engines import safety_kit
from tests.engines.accepted import accepted
from tests.engines.chat.kit import ask
from tests.engines.cron.kit import at, clock, fired, no_rest
from tests.engines.sop import test_deleted_records as deleted
from tests.engines.sop.doors import Said as Decision
from tests.engines.sop.doors import by_api, by_card, by_page
from tests.engines.sop.kit import review_of, run_qc
from tests.house.kit import make_member, make_project
from tests.house.test_account_trail import NEW, OLD
from tests.login import kit as ways
from tests.memory import test_kill_switch as hot_pages
from tests.memory import test_retention as retention
from tests.memory import test_weekly_edits as weekly
from tests.memory.agent import kit as agent
from tests.memory.hot_kit import base, browser, current, said, yesterday
from tests.skills import test_quality_rules as quality_rules
from tests.study.blinding import test_page as blinding
from tests.support.study import Study
from tests.support.tasks import drain
from tests.wechat.bot_kit import AES_KEY, TOKEN
from tests.wechat.callback_kit import Callback
from tests.wechat.test_groups import said_in_group
from tests.wechat.working import click, receive, work
from wechat.models import Alert, OutboxMessage

pytestmark = pytest.mark.django_db
Door = Callable[[Study], object]
DOORS: dict[str, Door] = {}
USERS = "/admin/auth/user/"


def door(*actions: str) -> Callable[[Door], Door]:
    """Notes what an action is written by."""

    def note(call: Door) -> Door:
        DOORS.update(dict.fromkeys(actions, call))
        return call

    return note


def form(client: Client, url: str, **said: Any) -> None:
    """Post a page of the console as it is shown, with some fields changed; it has to be taken."""
    page: Any = client.get(url)
    assert page.status_code == 200, url
    shown = page.context["adminform"].form
    values = {name: shown[name].value() for name in shown.fields}
    sent = {name: value for name, value in (values | said).items() if value not in (None, False)}
    answer: Any = client.post(url, sent)
    assert answer.status_code == 302, answer.context and answer.context["errors"]


def select(client: Client, url: str, action: str, *rows: Any) -> None:
    chosen = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
    assert client.post(url, chosen).status_code in (200, 302)


def post(study: Study, who: str, path: str, **said: Any) -> Any:
    """The API, with the login's token."""
    client = Client(headers={"Authorization": f"Token {study.run['logins'][who]['token']}"})
    answer: Any = client.post(f"/api/v1/{path}", json.dumps(said), "application/json")
    assert answer.status_code in (200, 201), answer.content
    return answer.json()


# the study


@door("project.create", "plan.change")
def _(study: Study) -> None:
    visit = {"visit": "V1", "anchor_field": "enroll_date", "date_field": "v1_date", "day": 1}
    assert new_study.new(browser("admin"), visit).status_code == 302


@door("project.change")
def _(study: Study) -> None:
    answer = new_study.change(browser("admin"), study.project, name="另一个名称")
    assert answer.status_code == 302


@door("blinding.on", "blinding.member", "blinding.break", "blinding.off")
def _(study: Study) -> None:
    given = {"do": "fields", "field": ["histology"], "kind": ["lab"], "words": [""]}
    blinding.sent("admin", study, **given)
    someone = str(Member.objects.get(wecom_userid="wanghushi").pk)
    blinding.sent("admin", study, do="members", unblinded=[someone])
    blinding.broken("zhangyi", study)
    blinding.sent("admin", study, do="off", password=blinding.PASSWORD, reason="end")


@door("member.add", "person.add")
def _(study: Study) -> None:
    url = "/admin/projects/person/add/"
    form(browser("admin"), url, wecom_userid="newcomer", user="", reason="")
    new = {"project": study.project.pk, "wecom_userid": "newcomer", "role": "CRC", "site": "site_a"}
    form(browser("admin"), "/admin/projects/member/add/", **new)


@door("member.accept")
def _(study: Study) -> None:
    invited(study)
    receive(f"接受 {study.project.code}", user="newcomer")
    work()


@door("member.decline")
def _(study: Study) -> None:
    invited(study)
    receive(f"拒绝 {study.project.code}", user="newcomer")
    work()


def invited(study: Study) -> None:
    Member.objects.create(
        project=study.project,
        wecom_userid="newcomer",
        role="CRC",
        is_active=False,
        invited_at=now(),
    )


@door("roster.moves_held", "roster.moves_accepted")
def _(study: Study) -> None:
    project = study.project
    read = records.read_records(project=project)
    there = [replace(one, site="site_z") for one in read]
    with atomic():
        roster.keep_some_subjects(project, dictionary.load(project), there)
    said = {"do": "moves", "seen": roster.digest_of_moves(roster.waiting_moves(project))}
    browser("admin").post(f"/admin/projects/project/{project.pk}/confirm/", said)


@door("redcap.accept")
def _(study: Study) -> None:
    said = {"do": "redcap", "seen": "101"}
    browser("admin").post(f"/admin/projects/project/{study.project.pk}/confirm/", said)


@door("member.change")
def _(study: Study) -> None:
    pk = Member.objects.get(wecom_userid="crc_b").pk
    form(browser("admin"), f"/admin/projects/member/{pk}/change/", site="site_a")


@door("person.link")
def _(study: Study) -> None:
    made, crc = User.objects.create_user("other"), Person.objects.get(wecom_userid="crc_b")
    form(
        browser("admin"), f"/admin/projects/person/{crc.pk}/change/", user=made.pk, reason="新账号"
    )


@door("dictionary.answers")
def _(study: Study) -> None:
    dictionary.store_date_answers(
        project=study.project, answers={"screening_date": "birth"}, actor="admin"
    )


@door("roster.sync", "dictionary.read")
def _(study: Study) -> None:
    Subject.objects.all().delete()
    study.project.dictionary.delete()
    read_study(str(study.project.pk))


@door("document.import")
def _(study: Study) -> None:
    post(study, "admin", "protocol-documents/", project="LUNG-IIT", name="手册", text="# 一\n文字")


@door("document.delete")
def _(study: Study) -> None:
    pk = ProtocolDocument.objects.all()[0].pk
    browser("admin").post(f"/admin/study/protocoldocument/{pk}/delete/", {"post": "yes"})


@door("document.discard")
def _(study: Study) -> None:
    from study.models import ProtocolUpload

    row = {"project": study.project, "filename": "f.md", "name": "手册", "state": "read"}
    pk = ProtocolUpload.objects.create(**row).pk
    browser("admin").post(f"/admin/study/protocoldocument/upload/{pk}/", {"discard": ""})


@door("document.checked")
def _(study: Study) -> None:
    from skills.amendments import to_check
    from study.protocol.index import import_document

    old = ProtocolDocument.objects.get(project=study.project, name__contains="研究方案")
    new = import_document(study.project, old.name, old.text.replace("18～75", "18～80"))
    sent = {"kind": "rule", "key": next(one.key for one in to_check(new) if one.rule == "EL02")}
    browser("admin").post(f"/admin/study/protocoldocument/{new.pk}/touches/", sent)


@door("project.limits")
def _(study: Study) -> None:
    url = f"/admin/site-risk/?project={study.project.code}"
    assert browser("admin").post(url, {"adverse": "2"}).status_code == 302


@door("rows.export")
def _(study: Study) -> None:
    browser("admin").get("/admin/study/subject/export/").getvalue()


@door("member.refused")
def _(study: Study) -> None:
    from engines.assistant.chat import answer_message

    answer_message(person=Person.objects.create(wecom_userid="ghost"), text="P001 入组了吗?")


# logins


@door("login", "logout")
def _(study: Study) -> None:
    client = Client()
    password = study.run["logins"]["admin"]["password"]
    client.post("/admin/login/", {"username": "admin", "password": password})
    client.post("/admin/logout/")


@door("login.link")
def _(study: Study) -> None:
    call_command("login_link", "admin")


@door("login.linked", "login.unlinked", "login.factor.add", "login.factor.remove")
def _(study: Study) -> None:
    user = User.objects.get(username="wanghushi")
    user.email = "wang@hospital.test"
    user.save()
    ways.give_app(user)
    with override_settings():
        ways.configure(settings, study.stand_ins)
        ways.come(Client(), "u-1")
    call_command("login_reset", "wanghushi")


@door("login.failed")
def _(study: Study) -> None:
    Client().post("/admin/login/", {"username": "admin", "password": "wrong"})


@door("account.create")
def _(study: Study) -> None:
    made = {"username": "ann", "usable_password": "true", "password1": OLD, "password2": OLD}
    browser("admin").post(f"{USERS}add/", made)


@door("account.change", "account.disable", "account.enable", "account.rights", "password.change")
def _(study: Study) -> None:
    client, pk = browser("admin"), User.objects.get(username="crc_b").pk
    page = f"{USERS}{pk}/change/"
    form(client, page, email="b@example.org", is_active=False, is_superuser=True)
    form(client, page, is_active=True)
    said = {"usable_password": "true", "password1": NEW, "password2": NEW}
    client.post(f"{USERS}{pk}/password/", said)


@door("token.create")
def _(study: Study) -> None:
    from django.core.management import call_command

    call_command("drf_create_token", "crc_b")


@door("token.revoke")
def _(study: Study) -> None:
    select(
        browser("admin"), "/admin/projects/apitoken/", "revoke_selected", ApiToken.objects.all()[0]
    )


@door("record.read")
def _(study: Study) -> None:
    pk = Subject.objects.get(record_id="P001").pk
    browser("zhangyi").get(f"/admin/study/subject/{pk}/change/")
    with time_machine.travel(now() + timedelta(hours=2)):
        write_reads()


# workflows


@door("skill.create")
def _(study: Study) -> None:
    config = {"start_node": "a", "nodes": {"a": {"type": "human_review", "description": "请核对"}}}
    new = {"project": "LUNG-IIT", "skill_type": "qc_process:new", "name": "新流程"}
    post(study, "admin", "skills/", config=config, **new)


@door("skill.change")
def _(study: Study) -> None:
    skill = Skill.objects.get(skill_type="qc_process")
    token = study.run["logins"]["admin"]["token"]
    client = Client(headers={"Authorization": f"Token {token}"})
    url = f"/api/v1/skills/{skill.pk}/"
    answer = client.patch(url, json.dumps({"name": "质控二"}), "application/json")
    assert answer.status_code == 200


@door("skill.draft")
def _(study: Study) -> None:
    skill = Skill.objects.get(skill_type="qc_process")
    client, url = browser("admin"), f"/admin/skills/skill/{skill.pk}/change/"
    stamp = client.get(url).context["adminform"].form.initial["read_at"]
    given = {"skill_type": skill.skill_type, "name": skill.name, "trigger_type": "webhook"}
    given |= {"is_active": "on", "config": json.dumps(skill.config), "read_at": stamp}
    forms = {"versions-TOTAL_FORMS": "0", "versions-INITIAL_FORMS": "0"}
    assert client.post(url, given | forms | {"_draft": "1"}).status_code == 302


@door("skill.delete")
def _(study: Study) -> None:
    pk = Skill.objects.get(skill_type="qc_process").pk
    browser("admin").post(f"/admin/skills/skill/{pk}/delete/", {"post": "yes"})


@door("mapping.change")
def _(study: Study) -> None:
    names = {"alias_name": "体能状态", "actual_name": "ecog_score"}
    post(study, "admin", "field-mappings/", project="LUNG-IIT", **names)


@door("dq.import", "dq.switch")
def _(study: Study) -> None:
    file = SimpleUploadedFile("rules.csv", quality_rules.FILE.read_bytes())
    browser("admin").post(
        "/admin/skills/qualityrule/upload/", {"project": "LUNG-IIT", "file": file}
    )
    select(
        browser("admin"), "/admin/skills/qualityrule/", "switch_off", QualityRule.objects.first()
    )


@door("template.change")
def _(study: Study) -> None:
    made = {"form_name": "ae", "field_schema": {}}
    post(study, "admin", "form-templates/", project="LUNG-IIT", **made)


@door("run.start", "run.end", "review.ask", "review.approve", "finding.open")
def _(study: Study) -> None:
    order = {"project": "LUNG-IIT", "skill_type": "qc_process", "record_id": "P012"}
    run = post(study, "wanghushi", "task-runs/start/", **order)
    from engines import sop
    from engines.models import TaskRun

    sop.drive(TaskRun.objects.get(pk=run["id"]).pk)
    by_page(review_of(TaskRun.objects.get(pk=run["id"])), Decision())
    sop.drive(TaskRun.objects.get(pk=run["id"]).pk)


@door("review.reject")
def _(study: Study) -> None:
    by_api(review_of(run_qc(study, "P012")), Decision(decision="reject"))


@door("review.take_back")
def _(study: Study) -> None:
    review = review_of(run_qc(study, "P012"))
    by_api(review, Decision(decision="reject"))
    taken = {"take_back": "1", "reason": "点错了"}
    desk = f"/admin/engines/review/{review.pk}/desk/"
    assert browser("wanghushi").post(desk, taken).status_code == 302


@door("run.cancel")
def _(study: Study) -> None:
    run = run_qc(study, "P012")
    post(study, "wanghushi", f"task-runs/{run.pk}/cancel/", reason="重复")


@door("finding.close")
def _(study: Study) -> None:
    finding = run_qc(study, "P012").findings.all()[0]
    post(study, "wanghushi", f"pending-actions/{finding.pk}/resolve/", resolution="已核对源文件")


@door("finding.gone", "finding.back")
def _(study: Study) -> None:
    deleted.read_again(study)  # what was never read cannot be missed
    run_qc(study, "P012")
    data = records.read_record(project=study.project, record_id="P012")
    assert data
    study.stand_ins.post("redcap/records", [{"record": "P012", "delete": True}])
    deleted.read_again(study)
    deleted.enter(study, data)
    deleted.read_again(study)


@door("finding.step", "finding.reject", "finding.assign", "finding.comment")
def _(study: Study) -> None:
    finding = run_qc(study, "P012").findings.all()[0]
    about = f"pending-actions/{finding.pk}"
    post(study, "wanghushi", f"{about}/move/", step="confirm")
    post(study, "wanghushi", f"{about}/assign/", assignee="wanghushi")
    post(study, "wanghushi", f"{about}/comment/", text="等待中心回复")
    post(study, "wanghushi", f"{about}/move/", step="reject", reason="误报")


@door("study.setting")
def _(study: Study) -> None:
    word = {"project": study.project.pk, "word": "体力评分", "meaning": "ecog_score"}
    form(browser("admin"), "/admin/study/synonym/add/", **word)


# memory


@door("memory.save")
def _(study: Study) -> None:
    memory = base(study)
    edit(browser("zhangyi"), memory, f"{memory.content}\n- 新的一条", memory.version)


@door("conversation.read")
def _(study: Study) -> None:
    ask("zhangyi", "你好")
    browser("admin").get("/admin/memory/conversationhistory/")


@door("memory.remove")
def _(study: Study) -> None:
    hot_pages.retire(browser("zhangyi"), base(study), hot_pages.GONE)


@door("memory.return")
def _(study: Study) -> None:
    DOORS["memory.remove"](study)
    memory = current(study)
    edit(browser("admin"), memory, f"{memory.content}\n{hot_pages.GONE}", memory.version)


@door("memory.accept")
def _(study: Study) -> None:
    base(study)
    select(browser("zhangyi"), hot_pages.PROPOSALS, "accept_proposals", hot_pages.propose(study))


@door("memory.refuse")
def _(study: Study) -> None:
    base(study)
    select(browser("zhangyi"), hot_pages.PROPOSALS, "refuse_proposals", hot_pages.propose(study))


@door("memory.distil")
def _(study: Study) -> None:
    base(study)
    said(study, "周三改为线上例会", "wanghushi")
    with patch.object(distiller, "propose", lambda *_given: Said([], lambda: None)):
        distil(study.project, yesterday(study))
    assert MemoryProposal.objects.exists()


@door("memory.propose")
def _(study: Study) -> None:
    ask("wanghushi", "请记住:周三改为线上例会")


@door("memory.learn")
def _(study: Study) -> None:
    with override_settings(MEMORY_SCHEMA="immigration"):
        with TestCase.captureOnCommitCallbacks(execute=True):
            ask("zhangyi", agent.SCENARIO)
        study.stand_ins.script(agent.extracted(*agent.SCENARIO_ITEMS))
        drain()


@door("memory.take_back")
def _(study: Study) -> None:
    ask("wanghushi", "通知时间改为 08:00")
    ask("wanghushi", "撤回")


@door("memory.forget")
def _(study: Study) -> None:
    base(study)
    ask("zhangyi", "忘掉我的偏好")


@door("report.save")
def _(study: Study) -> None:
    weekly.running(study)


@door("report.edit")
def _(study: Study) -> None:
    found = weekly.running(study)
    weekly.save(browser("zhangyi"), found, f"{found.summary}\n- 补充")


@door("log.purge")
def _(study: Study) -> None:
    retention.forget(study)
    retention.said(study, retention.DECISION, day=1)
    study.stand_ins.script(retention.told())
    retention.write()
    retention.retention.purge(study.project, retention.later(study))


# Safety


@door("safety.start", "safety.report", "safety.withdraw")
def _(study: Study) -> None:
    with at(clock(study, "09:00")):
        safety_kit.switched_on(study)
        safety_kit.enter(study)
        safety_kit.swept()
        safety_kit.enter(study, ae_serious="0")
        safety_kit.swept()


@door("trail_review.plan", "trail_review.draw", "trail_review.mark", "trail_review.close")
def _(study: Study) -> None:
    trail_reviews.planned()
    trail_reviews.reviewed(study)


@door("deviation.decide")
def _(study: Study) -> None:
    with at(clock(study, "09:00")):
        safety_kit.switched_on(study)
    found = Deviation.objects.all()[0]
    told = {"seen": "proposed", "state": "confirmed", "grade": "major", "reason": "核对无误"}
    browser("admin").post(f"/admin/engines/deviation/{found.pk}/decide/", told)


# WeCom


@door("wechat.refused")
def _(study: Study) -> None:
    receive("P001 入组了吗", user="ghost")
    work()


@door("wechat.decision_refused")
def _(study: Study) -> None:
    by_card(review_of(run_qc(study, "P012")), Decision(who="zhangyi"))


@door("wechat.click_ignored")
def _(study: Study) -> None:
    click("nothing", "approve", "wanghushi")
    work()


@door("visit.answer")
def _(study: Study) -> None:
    no_rest(study)
    with at(clock(study, "09:00")):
        fired(study, "visit_reminder")
        reminder = VisitReminder.objects.select_related("member").first()
        assert reminder
        click(f"visit_{reminder.pk}@1", "done", reminder.member.wecom_userid)
        work()


@door("wechat.rated")
def _(study: Study) -> None:
    receive("P001 入组了吗?")
    work()
    receive("👍")
    work()


@door("wechat.resent")
def _(study: Study) -> None:
    receive("你好", user="ghost")
    work()
    OutboxMessage.objects.update(status=OutboxMessage.Status.DEAD)
    rows = OutboxMessage.objects.all()[:1]
    select(browser("admin"), "/admin/wechat/outboxmessage/", "resend", *rows)


@door("wechat.mended")
def _(study: Study) -> None:
    Callback("<xml/>").post(Client())
    select(browser("admin"), "/admin/wechat/alert/", "mend", Alert.objects.get())


@door("wechat.group_bound", "wechat.group_refused", "wechat.group_freed")
def _(study: Study) -> None:
    with override_settings(WECOM_AIBOT_TOKEN=TOKEN, WECOM_AIBOT_AES_KEY=AES_KEY):
        said_in_group("绑定研究 LUNG-IIT", "admin")
        make_member(make_project("OTHER"), "guest", "PI")
        said_in_group("P001 入组了吗?", "guest")
        said_in_group("解除绑定", "admin")


@door("house.restore")
def _(study: Study) -> None:
    # The database of the test is not exchanged; a whole restore is in tests/house/test_backup.py.
    made = backup.Manifest("sqlite", "2026-11-29", "1", "", False, {}, [])
    restoring.settle(made, moved=False)


@door("model.accept", "model.sign")
def _(study: Study) -> None:
    row = accepted(study.project)
    password = {"password": study.run["logins"]["zhangyi"]["password"]}
    url = f"/admin/llm/modelacceptance/{row.pk}/sign/"
    assert browser("zhangyi").post(url, password).status_code == 302


@door("model.canary")
def _(study: Study) -> None:
    with override_settings(REQUIRE_MODEL_ACCEPTANCE=True):
        llm_canary.check(study.project)


@pytest.mark.full
@pytest.mark.parametrize("action", sorted(audit.actions()))
def test_it_is_written(study: Study, action: str) -> None:
    before = set(AuditEntry.objects.values_list("pk", flat=True))
    DOORS[action](study)
    written = AuditEntry.objects.exclude(pk__in=before)
    assert action in set(written.values_list("action", flat=True))
    tells_nobody(study, written)


def test_nothing_else_has_a_door() -> None:
    assert set(DOORS) == set(audit.actions())


def tells_nobody(study: Study, written: Any) -> None:
    """No entry holds an identifier of a subject, a password or a token."""
    stored = [json.loads(one.identifiers) for one in Subject.objects.all()]
    secrets = {value for one in stored for value in one.values() if len(value) > 3}
    for login in study.run["logins"].values():
        secrets |= {login["password"], login["token"]}
    text = json.dumps(list(written.values("label", "reason", "old", "new")), ensure_ascii=False)
    assert [value for value in {*secrets, OLD, NEW} if value in text] == []
