"""`POST /api/v1/chat/`: the same path as a WeCom message (contracts.md, HTTP)."""

from __future__ import annotations

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from engines.chat import answer_message
from projects.access import memberships
from projects.api import find_project
from projects.api_fields import Text


class QuestionSerializer(serializers.Serializer):
    """A message to the assistant."""

    text = Text(max_length=10_000)
    project = Text(required=False, allow_blank=True, allow_null=True)


class ReplySerializer(serializers.Serializer):
    """The assistant's final answer."""

    reply = serializers.CharField()
    intents = serializers.ListField(child=serializers.CharField())
    record_ids = serializers.ListField(child=serializers.CharField())
    conversation_id = serializers.CharField(allow_null=True)


class ChatView(APIView):
    """Ask the assistant."""

    @extend_schema(request=QuestionSerializer, responses=ReplySerializer)
    def post(self, request: Request) -> Response:
        """Answer as the member the user is."""
        question = QuestionSerializer(data=request.data)
        question.is_valid(raise_exception=True)
        code = question.validated_data.get("project") or None
        if code:
            code = find_project(request, code).code
        mine = memberships(request.user)
        member = mine.filter(project__code=code).first() if code else mine.first()
        if member is None:
            raise PermissionDenied(_("You are not a member of any study."))
        reply = answer_message(
            userid=member.identity, text=question.validated_data["text"], project_code=code
        )
        return Response(
            {
                "reply": reply.text,
                "intents": reply.intents,
                "record_ids": reply.record_ids,
                "conversation_id": reply.conversation_id,
            }
        )
