"""Console pages of what models were asked: the usage of every call."""

from __future__ import annotations

import csv
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from core.house.admin_words import by_name
from core.house.stored_labels import name
from core.llm import standing, totals
from core.llm.labels import ABILITIES, MODEL_PURPOSES, PROVIDERS, PURPOSES
from core.llm.models import LlmCheck, LlmUsage
from projects import actors
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.long_lists import LongList, period
from projects.models import Project, Role


class ReplacedAdmin(ScopedAdmin):
    """Shows what the privacy gate took out of a request."""

    @admin.display(description=_("replaced by the privacy gate"))
    def show_replaced(self, obj: Any) -> SafeString | str:
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


@admin.register(LlmUsage)
class LlmUsageAdmin(LongList, ReplacedAdmin):
    """One call: its model, prompt version and tokens."""

    empty = _("No language model was asked yet.")
    view_roles = (Role.ADMIN, Role.AUDITOR)
    whole_study = True
    list_display = (
        "at",
        "show_project",
        "show_purpose",
        "show_model_purpose",
        "show_provider",
        "model",
        "input_tokens",
        "output_tokens",
        "ok",
    )
    list_filter = (
        BY_PROJECT,
        period("at"),
        by_name("purpose", PURPOSES),
        by_name("model_purpose", MODEL_PURPOSES),
        "model",
        "ok",
    )
    list_select_related = ("project",)
    fields = (
        ("project", "show_user"),
        ("show_purpose", "at"),
        ("show_model_purpose", "show_provider"),
        ("model", "prompt_version"),
        ("input_tokens", "output_tokens"),
        ("duration", "ok"),
        "show_replaced",
    )
    codes = ("prompt_version",)
    readonly_fields = (
        *("show_user", "show_purpose", "show_model_purpose", "show_provider"),
        *("at", "show_replaced"),
    )
    actions_list = ("show_totals",)

    @action(description=_("Totals and caps"), url_path="totals", icon="functions")
    def show_totals(self, request: HttpRequest) -> HttpResponse:
        """Tokens by day, purpose and study, beside the caps; `?csv=1` as a file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = self.get_queryset(request)
        by_day = [(one.of, one) for one in totals.by_day(rows)]
        by_purpose = [(name(PURPOSES, one.of), one) for one in totals.by_purpose(rows)]
        if "csv" in request.GET:
            return _as_csv([*by_day, *by_purpose])
        held = Project.objects.for_user(request.user)
        if not request.user.is_superuser:
            held = held.filter(pk__in=self.readers(request).values("project"))
        context = self.admin_site.each_context(request) | {
            "title": gettext("Totals and caps"),
            "opts": self.opts,
            "days": totals.DAYS,
            "today": totals.today(held),
            "tables": [
                {"key": "days", "title": gettext("By day"), "head": gettext("day"), "rows": by_day},
                {
                    "key": "purposes",
                    "title": gettext("By purpose"),
                    "head": gettext("purpose"),
                    "rows": by_purpose,
                },
            ],
        }
        return render(request, "llm/totals.html", context)

    @admin.display(description=_("model for"), ordering="model_purpose")
    def show_model_purpose(self, obj: LlmUsage) -> str:
        """Whose model was asked, in words."""
        return name(MODEL_PURPOSES, obj.model_purpose)

    @admin.display(description=_("provider"), ordering="provider")
    def show_provider(self, obj: LlmUsage) -> str:
        """By which preset it was reached."""
        return name(PROVIDERS, obj.provider)

    show_user = actors.column("user_id", _("user"))

    @admin.display(description=_("purpose"), ordering="purpose")
    def show_purpose(self, obj: LlmUsage) -> str:
        """What the call was for, in words."""
        return name(PURPOSES, obj.purpose)


@admin.register(LlmCheck)
class LlmCheckAdmin(ScopedAdmin):
    """What `manage.py llm_check` found of a study's models; what is below the bar is not asked of them."""

    empty = _("No endpoint was checked yet: manage.py llm_check.")
    view_roles = (Role.ADMIN, Role.AUDITOR)
    whole_study = True
    list_display = ("show_project", "show_model_purpose", "endpoint", "mode", "show_found", "at")
    list_select_related = ("project",)
    fields = ("project", "show_model_purpose", "endpoint", "mode", "show_found", "prompts", "at")
    codes = ("prompts",)
    readonly_fields = ("show_model_purpose", "show_found", "at")

    @admin.display(description=_("model for"), ordering="model_purpose")
    def show_model_purpose(self, obj: LlmCheck) -> str:
        """Whose model was asked, in words."""
        return name(MODEL_PURPOSES, obj.model_purpose)

    @admin.display(description=_("of ten probes"))
    def show_found(self, obj: LlmCheck) -> str:
        """Each ability with its figure, and whether it is switched off."""
        told = [
            f"{name(ABILITIES, ability)} {met}/10{'' if met >= standing.MET else ' ✕'}"
            for ability, met in obj.found.items()
            if ability in ABILITIES
        ]
        return " · ".join(told)


def _as_csv(rows: list[tuple[Any, totals.Total]]) -> HttpResponse:
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="llm-usage.csv"'
    # Spreadsheets take UTF-8 for what it is by this mark.
    answer.write("\ufeff")
    writer = csv.writer(answer)
    heads = (
        gettext("Project"),
        gettext("day or purpose"),
        gettext("Calls"),
        gettext("Failed calls"),
        gettext("Tokens in"),
        gettext("Tokens out"),
    )
    writer.writerow(heads)
    for of, one in rows:
        cells = (one.project, of, one.calls, one.failed, one.tokens_in, one.tokens_out)
        writer.writerow(cells)
    return answer
