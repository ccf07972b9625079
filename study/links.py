"""Where a subject is found in REDCap itself, for people who have an account there."""

from __future__ import annotations

from urllib.parse import urlencode

from django.core.cache import cache

from integrations.redcap import RedcapError
from projects.models import Project
from study.client import NotConfiguredError, redcap_client
from study.metadata import StudyMetadata

_KEPT_S, _UNKNOWN_S = 86_400, 600


def record_link(project: Project, metadata: StudyMetadata, record_id: str) -> str:
    """The record's home page; the project's own where REDCap does not say its version; "" without a project."""
    number = metadata.project.get("project_id")
    if not project.redcap_url or not number:
        return ""
    base = project.redcap_url.rstrip("/").removesuffix("/api")
    version = _version(project)
    if not version:
        return f"{base}/index.php?{urlencode({'pid': number})}"
    query = urlencode({"pid": number, "id": record_id})
    return f"{base}/redcap_v{version}/DataEntry/record_home.php?{query}"


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
