"""What the resources of the engines have in common: what is said, and errors of services as answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.views import APIView

from core.house.api_errors import Conflict, Unavailable
from core.integrations.redcap import RedcapError
from engines import sop
from engines.sop.finding_life import Unfit
from engines.sop.order_run import RecordNotFound
from projects.api import ReadViewSet, require_role
from study.client import NotConfiguredError


class ActingViewSet(ReadViewSet):
    """Rows of studies with actions, each of which names the serializer of what it is told."""

    def said(self) -> dict[str, Any]:
        """What the request says to the action. Raises ValidationError."""
        return valid_data(self, self.get_serializer_class())

    def row(self) -> Any:
        """The row that somebody with a say acts on. Raises Http404, PermissionDenied."""
        row = self.get_object()
        require_role(self.request, row.project_id, *sop.DECIDERS, of_site=True)
        return row


def valid_data(view: APIView, kind: type[serializers.BaseSerializer]) -> dict[str, Any]:
    """The body of the request as `kind` takes it. Raises ValidationError."""
    serializer = kind(data=view.request.data)
    serializer.is_valid(raise_exception=True)
    data: dict[str, Any] = serializer.validated_data
    return data


@contextmanager
def service_errors() -> Iterator[None]:
    """Errors of the engines' services as answers of the API."""
    try:
        yield
    except RecordNotFound as error:
        raise Http404 from error
    except NotConfiguredError as error:
        raise Conflict(str(error), "not_configured") from error
    except RedcapError as error:
        raise Unavailable(_("REDCap could not be read.")) from error
    except (sop.SignatureRequired, sop.SignatureWrong) as error:
        raise PermissionDenied(str(error), error.code) from error
    except sop.NotAllowed as error:  # with DRF's own code
        raise PermissionDenied(str(error)) from error
    except sop.ReasonRequired as error:
        raise serializers.ValidationError({"reason": [str(error)]}) from error
    except Unfit as error:
        raise serializers.ValidationError({"detail": [str(error)]}) from error
    except sop.SopError as error:
        raise Conflict(str(error), error.code) from error
