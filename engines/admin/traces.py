"""The console's tables of how messages were answered: their traces, and the questions without an answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.house.admin_json import folded
from core.house.admin_words import by_name
from core.house.stored_labels import name
from core.llm.admin import ReplacedAdmin
from core.llm.labels import PURPOSES
from core.llm.models import LlmUsage
from engines import labels
from engines.admin.columns import OwnFilter, column, named, shortened
from engines.api.traces import texts_of
from engines.assistant.answer_spans import ToldAnswer
from engines.models import AgentTrace, OpenQuestion
from engines.models.traces import OPEN
from projects import actors, reads
from projects.access import sees_all_sites
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.long_lists import LongList, period
from projects.models import Role
from study.record_ids import record_ids_in

# Calls are stored in the transaction of their trace.
_TOGETHER = timedelta(seconds=1)
STEPS: dict[str, Promise] = {
    "ask": _("understood as"),
    "say": _("told"),
    "study.query": _("asked the data"),
    "query refused": _("the query was refused"),
    "model off": _("no model was asked"),
    "token cap": _("the day's tokens were used up"),
    "llm": _("the model failed"),
    "privacy": _("held back by the privacy gate"),
    OPEN: _("not understood"),
    "failed": _("failed"),
}


_OF_SITE = ("created_at", "show_user", "show_intent", "success")


def _steps(trace: AgentTrace) -> list[dict[str, Any]]:
    """The steps in order: what, with what, what came of it, its tokens and time, the spans of an answer."""
    items = trace.trace if isinstance(trace.trace, list) else []
    return [_step(item) for item in items if isinstance(item, Mapping)]


def _step(item: Mapping[str, Any]) -> dict[str, Any]:
    thought = str(item.get("thought", ""))
    spans = [span for span in item.get("spans", ()) if span["text"].strip()]
    more = item.get("action_input")
    return {
        "what": STEPS.get(thought) or labels.name(labels.INTENTS, thought) or thought or "-",
        "action": str(item.get("action") or ""),
        "input": "" if more is None else str(more),
        "observation": str(item.get("observation", "")),
        "tokens": item.get("tokens"),
        "duration": item.get("duration"),
        "answers": [ToldAnswer(spans)] if spans else [],
    }


def _calls(trace: AgentTrace) -> list[dict[str, Any]]:
    """Each call of a model for this message: for what, which model and prompt, tokens and time."""
    rows = LlmUsage.objects.filter(
        project=trace.project_id,
        user_id=trace.user_id,
        at__range=(trace.created_at - _TOGETHER, trace.created_at + _TOGETHER),
    )
    return [
        {"row": row, "purpose": name(PURPOSES, row.purpose)} for row in rows.order_by("at", "pk")
    ]


@admin.register(AgentTrace)
class AgentTraceAdmin(LongList, ReplacedAdmin):
    """What was asked and looked up for one message.

    Members with a site see that and when, no more: what the gate knew and replaced tells who is in the study.
    """

    empty = _("Each answer leaves a trace here of how it came about.")
    list_display = (
        *("created_at", "show_user", "show_intent", "show_query"),
        *("token_usage", "duration", "success"),
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
        *("show_user", "show_intent", "show_road", "show_trace"),
        *("show_replaced", "show_withheld"),
    )

    show_user = actors.column("user_id", _("user"))
    show_intent = named("intent_type", _("intent"), labels.INTENTS)
    show_trace = column(_("as stored"), lambda trace: folded(_("Show"), trace.trace))
    show_withheld = column(
        _("trace"),
        lambda _trace: gettext("What was looked up is shown to members who see all sites."),
    )
    show_query = shortened("query", _("question, de-identified"))

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """Without the question for members with a site."""
        shown = self.list_display if sees_all_sites(request.user) else _OF_SITE
        return self.with_study(shown, request)

    def get_sealed_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """What is not shown is not searched either."""
        return self.sealed_search_fields if sees_all_sites(request.user) else ()

    def get_fields(self, request: HttpRequest, obj: AgentTrace | None = None) -> Any:
        """The whole trace, or what members with a site see of theirs."""
        if obj is None or sees_all_sites(request.user, obj.project_id):
            return self.fields
        return [("project", "created_at"), *_OF_SITE[1:], "show_withheld"]

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, obj: Any = None, **kwargs: Any
    ) -> Any:
        """The page of a trace; whom it speaks of is noted (`projects.reads`)."""
        if obj is not None and sees_all_sites(request.user, obj.project_id):
            found = record_ids_in(obj.project_id, texts_of(obj))
            reads.note(actor=request.user, project=obj.project_id, record_ids=found, door="console")
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    @admin.display(description=_("the way to the answer"))
    def show_road(self, obj: AgentTrace) -> str:
        """Step by step; each sentence of an answer with the lines behind it."""
        context = {"steps": _steps(obj), "calls": _calls(obj)}
        return render_to_string("engines/road.html", context)


class Why(OwnFilter):
    """What became of the answer."""

    title = _("why it is here")
    parameter_name = "why"
    options = (
        ("open", _("asked back, or not collected")),
        ("failed", _("failed")),
        ("wrong", _("its reader objected")),
    )
    rows_of = {"open": Q(is_open=True), "failed": Q(success=False), "wrong": ~Q(complaint="")}

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        return rows.filter(self.rows_of[chosen]) if chosen in self.rows_of else rows


@admin.register(OpenQuestion)
class OpenQuestionAdmin(LongList, ScopedAdmin):
    """Asked back, not collected here, failed, contradicted or thumbed down; de-identified.

    For administrators who see all sites; with what the study's words are missing.
    """

    empty = _("No question was left unanswered and no answer was found wrong.")
    view_roles = (Role.ADMIN,)
    whole_study = True
    list_display = ("created_at", "query", "show_why", "show_words", "show_project")
    list_filter = (BY_PROJECT, period("created_at"), Why)
    list_select_related = ("project",)
    fields = (("project", "created_at"), "query", "show_why", "show_words")
    readonly_fields = ("show_why", "show_words")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without what was answered to its reader's content."""
        failed, is_open, wrong = (Why.rows_of[key] for key in ("failed", "open", "wrong"))
        return super().get_queryset(request).filter(failed | is_open | wrong)

    @admin.display(description=_("why it is here"))
    def show_why(self, obj: OpenQuestion) -> str:
        """What became of the answer; what its reader said of it comes first."""
        labels = dict(Why.options)
        found = [f"{labels['wrong']}: {obj.get_complaint_display()}"] if obj.complaint else []
        found += [] if obj.success else [str(labels["failed"])]
        return "、".join([*found, *([str(labels["open"])] if obj.is_open else [])])

    @admin.display(description=_("add as a synonym"))
    def show_words(self, obj: OpenQuestion) -> SafeString:
        """A prefilled page for each word that was not understood, or a blank one."""
        page = reverse("admin:study_synonym_add")
        rows = [
            (
                page,
                urlencode({"project": obj.project_id} | ({"word": word} if word else {})),
                word or gettext("another word"),
            )
            for word in [*obj.words, ""]
        ]
        return format_html("{}", format_html_join(" · ", '<a href="{}?{}">{}</a>', rows))
