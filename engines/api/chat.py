"""`POST /api/v1/chat/`: the same path as a WeCom message (contracts.md, HTTP)."""

from __future__ import annotations

from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from core.house.api_fields import Text
from engines.api.base import valid_data
from engines.assistant import chat_queue
from engines.models import Question
from projects.api import find_project
from projects.filters import DeclaredParameters
from projects.models import TokenScope
from projects.scoping import memberships
from projects.token_scopes import token_may


class QuestionSerializer(serializers.Serializer):
    """A message to the assistant."""

    text = Text(max_length=10_000)
    project = Text(required=False, allow_blank=True, allow_null=True)


class ReplySerializer(serializers.Serializer):
    """The assistant's final answer."""

    reply = serializers.CharField()
    intents = serializers.ListField(child=serializers.CharField())
    record_ids = serializers.ListField(child=serializers.CharField())
    conversation_id = serializers.CharField()


class WaitingSerializer(serializers.Serializer):
    """A question that is still worked on: where its answer will be."""

    conversation_id = serializers.CharField()


REPLIES = {200: ReplySerializer, 202: WaitingSerializer}


class ChatView(DeclaredParameters):
    """Ask the assistant."""

    write_scope = TokenScope.ASK

    @extend_schema(request=QuestionSerializer, responses=REPLIES)
    def post(self, request: Request) -> Response:
        """Leave the question to a worker, as the member the user is; 202 where it takes its time."""
        said = valid_data(self, QuestionSerializer)
        code = said.get("project") or ""
        if code:
            code = find_project(request, code).code
        mine = memberships(request.user)
        member = mine.filter(project__code=code).first() if code else mine.first()
        if member is None:
            raise PermissionDenied(_("You are not a member of any study."))
        question = chat_queue.put_question(
            person=member.person,
            login=request.user.get_username(),
            text=said["text"],
            project_code=code,
            may_order=token_may(request, TokenScope.RUN),
        )
        return _response(chat_queue.wait_for_answer(question))


class ChatAnswerView(DeclaredParameters):
    """The answer to a question that took its time."""

    read_scope = TokenScope.ASK

    @extend_schema(responses=REPLIES)
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """The reply for who asked, as often as they like; nobody else finds it."""
        mine = Question.objects.of(request.user)
        return _response(get_object_or_404(mine, conversation_id=conversation_id))


def _response(question: Question) -> Response:
    if reply := chat_queue.reply_of(question):
        return Response(reply)
    return Response({"conversation_id": str(question.conversation_id)}, status=202)
