"""Who writes members' rows: nobody their own, nobody beyond their own site, and never who somebody is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from projects import services
from projects.models import AuditEntry, Member, Person, Project
from tests.house.kit import make_member, make_project

pytestmark = pytest.mark.django_db
MEMBERS = "/admin/projects/member/"
ROLES = ("PI", "CRC", "ADMIN", "AUDITOR")
SITES = ("", "site_a", "site_b")
# Who administers at which site, and the sites whose members' rows are theirs to write.
ADMINS = {"chief": SITES, "chief_a": ("site_a",)}


@pytest.fixture
def alpha(db: None) -> Project:
    project = make_project("ALPHA")
    make_member(project, "chief", "ADMIN")
    make_member(project, "chief_a", "ADMIN", "site_a")
    User.objects.create(username="root", is_superuser=True)
    for role, site in product(ROLES, SITES):
        make_member(project, f"{role}_{site}", role, site)
    User.objects.update(is_staff=True)
    return project


def browser(name: str) -> Client:
    client = Client()
    user = User.objects.get(username=name)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def form(project: Project, **fields: str) -> dict[str, Any]:
    usual = {"project": project.pk, "role": "CRC", "site": "", "language": "en", "is_active": "on"}
    typed = usual | fields
    return typed | ({} if typed["site"] else {"all_sites": "on"})


def member(name: str) -> Member:
    return Member.objects.get(wecom_userid=name.lower())


def state(row: Member) -> tuple[Any, ...]:
    row = Member.objects.get(pk=row.pk)
    return row.role, row.site, row.is_active, row.person_id, row.language


def change(client: Client, row: Member, **fields: str) -> bool:
    """Post a row's page; whether anything was stored."""
    before = state(row)
    client.post(f"{MEMBERS}{row.pk}/change/", form(row.project, **fields))
    return state(row) != before


@pytest.mark.parametrize("name", ["chief", "chief_a", "PI_", "CRC_", "AUDITOR_", "root"])
def test_nobody_changes_their_own_row(name: str, alpha: Project) -> None:
    user = User.objects.get(username=name)
    if name == "root":
        make_member(alpha, name, "AUDITOR")
    own = member(name)
    for fields in ({"role": "PI"}, {"site": "site_b"}, {"language": "en"}, {"is_active": ""}):
        assert not change(browser(name), own, **{"role": own.role, "site": own.site, **fields})
    own.role = "PI"
    with pytest.raises(PermissionDenied):
        services.save_member(member=own, actor=user)
    assert state(own)[0] != "PI" or name == "PI_"


@pytest.mark.full
@pytest.mark.parametrize(("admin", "was", "now"), [*product(ADMINS, SITES, SITES)])
def test_a_site_bounds_what_its_administrator_writes(
    admin: str, was: str, now: str, alpha: Project
) -> None:
    """Rows of her site, which stay in it, whatever the role; what must pass passes."""
    may = {was, now} <= {*ADMINS[admin]}
    for old, new in product(ROLES, ROLES):
        row = member(f"{old}_{was}")
        Member.objects.filter(pk=row.pk).update(role=old, site=was, language="zh-hans")
        assert change(browser(admin), row, role=new, site=now) == may, (old, new)


@pytest.mark.parametrize(("admin", "role", "site"), [*product(ADMINS, ROLES, SITES)])
def test_a_site_bounds_whom_its_administrator_adds(
    admin: str, role: str, site: str, alpha: Project
) -> None:
    fields = {"wecom_userid": "new", "role": role, "site": site}
    browser(admin).post(f"{MEMBERS}add/", form(alpha, **fields))
    assert Member.objects.filter(wecom_userid="new").exists() == (site in ADMINS[admin])


@pytest.mark.full
@pytest.mark.parametrize("role", ROLES)
def test_all_sites_are_chosen_and_never_left_blank(role: str, alpha: Project) -> None:
    client = browser("chief")
    blank = form(alpha, wecom_userid="new", role=role) | {"all_sites": ""}
    refused = client.post(f"{MEMBERS}add/", blank)
    assert "全部中心" in str(refused.context["adminform"].form.errors["site"])
    both = blank | {"site": "site_a", "all_sites": "on"}
    assert client.post(f"{MEMBERS}add/", both).status_code == 200
    assert not Member.objects.filter(wecom_userid="new").exists()
    assert client.post(f"{MEMBERS}add/", blank | {"all_sites": "on"}).status_code == 302
    assert member("new").site == ""
    assert "全部中心" in client.get(MEMBERS).content.decode()
    row = member(f"{role}_site_a")
    client.post(f"{MEMBERS}{row.pk}/change/", form(alpha, role=role) | {"all_sites": ""})
    assert state(row)[1] == "site_a"


@pytest.mark.full
def test_who_sees_all_sites_already_goes_on_so(alpha: Project) -> None:
    row = member("CRC_")
    shown = browser("chief").get(f"{MEMBERS}{row.pk}/change/").context["adminform"].form
    assert shown["all_sites"].value() is True
    assert change(browser("chief"), row, role="PI")
    assert state(row)[:2] == ("PI", "")


def test_an_import_without_a_site_is_refused(alpha: Project) -> None:
    chief = User.objects.get(username="chief")
    new = Member(project=alpha, wecom_userid="new", role="CRC")
    with pytest.raises(ValidationError, match="全部中心"):
        services.save_member(member=new, actor=chief)
    assert not Member.objects.filter(wecom_userid="new").exists()
    moved = member("CRC_site_a")
    moved.site = ""
    with pytest.raises(ValidationError, match="全部中心"):
        services.save_member(member=moved, actor=chief)
    services.save_member(member=moved, actor=chief, all_sites=True)
    assert state(moved)[1] == ""


@pytest.mark.parametrize("name", ["PI_", "CRC_", "AUDITOR_", "stranger"])
def test_others_write_no_members(name: str, alpha: Project) -> None:
    User.objects.get_or_create(username="stranger", is_staff=True)
    assert not change(browser(name), member("CRC_site_a"), site="site_b")
    browser(name).post(f"{MEMBERS}add/", form(alpha, wecom_userid="new"))
    assert not Member.objects.filter(wecom_userid="new").exists()


def test_an_unknown_userid_becomes_a_person_without_a_login(alpha: Project) -> None:
    """Also where a login is called so: who somebody is a superuser says."""
    User.objects.create(username="new")
    browser("chief").post(f"{MEMBERS}add/", form(alpha, wecom_userid="New"))
    assert member("new").user is None
    assert AuditEntry.objects.get(action="member.add", project=alpha).new["wecom_userid"] == "new"


@pytest.mark.parametrize("spelled", ["known", "KNOWN"])
def test_a_known_userid_brings_its_login(spelled: str, alpha: Project) -> None:
    known = make_member(make_project("BETA"), "known")
    browser("chief").post(f"{MEMBERS}add/", form(alpha, wecom_userid=spelled))
    assert Member.objects.get(project=alpha, wecom_userid="known").person == known.person


def test_somebody_without_wecom_is_added_by_their_login(alpha: Project) -> None:
    person = Person.objects.create(user=User.objects.create(username="Monitor"))
    browser("chief").post(f"{MEMBERS}add/", form(alpha, wecom_userid="Monitor"))
    found = Member.objects.get(project=alpha, person=person)
    assert (found.wecom_userid, found.identity) == ("", "Monitor")


def test_nobody_is_a_member_twice(alpha: Project) -> None:
    page = browser("chief").post(f"{MEMBERS}add/", form(alpha, wecom_userid="CRC_"))
    assert page.status_code == 200
    assert Member.objects.filter(project=alpha, wecom_userid="crc_").count() == 1


def test_a_member_page_shows_the_login(as_user: Callable[..., Client], study: Any) -> None:
    page = as_user("admin").get(f"{MEMBERS}{study['zhangyi'].pk}/change/").content.decode()
    assert 'name="user"' not in page
    assert 'name="wecom_userid"' not in page
