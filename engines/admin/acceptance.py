"""Console pages of what makes a study's answers plain or not: acceptances, and the daily checks."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from core.llm import standing
from core.llm.models import LlmCanary, ModelAcceptance
from engines.admin.columns import OwnPages, column
from engines.pages import acceptance as pages
from projects.admin_base import BY_PROJECT, ScopedAdmin


@admin.register(ModelAcceptance)
class ModelAcceptanceAdmin(OwnPages):
    """A run of `manage.py accept_model` with its report, and the signature that makes it count."""

    empty = _("No model was accepted yet: manage.py accept_model.")
    view_roles = pages.VIEWERS
    whole_study = True
    list_display = (
        *("ended_at", "show_project", "show_result", "show_passed", "wrong"),
        *("show_models", "signed_by", "signed_at"),
    )
    list_filter = (BY_PROJECT,)
    list_select_related = ("project",)
    list_before_template = "engines/acceptance/above.html"
    fields = ("project", "ended_at")
    readonly_fields = ("ended_at",)
    change_form_template = "engines/acceptance/page.html"
    pages = (
        ("<int:pk>/sign/", "modelacceptance_sign", pages.sign_view),
        ("<int:pk>/pdf/", "modelacceptance_pdf", pages.pdf_view),
    )

    show_passed = column(_("passed three times"), lambda row: f"{row.passed}/{row.total}")
    show_models = column(
        _("model"),
        lambda row: " · ".join(dict.fromkeys(one["model"] for one in row.endpoints.values())),
    )

    @display(description=_("Result"), label={"yes": "success", "no": "danger"})
    def show_result(self, obj: ModelAcceptance) -> tuple[str, Any]:
        """Whether both bounds were kept."""
        return ("yes", _("passed")) if obj.is_passed else ("no", _("not passed"))

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request)
        is_list = (
            getattr(request.resolver_match, "url_name", "") == "llm_modelacceptance_changelist"
        )
        return rows.defer("cases") if is_list else rows

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        more = {"plain_studies": pages.above(request)}
        return super().changelist_view(request, (extra_context or {}) | more)

    def more_context(self, request: HttpRequest, obj: ModelAcceptance) -> dict[str, Any]:
        return pages.context(request, obj)


@admin.register(LlmCanary)
class LlmCanaryAdmin(ScopedAdmin):
    """Ten probes a day of each study's models."""

    empty = _("No daily check yet: they run where models must be accepted.")
    view_roles = pages.VIEWERS
    whole_study = True
    list_display = ("day", "show_project", "show_met", "at")
    list_filter = (BY_PROJECT,)
    list_select_related = ("project",)
    date_hierarchy = "day"
    fields = ("project", "day", "show_met", "at")
    readonly_fields = ("day", "show_met", "at")

    @admin.display(description=_("of ten probes"), ordering="met")
    def show_met(self, obj: LlmCanary) -> str:
        """With a mark where the study fell back to plain answers."""
        if obj.met is None:
            return str(_("not known: the model was away, or the tokens of the day used up"))
        return f"{obj.met}/10{'' if obj.met >= standing.MET else ' ✕'}"
