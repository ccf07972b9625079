"""Runs with their reviews in the API (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.http import Http404
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from engines import sop
from engines.models import TaskRun
from engines.models.runs import Batch
from engines.review_view import review_view
from engines.run_serializers import TaskRunSerializer
from engines.sop.batches import progress, visible
from engines.sop.order_run import (
    OnSchedule,
    RecordNotFound,
    check_order,
    dry_run_for,
    rerun_for,
    start_batch_for,
    start_for,
)
from engines.sop.serializers import (
    BatchStartedSerializer,
    DecisionSerializer,
    DriedSerializer,
    DryRunSerializer,
    ProgressSerializer,
    ReasonSerializer,
    StartBatchSerializer,
    StartedSerializer,
    StartSerializer,
    valid_config,
)
from house.api_errors import Conflict, Unavailable
from integrations.redcap import RedcapError
from projects.api import ReadViewSet, find_project, not_allowed, require_role
from projects.models import Project, TokenScope
from skills.models import Skill
from study.client import NotConfiguredError

UUID_PATTERN = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
BATCH = OpenApiParameter("batch", UUID, OpenApiParameter.PATH)


@method_decorator(sensitive_post_parameters("password"), name="dispatch")
class TaskRunViewSet(ReadViewSet):
    """Runs: start, rehearse, repeat, approve, reject, cancel."""

    queryset = TaskRun.objects.none()
    serializer_class = TaskRunSerializer
    write_scope = TokenScope.RUN
    filterset_fields = ("project__code", "status", "record_id", "skill__skill_type")

    @extend_schema(request=StartSerializer, responses={201: StartedSerializer})
    @action(detail=False, methods=["post"], serializer_class=StartSerializer)
    def start(self, request: Request) -> Response:
        """Start a workflow on a subject."""
        order = StartSerializer(data=request.data)
        order.is_valid(raise_exception=True)
        project = find_project(request, order.validated_data["project"])
        require_role(request, project.pk, *sop.DECIDERS)
        skill = _skill(project, order.validated_data["skill_type"])
        with _said():
            run = start_for(request.user, project, skill, order.validated_data["record_id"])
        return Response({"id": str(run.pk), "status": run.status}, status=201)

    @extend_schema(request=DryRunSerializer, responses=DriedSerializer)
    @action(detail=False, methods=["post"], url_path="dry-run", serializer_class=DryRunSerializer)
    def dry_run(self, request: Request) -> Response:
        """Say what a workflow would do with a subject; nothing is started or stored."""
        order = DryRunSerializer(data=request.data)
        order.is_valid(raise_exception=True)
        said = order.validated_data
        project = find_project(request, said["project"])
        allowed = ("ADMIN",) if "config" in said else sop.DECIDERS
        require_role(request, project.pk, *allowed)
        config = (
            valid_config(said["config"], project)
            if "config" in said
            else _skill(project, said["skill_type"]).config
        )
        with _said():
            done = dry_run_for(
                request.user, project, config, said["record_id"], ask_llm=said["ask_llm"]
            )
        return Response(DriedSerializer(done).data)

    @extend_schema(request=None, responses={201: StartedSerializer})
    @action(detail=True, methods=["post"])
    def rerun(self, request: Request, pk: str) -> Response:
        """Repeat an ended run: the workflow's current version on the subject as it is now."""
        run: TaskRun = self.get_object()
        require_role(request, run.project_id, *sop.DECIDERS)
        with _said():
            again = rerun_for(request.user, run)
        return Response({"id": str(again.pk), "status": again.status}, status=201)

    @extend_schema(request=StartBatchSerializer, responses={201: BatchStartedSerializer})
    @action(
        detail=False,
        methods=["post"],
        url_path="start-batch",
        serializer_class=StartBatchSerializer,
    )
    def start_batch(self, request: Request) -> Response:
        """Start a workflow on many subjects, a few at a time."""
        order = StartBatchSerializer(data=request.data)
        order.is_valid(raise_exception=True)
        said = order.validated_data
        project = find_project(request, said["project"])
        require_role(request, project.pk, *sop.DECIDERS)
        skill = _skill(project, said["skill_type"])
        with _said():
            batch = start_batch_for(
                request.user, project, skill, said.get("record_ids"), cap=said["cap"]
            )
        return Response({"id": str(batch.pk), "total": len(batch.record_ids)}, status=201)

    @extend_schema(parameters=[BATCH], responses=ProgressSerializer, filters=False)
    @action(
        detail=False,
        url_path=f"batches/(?P<batch>{UUID_PATTERN})",
        pagination_class=None,
        serializer_class=ProgressSerializer,
    )
    def batches(self, request: Request, batch: str) -> Response:
        """How far a batch is."""
        found, mine = _batch(request, batch)
        return Response({"id": str(found.pk), **progress(found, mine)})

    @extend_schema(parameters=[BATCH], request=ReasonSerializer, responses=ProgressSerializer)
    @action(
        detail=False,
        methods=["post"],
        url_path=f"batches/(?P<batch>{UUID_PATTERN})/cancel",
        serializer_class=ReasonSerializer,
    )
    def cancel_batch(self, request: Request, batch: str) -> Response:
        """Start no more runs of a batch and end those that are running."""
        found, _mine = _batch(request, batch)
        if not sop.may_cancel_batch(request.user, found):
            raise not_allowed()
        said = ReasonSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        try:
            found = sop.cancel_batch(batch=found, actor=request.user, **said.validated_data)
        except sop.NotSuspended as error:
            raise Conflict(str(error), "already_cancelled") from error
        return Response({"id": str(found.pk), **progress(found)})

    @extend_schema(request=DecisionSerializer, responses=TaskRunSerializer)
    @action(
        detail=True,
        methods=["post"],
        serializer_class=DecisionSerializer,
        write_scope=TokenScope.DECIDE,
    )
    def approve(self, request: Request, pk: str) -> Response:
        """Approve what was shown."""
        return self._decide(request, "approve")

    @extend_schema(request=DecisionSerializer, responses=TaskRunSerializer)
    @action(
        detail=True,
        methods=["post"],
        serializer_class=DecisionSerializer,
        write_scope=TokenScope.DECIDE,
    )
    def reject(self, request: Request, pk: str) -> Response:
        """Reject what was shown, with a reason."""
        return self._decide(request, "reject")

    @extend_schema(request=ReasonSerializer, responses=TaskRunSerializer)
    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def cancel(self, request: Request, pk: str) -> Response:
        """End a run that is not wanted any more."""
        run = self.get_object()
        require_role(request, run.project_id, *sop.DECIDERS)
        said = ReasonSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        try:
            run = sop.cancel(run=run, actor=request.user, **said.validated_data)
        except sop.NotAllowed as error:
            raise not_allowed() from error
        except sop.NotSuspended as error:
            raise Conflict(str(error), error.code) from error
        return Response(TaskRunSerializer(run).data)

    @sensitive_variables()
    def _decide(self, request: Request, decision: sop.Decision) -> Response:
        run: TaskRun = self.get_object()
        serializer = DecisionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        said = serializer.validated_data
        review = sop.open_review(run) or sop.reviews_of(run).first()
        if review is None:
            raise Conflict(sop.WRONG_STATE, sop.NotSuspended.code, review=None)
        try:
            sop.decide(
                review_id=review.pk,
                actor=cast(AbstractBaseUser, request.user),  # anonymous requests ended before
                decision=decision,
                reason=said["reason"],
                seen=said["seen"],
                signature=sop.Signature(request._request, said["password"]),
            )
        except sop.NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        except (sop.SignatureRequired, sop.SignatureWrong) as error:
            raise PermissionDenied(str(error), error.code) from error
        except sop.ReasonRequired as error:
            raise serializers.ValidationError({"reason": [str(error)]}) from error
        except (sop.NotSuspended, sop.ValuesChanged) as error:
            shown = review_view(error.review) if error.review else None
            raise Conflict(str(error), error.code, review=shown) from error
        run.refresh_from_db()  # of several that waited it need not be the one that has gone on already
        return Response(TaskRunSerializer(run).data)


def _skill(project: Project, kind: str) -> Skill:
    """The workflow, one that a person may order. Raises ValidationError."""
    skill = Skill.objects.filter(project=project, skill_type=kind, is_active=True).first()
    if skill is None:
        raise serializers.ValidationError({"skill_type": [_("There is no such workflow.")]})
    try:
        check_order(skill)
    except OnSchedule as error:
        raise serializers.ValidationError({"skill_type": [str(error)]}) from error
    return skill


def _batch(request: Request, pk: str) -> tuple[Batch, list[str]]:
    """A batch with those of its subjects that the user may see. Raises Http404 where there is none."""
    batch = Batch.objects.select_related("project", "skill").filter(pk=pk).first()
    mine = visible(request.user, batch) if batch else []
    if batch is None or not mine:
        raise Http404
    return batch, mine


@contextmanager
def _said() -> Iterator[None]:
    """Errors of an order as answers of the API."""
    try:
        yield
    except RecordNotFound as error:
        raise Http404 from error
    except (RedcapError, NotConfiguredError) as error:
        raise Unavailable(_("REDCap could not be read.")) from error
    except (sop.NotEnded, sop.Inactive, sop.NothingToDo, OnSchedule) as error:
        raise Conflict(str(error), error.code) from error
