"""The memories in the console, and the flow log for people."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from core.house.admin_words import by_name
from core.house.stored_labels import name
from memory.hot import admin as hot_admin  # noqa: F401
from memory.labels import INTENTS
from memory.log import reading
from memory.models import ConversationHistory, MemoryTurn
from memory.people import admin as people_admin  # noqa: F401
from memory.reports import admin as report_admin  # noqa: F401
from projects.admin_base import BY_PROJECT, HouseAdmin, ScopedAdmin
from projects.long_lists import LongList, period


@admin.register(ConversationHistory)
class ConversationHistoryAdmin(LongList, ScopedAdmin):
    empty = _("Nobody has talked to the assistant yet.")
    list_display = (
        "created_at",
        "user_id",
        "show_role",
        "show_content",
        "show_intent",
        "record_id",
        "feedback",
    )
    list_filter = (
        *(BY_PROJECT, period("created_at"), "role"),
        *(by_name("intent", INTENTS, every=True), "feedback"),
    )
    search_fields = ("user_id", "record_id")
    sealed_search_fields = ("content",)
    fields = (
        ("project", "created_at"),
        ("user_id", "role"),
        "content",
        ("show_intent", "record_id"),
        "entities",
        ("feedback", "feedback_reason"),
    )
    readonly_fields = ("show_intent",)
    change_form_template = "memory/conversation.html"

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The trail says whose words were shown."""
        page = super().changelist_view(request, extra_context)
        shown = (getattr(page, "context_data", None) or {}).get("cl")
        if shown is not None and request.method == "GET":
            reading.note_reading(actor=request.user, rows=shown.result_list)
        return page

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, obj: Any = None, **kwargs: Any
    ) -> Any:
        """The message within its conversation."""
        rows = reading.thread(obj, request.user) if obj else []
        reading.note_reading(actor=request.user, rows=rows)
        more = {**context, "thread": rows}
        return super().render_change_form(request, more, *args, obj=obj, **kwargs)

    @admin.display(description=_("intent"), ordering="intent")
    def show_intent(self, obj: ConversationHistory) -> str:
        return name(INTENTS, obj.intent) or "-"

    @display(description=_("role"), ordering="role", label={"user": "info", "assistant": "success"})
    def show_role(self, obj: ConversationHistory) -> tuple[str, str]:
        return obj.role, obj.get_role_display()

    @admin.display(description=_("content"))
    def show_content(self, obj: ConversationHistory) -> str:
        return Truncator(obj.content).chars(60)


@admin.register(MemoryTurn)
class MemoryTurnAdmin(HouseAdmin):
    """How many turns wait for the Memory Manager; their words are nobody's to read."""

    empty = _("No message waits for the Memory Manager.")
    list_display = ("created_at", "user_id", "project")
    fields = ("project", "user_id", "created_at")
