"""The steps that this app knows: REDCap, the first reading, sites, people, visit plan, protocol, Dify."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TypeVar

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from core.house.request_cache import once
from core.house.validators import validate_pattern
from core.integrations.dify import DifyError
from core.integrations.redcap import (
    RedcapClient,
    RedcapError,
    RedcapPermissionError,
    RedcapUnavailable,
)
from core.privacy.gate import Gate
from core.privacy.outbound_policy import PrivacyError
from projects import wecom_ids
from projects.models import Member, Project, Role
from study import dictionary, record_ids
from study.client import NotConfiguredError, dify_client, redcap_client
from study.metadata import StudyMetadata
from study.models import ProtocolDocument
from study.records import state_of
from study.roster import present_ids
from study.setup import plan
from study.setup.steps import Line, State, Step, refusal_lines

PAGE = "admin:projects_project_setup"


def _here(project: Project) -> str:
    return reverse(PAGE, args=[project.pk])


def _redcap(project: Project) -> tuple[State, str]:
    if not (project.redcap_url and project.redcap_token):
        return State.MISSING, _("Address and token of the study's REDCap project.")
    state = state_of(project)
    was_read = state is not None and state.roster_at is not None
    return (State.DONE if was_read else State.UNTESTED), project.redcap_url


def _reading(project: Project) -> tuple[State, str]:
    state = state_of(project)
    if state and state.failed_at and (not state.roster_at or state.failed_at > state.roster_at):
        return State.FAILED, state.get_cause_display()
    if not (state and state.roster_at):
        return State.MISSING, _("Nothing was read yet.")
    return State.DONE, _("%(records)d subjects were read.") % {"records": state.records}


def _identity(project: Project) -> tuple[State, str]:
    if (metadata := _dictionary(project)) is None:
        return State.OPTIONAL, _("Known after the first reading.")
    open_dates = plan.open_dates(metadata)
    if open_dates:
        told = ngettext(
            "%d date may identify a person; nothing of it is told until you answer.",
            "%d dates may identify a person; nothing of them is told until you answer.",
            len(open_dates),
        )
        return State.MISSING, told % len(open_dates)
    try:
        validate_pattern(project.record_id_pattern)
    except ValidationError as refused:
        return State.FAILED, refused.messages[0]
    ids = present_ids(project)
    if not project.record_id_pattern and record_ids.are_numbers(ids):
        return State.MISSING, _(
            "Subject ids are plain numbers: please confirm what they look like."
        )
    return State.DONE, project.record_id_pattern or _("the usual forms of ids")


def _dictionary(project: Project) -> StudyMetadata | None:
    """As last read; None where it never was."""
    return dictionary.load(project) if dictionary.stored(project) is not None else None


def _people(project: Project) -> list[Member]:
    rows = Member.objects.filter(project=project, is_active=True).select_related("person__user")
    return once(("people of", project.pk), lambda: [*rows])


def _sites(project: Project) -> tuple[State, str]:
    if (metadata := _dictionary(project)) is None:
        return State.OPTIONAL, _("Known after the first reading.")
    sites = metadata.sites
    if not sites:
        return State.DONE, _("No data access groups: the study has one site.")
    crcs = [one for one in _people(project) if one.role == Role.CRC]
    if not any(one.site for one in crcs):
        return State.MISSING, _("No CRC is assigned to one of the %d sites.") % len(sites)
    told = "、".join(sites.values())
    whole = [one.display_name or one.identity for one in crcs if not one.site]
    if whole:
        told += "; " + _("coordinators of all sites: %s") % "、".join(whole)
    return State.DONE, told


def _members(project: Project) -> tuple[State, str]:
    held = [(one.role, one.wecom_userid) for one in _people(project)]
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
    if not (project.withdraw_field or project.has_no_withdraw_field):
        return State.MISSING, _(
            "Nobody said yet which date tells that a subject left: who left would be overdue."
        )
    return State.DONE, _("%d planned visits") % count


def _protocol(project: Project) -> tuple[State, str]:
    count = ProtocolDocument.objects.filter(project=project, is_active=True).count()
    if not count:
        return State.MISSING, _("No document: questions about the protocol find nothing.")
    return State.DONE, _("%d documents") % count


def _dify(project: Project) -> tuple[State, str]:
    if not project.dify_url:
        return State.OPTIONAL, _("Without Dify the uploaded documents are searched here.")
    return State.UNTESTED, project.dify_url


def _test_dify(project: Project) -> list[Line]:
    try:
        found = dify_client(project).retrieve(Gate().text(_("inclusion criteria")))
    except (DifyError, NotConfiguredError, PrivacyError, ValueError) as error:
        return refusal_lines(error)
    return [Line(bool(found), _("%d passages found for “inclusion criteria”.") % len(found))]


def _test_reading(project: Project) -> list[Line]:
    count = len(present_ids(project))
    return [Line(bool(count), _("%d subjects are stored.") % count)]


def _test_members(project: Project) -> list[Line]:
    userids = [userid for userid in _userids(project) if userid]
    return [Line(told.ok, told.text) for told in wecom_ids.ask(userids)]


def _userids(project: Project) -> Iterable[str]:
    rows = Member.objects.filter(project=project, is_active=True).order_by("wecom_userid")
    return rows.values_list("wecom_userid", flat=True)


T = TypeVar("T")
MOST_NAMED = 5


def test_redcap(project: Project) -> list[Line]:
    """Version and project, dictionary, which data the token may export, sites, log; nothing is stored."""
    try:
        client = redcap_client(project)
        lines = [*_redcap_lines(client)]
        return [*lines, *_query_lines(client)] if project.reads_queries else lines
    except (RedcapError, NotConfiguredError) as error:
        return refusal_lines(error)


def _redcap_lines(client: RedcapClient) -> Iterator[Line]:
    version, about = client.version(), client.project()
    told = {"version": version, "title": str(about.get("project_title") or "-")}
    yield Line(True, _("REDCap %(version)s answers; the token opens “%(title)s”.") % told)
    fields = client.metadata()
    kind = (
        _("with visits as events") if str(about["is_longitudinal"]) == "1" else _("without events")
    )
    counts = {"fields": len(fields), "forms": len({f["form_name"] for f in fields}), "kind": kind}
    yield Line(True, _("Dictionary: %(fields)d fields on %(forms)d forms, %(kind)s.") % counts)
    yield _test_data(client)
    yield from _test_groups(client)
    yield _test_log(client)


def _test_data(client: RedcapClient) -> Line:
    """How many records, and whether identifying fields are kept from the token."""
    shape = client.shape()
    marked = [str(r["field_name"]) for r in shape.metadata if r.get("identifier") == "y"]
    try:
        found = client.records(fields=[name for name in marked if name != shape.record_id_field])
    except RedcapPermissionError:
        return Line(False, _("The token may not export data: give its user the right to export."))
    records = len({row[shape.record_id_field] for row in found.rows})
    if found.missing_columns:
        text = _(
            "%(records)d records; identifying fields are kept from the token (de-identified export), so that "
            "names cannot be recognised and masked in free text."
        )
        return Line(False, text % {"records": records})
    return Line(
        True, _("%(records)d records; the token exports all fields.") % {"records": records}
    )


def _test_groups(client: RedcapClient) -> Iterator[Line]:
    groups = _may(client.dags)
    if groups is None:
        yield Line(False, _("The token may not read data access groups: sites stay unknown."))
    elif groups:
        names = "、".join(str(row["data_access_group_name"]) for row in groups[:MOST_NAMED])
        told = {"count": len(groups), "names": names}
        yield Line(True, _("%(count)d data access groups as sites: %(names)s") % told)
    else:
        yield Line(True, _("No data access groups: the study has one site."))


def _test_log(client: RedcapClient) -> Line:
    begin = now() - timedelta(days=1)
    if _may(lambda: client.log(begin=begin)) is None:
        return Line(True, _("The log may not be read: changes are found by their dates."))
    return Line(True, _("The log may be read: changes are found at once."))


def _query_lines(client: RedcapClient) -> Iterator[Line]:
    """Whether REDCap's own queries can be read; how many are open."""
    pid = str(client.project().get("project_id") or "")
    try:
        count = len(client.open_queries(pid))
    except RedcapPermissionError:
        yield Line(
            False, _("The token may not read REDCap's queries (403): check its user's rights.")
        )
    except RedcapUnavailable:
        yield Line(
            False, _("REDCap did not answer when it was asked for its queries; please try again.")
        )
    except RedcapError:
        told = _(
            "REDCap's queries can't be read: the external module Data Quality API does not answer. "
            "It has to be installed in REDCap and enabled for this project."
        )
        yield Line(False, told)
    else:
        told = ngettext(
            "REDCap's queries can be read: %d is open.",
            "REDCap's queries can be read: %d are open.",
            count,
        )
        yield Line(True, told % count)


def _may(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except RedcapPermissionError:
        return None


STEPS = (
    Step(
        "redcap",
        gettext_lazy("REDCap"),
        gettext_lazy(
            "Where the data are, and the token to read them; nothing is ever written there."
        ),
        _redcap,
        _here,
        test_redcap,
        lambda project: (
            *(project.redcap_url, project.redcap_token),
            *["queries"] * project.reads_queries,
        ),
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
        "identity",
        gettext_lazy("Subject ids and identifying dates"),
        gettext_lazy(
            "How a subject is told from a number, and which dates tell when somebody was born."
        ),
        _identity,
        _here,
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
        _userids,
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
        lambda project: f"{reverse('admin:study_protocoldocument_add')}?project={project.pk}",
    ),
    Step(
        "dify",
        gettext_lazy("Dify"),
        gettext_lazy("A knowledge base that is searched instead of the uploaded documents."),
        _dify,
        lambda project: reverse("admin:projects_project_change", args=[project.pk]),
        _test_dify,
        lambda project: (project.dify_url, project.dify_key, project.dify_dataset_id),
    ),
)
