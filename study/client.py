"""The outward clients of a study, from what the console stores for it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.cache import cache
from django.utils.translation import gettext as _

from core.integrations.dify import DifyClient
from core.integrations.redcap import (
    ExportShape,
    RedcapClient,
    RedcapError,
    RedcapUnavailable,
    limiter_for,
)
from projects.models import Project
from study.metadata import StudyMetadata
from study.models import Dictionary


class NotConfiguredError(Exception):
    """The study has no address or no key for this outside system."""

    def __init__(self, code: str, system: str) -> None:
        told = _("%(system)s is not set up for study %(code)s: address or key is missing or wrong.")
        super().__init__(told % {"system": system, "code": code})
        self.system = system


class OtherProjectError(RedcapUnavailable):
    """Address and token open another REDCap project than what is stored came from: nothing is read from it.

    `found`: its id. Taken for an outage, until somebody confirms it (`study.dictionary.accept_other_project`).
    """

    def __init__(self, found: str) -> None:
        super().__init__(200, "another project", "project")
        self.found = found

    def __str__(self) -> str:
        told = _("The token opens another REDCap project (%(id)s); somebody has to confirm it.")
        return told % {"id": self.found}


class NeverReadError(Exception):
    """No subject of the study was ever read: what is counted of nothing is not 0 (design.md 9.8)."""


def why_unread(error: Exception) -> str:
    """Why nothing was read from REDCap: what is not set up, or that it does not answer."""
    if isinstance(error, NotConfiguredError | OtherProjectError):
        return str(error)
    if isinstance(error, NeverReadError):
        return _("The subjects of this study were not read from REDCap yet.")
    return _("REDCap could not be read.")


def redcap_client(project: Project, shape: ExportShape | None = None) -> RedcapClient:
    """The study's REDCap. Raises NotConfiguredError, OtherProjectError; RedcapError where it is asked."""
    client = new_client(project, shape)
    if project.redcap_is_new:
        check_project(project, client.project())
        Project.objects.filter(pk=project.pk).update(redcap_is_new=False)
        project.redcap_is_new = False
    return client


def check_project(project: Project, settings_read: dict[str, Any]) -> None:
    """Raises OtherProjectError where REDCap's project is not the one whose dictionary is stored."""
    known = Dictionary.objects.filter(project=project).values_list("content__project", flat=True)
    before = str((known.first() or {}).get("project_id") or "")
    found = str(settings_read.get("project_id") or "")
    if before and found != before:
        Project.objects.filter(pk=project.pk).update(redcap_is_new=True)
        raise OtherProjectError(found)


def new_client(project: Project, shape: ExportShape | None = None) -> RedcapClient:
    """A client of whatever project address and token open. Raises NotConfiguredError."""
    if not project.redcap_url or not project.redcap_token:
        raise NotConfiguredError(project.code, "REDCap")
    limiter = limiter_for(project.redcap_url, settings.REDCAP_REQUESTS_PER_SECOND)
    try:
        return RedcapClient(
            project.redcap_url,
            project.redcap_token,
            limiter=limiter,
            shape=shape,
            pause=settings.REDCAP_RETRY_PAUSE_S,
        )
    except ValueError as error:
        raise NotConfiguredError(project.code, "REDCap") from error


def dify_client(project: Project) -> DifyClient:
    """The study's knowledge base. Raises NotConfiguredError."""
    if not (project.dify_url and project.dify_key and project.dify_dataset_id):
        raise NotConfiguredError(project.code, "Dify")
    return DifyClient(
        project.dify_url,
        project.dify_key,
        project.dify_dataset_id,
        pause=settings.DIFY_RETRY_PAUSE_S,
    )


_KEPT_S, _UNKNOWN_S = 86_400, 600


def record_link(project: Project, metadata: StudyMetadata, record_id: str) -> str:
    """The record's home page; the project's own where REDCap does not say its version; "" without a project."""
    return _link(project, metadata, "record_home.php", {"id": record_id})


def field_link(
    project: Project,
    metadata: StudyMetadata,
    record_id: str,
    field: str,
    event: str = "",
    instance: str = "",
) -> str:
    """The form for data entry with the field in focus; the record's home page where it cannot be named.

    REDCap finds the event of a classic project by itself; of a longitudinal one it wants the number.
    `field`: also a column of the export (a checkbox with its choice), `<form>_complete`, or a form.
    """
    name = metadata.columns.get(field, (field, ""))[0]
    form = metadata.form_of(name)
    number = metadata.event_ids.get(event)
    if form not in metadata.form_names or (metadata.longitudinal and not number):
        return record_link(project, metadata, record_id)
    asked = {"id": record_id, "event_id": number or "", "page": form, "instance": instance}
    focus = {"fldfocus": name} if name in metadata.fields else {}
    asked = {key: value for key, value in asked.items() if value} | focus
    return _link(project, metadata, "index.php", asked)


def _link(project: Project, metadata: StudyMetadata, page: str, asked: dict[str, str]) -> str:
    number = metadata.project.get("project_id")
    if not project.redcap_url or not number:
        return ""
    base = project.redcap_url.rstrip("/").removesuffix("/api")
    version = _version(project)
    if not version:
        return f"{base}/index.php?{urlencode({'pid': number})}"
    return f"{base}/redcap_v{version}/DataEntry/{page}?{urlencode({'pid': number} | asked)}"


def _version(project: Project) -> str:
    """REDCap's version, asked for once a day; "" in an outage, for a while."""
    key = f"redcap-version:{project.pk}"
    known: str | None = cache.get(key)
    if known is not None:
        return known
    try:
        found, seconds = redcap_client(project).version(), _KEPT_S
    except (RedcapError, NotConfiguredError):
        found, seconds = "", _UNKNOWN_S
    cache.set(key, found, seconds)
    return found
