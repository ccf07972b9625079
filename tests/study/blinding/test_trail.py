"""What rests on blinded fields has a chain of its own: the trail of the blinded is numbered without it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.timezone import now

from core.house import clock
from engines.briefing import daily_briefing
from engines.briefing_material import Material, Reading
from memory.models import ConversationHistory
from projects import audit
from projects.models import AuditEntry, AuditHead, Member, Person
from projects.people import link
from skills.graph import Node
from tests.study.blinding import life, workflows
from tests.support.study import Study

CHECK = "/admin/projects/auditentry/check/"
HEADS = "/admin/projects/audithead/"


def chains(study: Study) -> tuple[str, str]:
    key = study.project.pk
    return audit.chain_of(key), audit.chain_of(key, unblinds=True)


@pytest.fixture
def lived(study: Study) -> Study:
    """Runs that read a blinded field between runs that do not; the first of the former asks."""
    checks = life.skill(study, "qc_std", workflows.CHECKS)
    telling = life.skill(study, "qc_process:level", workflows.TELLING)
    for record_id in ("P001", "P004"):
        for kind in (telling, checks):
            life.run_of(study, kind, record_id)
    return study


def see(study: Study, *, unblinded: bool) -> tuple[Client, Member]:
    """The administrator, a superuser as well."""
    Member.objects.filter(pk=study["admin"].pk).update(is_unblinded=unblinded)
    client = Client()
    client.force_login(
        User.objects.get(username="admin"),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    member = Member.objects.select_related("project", "person__user").get(pk=study["admin"].pk)
    return client, member


def test_hidden_entries_leave_no_gap_in_the_numbers(lived: Study) -> None:
    open_chain, hidden_chain = chains(lived)
    hidden = AuditEntry.objects.filter(unblinds=True)
    assert {*hidden.values_list("chain", flat=True)} == {hidden_chain}
    shown = AuditEntry.objects.for_member(see(lived, unblinded=False)[1]).order_by("number")
    assert {*shown.values_list("chain", flat=True)} == {open_chain}
    numbers = [*shown.values_list("number", flat=True)]
    assert numbers == [*range(numbers[0], numbers[0] + len(numbers))]
    by_number = {entry.number: entry.hash for entry in shown}
    assert all(entry.previous == by_number[entry.number - 1] for entry in shown[1:])
    assert AuditHead.objects.get(chain=open_chain).length == numbers[-1]
    assert [*audit.verify()] == []


@pytest.mark.full
def test_what_was_hidden_among_the_others_before_still_holds(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    telling = life.skill(study, "qc_process:level", workflows.TELLING)
    chain_of = audit.chain_of
    with monkeypatch.context() as patch:
        patch.setattr(audit, "chain_of", lambda key, **_given: chain_of(key))
        life.run_of(study, telling, "P001")
    life.run_of(study, telling, "P004")
    rows = AuditEntry.objects.filter(unblinds=True)
    assert {*rows.values_list("chain", flat=True)} == {*chains(study)}
    assert [*audit.verify()] == []


@pytest.mark.full
@pytest.mark.parametrize("unblinded", [False, True])
def test_who_is_told_of_the_hidden_chain(lived: Study, unblinded: bool) -> None:
    open_chain, hidden_chain = chains(lived)
    client, member = see(lived, unblinded=unblinded)
    page: Any = client.get(CHECK)
    assert (hidden_chain in dict(page.context["chains"])) == unblinded
    checked = client.post(CHECK, {"chain": hidden_chain}).status_code
    assert checked == (200 if unblinded else 403)
    heads: Any = client.get(HEADS)
    listed = {head.chain for head in heads.context["cl"].result_list}
    assert open_chain in listed
    assert (hidden_chain in listed) == unblinded
    node = Node.model_validate({"type": "notify", "content": "daily_briefing", "roles": ["ADMIN"]})
    material = Material(member.project, node, clock.now(), Reading())
    told = daily_briefing(material.for_reader(member)).render()
    hidden = AuditEntry.objects.filter(chain=hidden_chain).order_by("-number").first()
    assert hidden
    assert (f"{hidden.number} {hidden.hash[:16]}" in told) == unblinded


def test_who_knew_without_a_userid_is_hidden_under_the_new_one_too(lived: Study) -> None:
    """Their words were kept under the login; who links them to WeCom later shows nobody what they said."""
    project = lived.project
    person = Person.objects.create(user=User.objects.create(username="monitor"))
    told = {"role": "CRC", "wecom_userid": "", "unblinded_at": now(), "is_unblinded": True}
    Member.objects.create(project=project, person=person, **told)
    words = {"role": "user", "content": "试验组先用药", "intent": "CHAT"}
    said = ConversationHistory.objects.create(project=project, user_id="monitor", **words)
    person.wecom_userid = "mo"
    link(person=person, actor=User.objects.create_superuser("root"))
    admin = lived["admin"]
    assert not admin.is_unblinded
    assert not ConversationHistory.objects.for_member(admin).filter(pk=said.pk).exists()
