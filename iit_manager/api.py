"""The API's resources (contracts.md, HTTP); each app owns its own `api.py`."""

from django.urls import path
from rest_framework.routers import DefaultRouter

from engines.api.chat import ChatAnswerView, ChatView
from engines.api.findings import PendingActionViewSet
from engines.api.runs import TaskRunViewSet
from engines.api.traces import AgentTraceViewSet
from memory.api import (
    ConversationViewSet,
    ProjectMemoryViewSet,
    UserMemoryViewSet,
    WeeklyReportViewSet,
)
from projects.api import ProjectViewSet
from skills.api import FieldMappingViewSet, FormTemplateViewSet, SkillViewSet
from study.api import ProtocolDocumentViewSet, VisitViewSet

router = DefaultRouter()
router.include_format_suffixes = False
router.register("projects", ProjectViewSet, "project")
router.register("skills", SkillViewSet, "skill")
router.register("field-mappings", FieldMappingViewSet, "field-mapping")
router.register("form-templates", FormTemplateViewSet, "form-template")
router.register("task-runs", TaskRunViewSet, "task-run")
router.register("pending-actions", PendingActionViewSet, "pending-action")
router.register("conversations", ConversationViewSet, "conversation")
router.register("project-memory", ProjectMemoryViewSet, "project-memory")
router.register("weekly-reports", WeeklyReportViewSet, "weekly-report")
router.register("agent-traces", AgentTraceViewSet, "agent-trace")
router.register("user-memory", UserMemoryViewSet, "user-memory")
router.register("visits", VisitViewSet, "visit")
router.register("protocol-documents", ProtocolDocumentViewSet, "protocol-document")

urlpatterns = [
    path("chat/", ChatView.as_view(), name="chat"),
    path("chat/<uuid:conversation_id>/", ChatAnswerView.as_view(), name="chat-answer"),
    *router.urls,
]
