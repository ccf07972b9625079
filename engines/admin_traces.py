"""Console pages of how messages were answered: their traces."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engines import labels, road
from engines.models import AgentTrace
from house.admin_json import folded
from house.admin_words import by_name
from llm.admin import ReplacedAdmin
from projects import actors
from projects.access import sees_all_sites
from projects.admin_base import BY_PROJECT
from projects.long_lists import LongList, period

_OF_SITE = ("created_at", "show_user", "show_intent", "success")


@admin.register(AgentTrace)
class AgentTraceAdmin(LongList, ReplacedAdmin):
    """What was asked and looked up for one message.

    Members with a site see that and when, no more: what the gate knew and replaced tells who is in the study.
    """

    list_display = (
        "created_at",
        "show_user",
        "show_intent",
        "show_query",
        "token_usage",
        "duration",
        "success",
    )
    list_filter = (
        *(BY_PROJECT, period("created_at")),
        *(by_name("intent_type", labels.INTENTS), "success"),
    )
    search_fields = ("user_id",)
    sealed_search_fields = ("query",)
    fields = (
        ("project", "created_at"),
        ("show_user", "show_intent"),
        "query",
        ("token_usage", "duration"),
        ("success", "model"),
        "models_asked",
        "prompt_version",
        "show_road",
        "show_trace",
        "left_out",
        "show_replaced",
    )
    readonly_fields = (
        "show_user",
        "show_intent",
        "show_road",
        "show_trace",
        "show_replaced",
        "show_withheld",
    )

    show_user = actors.column("user_id", _("user"))

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Without the question for members with a site."""
        return self.list_display if sees_all_sites(request.user) else _OF_SITE

    def get_sealed_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """What is not shown is not searched either."""
        return self.sealed_search_fields if sees_all_sites(request.user) else ()

    def get_fields(self, request: HttpRequest, obj: AgentTrace | None = None) -> Any:
        """The whole trace, or what members with a site see of theirs."""
        if obj is None or sees_all_sites(request.user, obj.project_id):
            return self.fields
        return [("project", "created_at"), *_OF_SITE[1:], "show_withheld"]

    @admin.display(description=_("the way to the answer"))
    def show_road(self, obj: AgentTrace) -> str:
        """Step by step; each span of an answer with the line behind it, and the rule that refused it."""
        context = {"steps": road.steps(obj), "calls": road.calls(obj)}
        return render_to_string("engines/road.html", context)

    @admin.display(description=_("as stored"))
    def show_trace(self, obj: AgentTrace) -> SafeString:
        """The trace as programs read it."""
        return folded(_("Show"), obj.trace)

    @admin.display(description=_("trace"))
    def show_withheld(self, obj: AgentTrace) -> str:
        """Why there is no more."""
        return gettext("What was looked up is shown to members who see all sites.")

    @admin.display(description=_("intent"), ordering="intent_type")
    def show_intent(self, obj: AgentTrace) -> str:
        """The intent in words."""
        return labels.name(labels.INTENTS, obj.intent_type) or "-"

    @admin.display(description=_("question, de-identified"))
    def show_query(self, obj: AgentTrace) -> str:
        """The question, as far as a list has room."""
        return Truncator(obj.query).chars(60)
