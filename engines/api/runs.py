"""Runs with their reviews in the API (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.house.api_errors import Conflict
from core.house.crypto import DecryptionError
from engines import sop
from engines.api.base import ActingViewSet, service_errors
from engines.models import Batch, Review, TaskRun
from engines.pages.evidence import review_view
from engines.sop.batches import progress, visible
from engines.sop.checks import switch
from engines.sop.findings import finding_line, open_now
from engines.sop.order_run import (
    OnSchedule,
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
from projects.api import find_project, not_allowed, require_role
from projects.models import Project, TokenScope
from projects.token_scopes import require_scope
from skills.models import Skill

UUID_PATTERN = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
BATCH = OpenApiParameter("batch", UUID, OpenApiParameter.PATH)
DECIDING: dict[str, Any] = {
    "detail": True,
    "methods": ["post"],
    "serializer_class": DecisionSerializer,
    "write_scope": TokenScope.DECIDE,
}


class TaskRunSerializer(serializers.ModelSerializer):
    """A run; `review` while it waits for a person."""

    project = serializers.CharField(source="project.code", read_only=True)
    skill_type = serializers.CharField(source="skill.skill_type", read_only=True)
    review = serializers.SerializerMethodField()
    findings = serializers.SerializerMethodField()
    coverage = serializers.SerializerMethodField()

    class Meta:
        model = TaskRun
        fields = (
            *("id", "project", "skill", "skill_type", "skill_version", "record_id"),
            *("triggered_by", "rerun_of", "status", "current_node", "final_state", "message"),
            *("trace", "review", "findings", "coverage"),
            *("suspended_at", "resumed_at", "completed_at"),
            *("created_at", "updated_at"),
        )

    def get_review(self, run: TaskRun) -> dict[str, Any] | None:
        """What the reviewer has to see, while the run is suspended."""
        review = sop.open_review(run) if run.status == TaskRun.Status.SUSPENDED else None
        if review is None:
            return None
        try:
            return review_view(review)
        except DecryptionError:  # without `seen` nobody can decide what nobody can see
            return {"id": review.pk, "version": review.version, "status": review.status}

    def get_findings(self, run: TaskRun) -> list[dict[str, Any]]:
        """What is open of its subject in its workflow now, whichever run found it."""
        return [finding_line(row) for row in open_now(run)]

    def get_coverage(self, run: TaskRun) -> str:
        """What an ended run looked at, and which standard checks are not switched on in its study."""
        if run.status in {TaskRun.Status.RUNNING, TaskRun.Status.SUSPENDED}:
            return ""
        return switch.coverage(run, self._standing(run.project))

    def _standing(self, project: Project) -> frozenset[str]:
        """The standard checks that are on, read once for all runs of a list."""
        known = cast(dict[str, Any], self.context).setdefault("standing", {})
        if project.pk not in known:
            known[project.pk] = switch.running(project)
        found: frozenset[str] = known[project.pk]
        return found


@method_decorator(sensitive_post_parameters("password"), name="dispatch")
class TaskRunViewSet(ActingViewSet):
    """Runs: start, rehearse, repeat, approve, reject, cancel."""

    queryset = TaskRun.objects.none()
    serializer_class = TaskRunSerializer
    write_scope = TokenScope.RUN
    lists_values = True
    filterset_fields = ("project__code", "status", "record_id", "skill__skill_type")

    @extend_schema(request=StartSerializer, responses={201: StartedSerializer})
    @action(detail=False, methods=["post"], serializer_class=StartSerializer)
    def start(self, request: Request) -> Response:
        """Start a workflow on a subject."""
        said = self.said()
        project, skill = self._ordered(said)
        with service_errors():
            run = start_for(request.user, project, skill, said["record_id"])
        return _started(run)

    @extend_schema(request=DryRunSerializer, responses=DriedSerializer)
    @action(detail=False, methods=["post"], url_path="dry-run", serializer_class=DryRunSerializer)
    def dry_run(self, request: Request) -> Response:
        """Say what a workflow would do with a subject; nothing is started or stored."""
        said = self.said()
        if "config" in said:
            project = find_project(request, said["project"])
            require_role(request, project.pk, "ADMIN", of_site=True)
            config = valid_config(said["config"], project)
        else:
            project, skill = self._ordered(said)
            config = skill.config
        subject, asks = said["record_id"], said["ask_llm"]
        with service_errors():
            done = dry_run_for(request.user, project, config, subject, ask_llm=asks)
        return Response(DriedSerializer(done).data)

    @extend_schema(request=None, responses={201: StartedSerializer})
    @action(detail=True, methods=["post"])
    def rerun(self, request: Request, pk: str) -> Response:
        """Repeat an ended run: the workflow's current version on the subject as it is now."""
        run: TaskRun = self.row()
        with service_errors():
            return _started(rerun_for(request.user, run))

    @extend_schema(request=StartBatchSerializer, responses={201: BatchStartedSerializer})
    @action(
        detail=False,
        methods=["post"],
        url_path="start-batch",
        serializer_class=StartBatchSerializer,
    )
    def start_batch(self, request: Request) -> Response:
        """Start a workflow on many subjects, a few at a time."""
        said = self.said()
        project, skill = self._ordered(said)
        ids, cap = said.get("record_ids"), said["cap"]
        with service_errors():
            batch = start_batch_for(request.user, project, skill, ids, cap=cap)
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
        try:
            found = sop.cancel_batch(batch=found, actor=request.user, **self.said())
        except sop.NotSuspended as error:
            raise Conflict(str(error), "already_cancelled") from error
        return Response({"id": str(found.pk), **progress(found)})

    @extend_schema(request=DecisionSerializer, responses=TaskRunSerializer)
    @action(**DECIDING)
    def approve(self, request: Request, pk: str) -> Response:
        """Approve what was shown."""
        return self._decide(request, "approve")

    @extend_schema(request=DecisionSerializer, responses=TaskRunSerializer)
    @action(**DECIDING)
    def reject(self, request: Request, pk: str) -> Response:
        """Reject what was shown, with a reason."""
        return self._decide(request, "reject")

    @extend_schema(request=ReasonSerializer, responses=TaskRunSerializer)
    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def cancel(self, request: Request, pk: str) -> Response:
        """End a run that is not wanted any more."""
        run: TaskRun = self.row()
        if sop.open_review(run):
            # To take a run away from its review is a decision about it.
            require_scope(request, TokenScope.DECIDE)
        with service_errors():
            run = sop.cancel(run=run, actor=request.user, **self.said())
        return Response(TaskRunSerializer(run).data)

    @sensitive_variables()
    def _decide(self, request: Request, decision: sop.Decision) -> Response:
        run: TaskRun = self.get_object()
        said = self.said()
        review = sop.open_review(run) or sop.reviews_of(run).first()
        if review is None:
            raise Conflict(sop.WRONG_STATE, sop.NotSuspended.code, review=None)
        try:
            with service_errors():
                sop.decide(
                    review_id=review.pk,
                    actor=cast(AbstractBaseUser, request.user),  # anonymous requests ended before
                    decision=decision,
                    reason=said["reason"],
                    seen=said["seen"],
                    signature=sop.Signature(request._request, said["password"]),
                    door=Review.Door.API,
                )
        except Conflict as error:
            now = getattr(error.__cause__, "review", None)
            error.members["review"] = review_view(now) if now else None
            raise
        run.refresh_from_db()  # of several that waited it need not be the one that has gone on already
        return Response(TaskRunSerializer(run).data)

    def _ordered(self, said: dict[str, Any]) -> tuple[Project, Skill]:
        """The study and its workflow that a person in this role may order.

        Raises Http404, PermissionDenied, ValidationError.
        """
        project = find_project(self.request, said["project"])
        require_role(self.request, project.pk, *sop.DECIDERS, of_site=True)
        skills = Skill.objects.filter(project=project, is_active=True)
        skill = skills.filter(skill_type=said["skill_type"]).first()
        if skill is None:
            raise serializers.ValidationError({"skill_type": [_("There is no such workflow.")]})
        try:
            check_order(skill)
        except OnSchedule as error:
            raise serializers.ValidationError({"skill_type": [str(error)]}) from error
        return project, skill


def _started(run: TaskRun) -> Response:
    return Response({"id": str(run.pk), "status": run.status}, status=201)


def _batch(request: Request, pk: str) -> tuple[Batch, list[str]]:
    """A batch with those of its subjects that the user may see. Raises Http404 where there is none."""
    batch = get_object_or_404(Batch.objects.select_related("project", "skill"), pk=pk)
    if not (mine := visible(request.user, batch)):
        raise Http404
    return batch, mine
