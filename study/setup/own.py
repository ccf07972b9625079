"""The steps that this app knows: REDCap, the first reading, sites, people, visit plan, protocol, Dify."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from integrations.dify import DifyError
from privacy.gate import Gate
from privacy.outbound_policy import PrivacyError
from projects import wecom_ids
from projects.models import Member, Project, Role
from study import dictionary
from study.client import NotConfiguredError, dify_client
from study.models import ProtocolDocument, Subject, SyncState
from study.setup import redcap
from study.setup.steps import Line, State, Step

PAGE = "admin:projects_project_setup"


def _here(project: Project) -> str:
    return reverse(PAGE, args=[project.pk])


def _settings(project: Project) -> str:
    return reverse("admin:projects_project_change", args=[project.pk])


def _of(name: str, project: Project, **query: str) -> str:
    return f"{reverse(name)}?{urlencode({'project': str(project.pk)} | query)}"


def _redcap(project: Project) -> tuple[State, str]:
    if not (project.redcap_url and project.redcap_token):
        return State.MISSING, _("Address and token of the study's REDCap project.")
    return State.DONE, project.redcap_url


def _reading(project: Project) -> tuple[State, str]:
    state = SyncState.objects.filter(project=project).first()
    if state and state.failed_at and (not state.roster_at or state.failed_at > state.roster_at):
        return State.FAILED, state.error
    if not (state and state.roster_at):
        return State.MISSING, _("Nothing was read yet.")
    return State.DONE, _("%(records)d subjects were read.") % {"records": state.records}


def _sites(project: Project) -> tuple[State, str]:
    if dictionary.stored(project) is None:
        return State.OPTIONAL, _("Known after the first reading.")
    sites = dictionary.load(project).sites
    if not sites:
        return State.DONE, _("No data access groups: the study has one site.")
    crcs = Member.objects.filter(project=project, is_active=True, role=Role.CRC)
    if not crcs.exclude(site="").exists():
        return State.MISSING, _("No CRC is assigned to one of the %d sites.") % len(sites)
    return State.DONE, "、".join(sites.values())


def _members(project: Project) -> tuple[State, str]:
    rows = Member.objects.filter(project=project, is_active=True)
    held = list(rows.values_list("role", "wecom_userid"))
    lacking = [role.label for role in (Role.PI, Role.CRC, Role.ADMIN) if role not in dict(held)]
    if lacking:
        return State.MISSING, _("Nobody yet as: %s") % "、".join(map(str, lacking))
    without = sum(not userid for _role, userid in held)
    if without:
        return State.MISSING, _("%d members have no WeCom userid and get no message.") % without
    return State.DONE, _("%d members") % len(held)


def _plan(project: Project) -> tuple[State, str]:
    count = project.visit_plan.count()
    if not count:
        return State.MISSING, _("No visit is planned: nothing is due and nobody is reminded.")
    return State.DONE, _("%d planned visits") % count


def _protocol(project: Project) -> tuple[State, str]:
    count = ProtocolDocument.objects.filter(project=project, is_active=True).count()
    if not count:
        return State.MISSING, _("No document: questions about the protocol find nothing.")
    return State.DONE, _("%d documents") % count


def _dify(project: Project) -> tuple[State, str]:
    if not project.dify_url:
        return State.OPTIONAL, _("Without Dify the uploaded documents are searched here.")
    return State.DONE, project.dify_url


def _test_dify(project: Project) -> list[Line]:
    try:
        found = dify_client(project).retrieve(Gate().text(_("inclusion criteria")))
    except (DifyError, NotConfiguredError, PrivacyError, ValueError) as error:
        return [Line(False, str(error) or type(error).__name__)]
    return [Line(bool(found), _("%d passages found for “inclusion criteria”.") % len(found))]


def _test_reading(project: Project) -> list[Line]:
    count = Subject.objects.filter(project=project, is_present=True).count()
    return [Line(bool(count), _("%d subjects are stored.") % count)]


def _test_members(project: Project) -> list[Line]:
    rows = Member.objects.filter(project=project, is_active=True).exclude(wecom_userid="")
    userids = rows.order_by("wecom_userid").values_list("wecom_userid", flat=True)
    return [Line(told.ok, told.text) for told in wecom_ids.ask(userids)]


STEPS = (
    Step(
        "redcap",
        gettext_lazy("REDCap"),
        gettext_lazy(
            "Where the data are, and the token to read them; nothing is ever written there."
        ),
        _redcap,
        _here,
        redcap.test,
    ),
    Step(
        "reading",
        gettext_lazy("First reading"),
        gettext_lazy("Dictionary and subjects are read once now, then kept current."),
        _reading,
        _here,
        _test_reading,
    ),
    Step(
        "sites",
        gettext_lazy("Sites"),
        gettext_lazy("Data access groups are the sites; who is of a site sees its subjects only."),
        _sites,
        _here,
    ),
    Step(
        "members",
        gettext_lazy("Members"),
        gettext_lazy("Who takes part, in which role, and under which WeCom userid."),
        _members,
        lambda project: (
            f"{reverse('admin:projects_member_changelist')}?project__id__exact={project.pk}"
        ),
        _test_members,
    ),
    Step(
        "plan",
        gettext_lazy("Visit plan"),
        gettext_lazy("Which date is which visit, and when it is due."),
        _plan,
        _here,
    ),
    Step(
        "protocol",
        gettext_lazy("Protocol"),
        gettext_lazy("Documents that questions about the protocol are answered from."),
        _protocol,
        lambda project: _of("admin:study_protocoldocument_add", project),
    ),
    Step(
        "dify",
        gettext_lazy("Dify"),
        gettext_lazy("A knowledge base that is searched instead of the uploaded documents."),
        _dify,
        _settings,
        _test_dify,
    ),
)
