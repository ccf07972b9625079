"""The outward clients of a study, from what the console stores for it."""

from django.conf import settings
from django.utils.translation import gettext as _

from integrations.dify import DifyClient
from integrations.redcap import ExportShape, RedcapClient, limiter_for
from projects.models import Project


class NotConfiguredError(Exception):
    """The study has no address or no key for this outside system."""

    def __init__(self, code: str, system: str) -> None:
        told = _("%(system)s is not set up for study %(code)s: address or key is missing or wrong.")
        super().__init__(told % {"system": system, "code": code})
        self.system = system


def redcap_client(project: Project, shape: ExportShape | None = None) -> RedcapClient:
    """The study's REDCap. Raises NotConfiguredError."""
    if not project.redcap_url or not project.redcap_token:
        raise NotConfiguredError(project.code, "REDCap")
    limiter = limiter_for(project.redcap_url, settings.REDCAP_REQUESTS_PER_SECOND)
    try:
        return RedcapClient(project.redcap_url, project.redcap_token, limiter=limiter, shape=shape)
    except ValueError as error:
        raise NotConfiguredError(project.code, "REDCap") from error


def dify_client(project: Project) -> DifyClient:
    """The study's knowledge base. Raises NotConfiguredError."""
    if not (project.dify_url and project.dify_key and project.dify_dataset_id):
        raise NotConfiguredError(project.code, "Dify")
    return DifyClient(project.dify_url, project.dify_key, project.dify_dataset_id)
