"""What a REDCap address and token can do, asked of REDCap itself (reference/redcap_dify.md 1.1 to 1.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TypeVar

from django.utils.timezone import now
from django.utils.translation import gettext as _

from integrations.redcap import RedcapClient, RedcapError, RedcapPermissionError
from projects.models import Project
from study.client import NotConfiguredError, redcap_client
from study.setup.steps import Line

T = TypeVar("T")
MOST_NAMED = 5


def test(project: Project) -> list[Line]:
    """Version and project, dictionary, which data the token may export, sites, log; nothing is stored."""
    try:
        client = redcap_client(project)
        return [*_lines(client)]
    except (RedcapError, NotConfiguredError) as error:
        return [Line(False, str(error))]


def _lines(client: RedcapClient) -> Iterator[Line]:
    version, about = client.version(), client.project()
    told = {"version": version, "title": str(about.get("project_title") or "-")}
    yield Line(True, _("REDCap %(version)s answers; the token opens “%(title)s”.") % told)
    fields = client.metadata()
    kind = (
        _("with visits as events") if str(about["is_longitudinal"]) == "1" else _("without events")
    )
    counts = {"fields": len(fields), "forms": len({f["form_name"] for f in fields}), "kind": kind}
    yield Line(True, _("Dictionary: %(fields)d fields on %(forms)d forms, %(kind)s.") % counts)
    yield _data(client)
    yield from _groups(client)
    yield _log(client)


def _data(client: RedcapClient) -> Line:
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


def _groups(client: RedcapClient) -> Iterator[Line]:
    groups = _may(client.dags)
    if groups is None:
        yield Line(False, _("The token may not read data access groups: sites stay unknown."))
    elif groups:
        names = "、".join(str(row["data_access_group_name"]) for row in groups[:MOST_NAMED])
        told = {"count": len(groups), "names": names}
        yield Line(True, _("%(count)d data access groups as sites: %(names)s") % told)
    else:
        yield Line(True, _("No data access groups: the study has one site."))


def _log(client: RedcapClient) -> Line:
    begin = now() - timedelta(days=1)
    if _may(lambda: client.log(begin=begin)) is None:
        return Line(True, _("The log may not be read: changes are found by their dates."))
    return Line(True, _("The log may be read: changes are found at once."))


def _may(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except RedcapPermissionError:
        return None
