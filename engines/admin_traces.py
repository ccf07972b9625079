"""Console pages of what the language model was asked: traces of messages, and the usage of every call."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engines import labels
from engines.models import AgentTrace, LlmUsage
from projects.access import sees_all_sites
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.admin_words import by_name
from projects.models import Role

_OF_SITE = ("created_at", "user_id", "show_intent", "success")


class ReplacedAdmin(ScopedAdmin):
    """Shows what the privacy gate took out of a request."""

    @admin.display(description=_("replaced by the privacy gate"))
    def show_replaced(self, obj: AgentTrace | LlmUsage) -> SafeString | str:
        """Kind and keyed hash of each value that no language model got to see."""
        rows = [(one["kind"], one["digest"]) for one in obj.replaced]
        if not rows:
            return gettext("Nothing had to be replaced.")
        return format_html(
            '<p class="iit-muted">{}</p><table class="iit-table" data-test="replaced">'
            "<thead><tr><th>{}</th><th>{}</th></tr></thead><tbody>{}</tbody></table>",
            _("The values themselves are not stored; the same value has the same hash."),
            _("kind"),
            _("hash"),
            format_html_join("", "<tr><td>{}</td><td><code>{}</code></td></tr>", rows),
        )


@admin.register(AgentTrace)
class AgentTraceAdmin(ReplacedAdmin):
    """What was asked and looked up for one message.

    Members with a site see that and when, no more: what the gate knew and replaced tells who is in the study.
    """

    list_display = (
        "created_at",
        "user_id",
        "show_intent",
        "show_query",
        "token_usage",
        "duration",
        "success",
    )
    list_filter = (BY_PROJECT, by_name("intent_type", labels.INTENTS), "success")
    search_fields = ("user_id",)
    sealed_search_fields = ("query",)
    date_hierarchy = "created_at"
    fields = (
        ("project", "created_at"),
        ("user_id", "show_intent"),
        "query",
        ("token_usage", "duration"),
        ("success", "model"),
        "models_asked",
        "prompt_version",
        "trace",
        "left_out",
        "show_replaced",
    )
    readonly_fields = ("show_intent", "show_replaced", "show_withheld")

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


@admin.register(LlmUsage)
class LlmUsageAdmin(ReplacedAdmin):
    """One call: its model, prompt version and tokens."""

    view_roles = (Role.ADMIN, Role.AUDITOR)
    whole_study = True
    list_display = (
        "at",
        "show_project",
        "show_purpose",
        "show_model_purpose",
        "provider",
        "model",
        "input_tokens",
        "output_tokens",
        "ok",
    )
    list_filter = (
        BY_PROJECT,
        by_name("purpose", labels.PURPOSES),
        by_name("model_purpose", labels.MODEL_PURPOSES),
        "model",
        "ok",
    )
    list_select_related = ("project",)
    date_hierarchy = "at"
    fields = (
        ("project", "user_id"),
        ("show_purpose", "at"),
        ("show_model_purpose", "provider"),
        ("model", "prompt_version"),
        ("input_tokens", "output_tokens"),
        ("duration", "ok"),
        "show_replaced",
    )
    readonly_fields = ("show_purpose", "show_model_purpose", "at", "show_replaced")

    @admin.display(description=_("model for"), ordering="model_purpose")
    def show_model_purpose(self, obj: LlmUsage) -> str:
        """Whose model was asked, in words."""
        return labels.name(labels.MODEL_PURPOSES, obj.model_purpose)

    @admin.display(description=_("purpose"), ordering="purpose")
    def show_purpose(self, obj: LlmUsage) -> str:
        """What the call was for, in words."""
        return labels.name(labels.PURPOSES, obj.purpose)
