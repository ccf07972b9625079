"""The study: its settings, visit plan, subjects and data source."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.timezone import localtime
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.decorators import action, display
from unfold.forms import PaginationInlineFormSet

from core.house.admin_text import coded
from core.house.request_cache import once
from projects import services
from projects.access import has_role, member_in
from projects.admin_base import BY_PROJECT, ScopedAdmin, roles
from projects.models import Project, Role
from study.admin import setup
from study.admin.blinding import VIEWERS, blinding_view
from study.admin.confirm import CONFIRM, confirm_view, is_waiting
from study.admin.confirm import PAGE as CONFIRM_PAGE
from study.admin.enrolled_filter import enrolled_link
from study.admin.export import ExportAdmin
from study.admin.project_form import SECRETS, ProjectForm
from study.blinding.mask import known_to_all
from study.blinding.services import BY_ARM
from study.dictionary import KnownNames, name_refusal
from study.models import Dictionary, SyncState, VisitPlanEntry
from study.records import state_of
from study.redcap_queries import as_of
from study.setup import steps
from study.setup.own import PAGE

ADMIN = (Role.ADMIN,)
# Shown to those who set the study up, to nobody else.
WIRING = (*SECRETS, "show_trigger_address")


CODES = ("anchor_field", "date_field", "event")
SHOWN = {name: coded(VisitPlanEntry, name) for name in CODES}


class VisitPlanForm(forms.ModelForm):
    """The fields and the event that REDCap knows."""

    class Meta:
        model = VisitPlanEntry
        exclude = ()  # noqa: DJ006 - the inline names its columns

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        project = cleaned.get("project") or self.instance.project
        known = KnownNames.of(project)
        fields = known_to_all(project, known.fields)
        for name in ("anchor_field", "date_field"):
            if why := name_refusal(cleaned.get(name) or "", fields, known.closed):
                self.add_error(name, why)
        if why := name_refusal(cleaned.get("event") or "", known.events):
            self.add_error("event", why)
        if cleaned.get("arm") and project.blinded_since is not None:
            self.add_error("arm", BY_ARM)
        return cleaned


class OwnRowsFormSet(PaginationInlineFormSet):
    """Takes the keys of the parent's rows only: Django's takes any row's, and so tells which there are."""

    def add_fields(self, form: Any, index: int | None) -> None:
        """The form with the key of its row among those of the parent."""
        super().add_fields(form, index)
        key = form.fields.get(self.model._meta.pk.name)
        if isinstance(key, forms.ModelChoiceField):
            of_parent = {self.fk.attname: self.instance.pk}
            key.queryset = self.model._default_manager.filter(**of_parent)


class VisitPlanInline(TabularInline):
    model = VisitPlanEntry
    form = VisitPlanForm
    formset = OwnRowsFormSet
    fields = (
        "position",
        "visit",
        "arm",
        "anchor_field",
        "date_field",
        "event",
        "day",
        "minus",
        "plus",
    )
    extra = 0
    tab = True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or ProjectAdmin(Project, admin.site).has_change_permission(request, obj)

    has_add_permission = has_delete_permission = has_change_permission

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Codes as such for those who only read."""
        if self.has_change_permission(request, obj):
            return self.fields
        return [SHOWN.get(name, name) for name in self.fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if self.has_change_permission(request, obj) else (*SHOWN.values(),)


def _tab(title: Any, *fields: Any) -> tuple[Any, dict[str, Any]]:
    return title, {"classes": ("tab",), "fields": fields}


@admin.register(Project)
class ProjectAdmin(ScopedAdmin):
    empty = _(
        "You take part in no study yet; a superuser makes studies, their administrators add you."
    )
    form = ProjectForm
    edit_roles = ADMIN
    project_path = "pk"
    list_display = ("code", "name", "show_status", "start_date", "target_enrolment")
    codes = ("enrolment_field", "withdraw_field")
    search_fields = ("code", "name")
    inlines = (VisitPlanInline,)
    change_form_template = "study/project.html"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("code", "name"),
                    ("status", "start_date"),
                    ("target_enrolment", "show_enrolled"),
                    "timezone",
                    ("registration_no", "pi_name"),
                    "record_id_pattern",
                    "synopsis",
                )
            },
        ),
        _tab(
            _("REDCap"),
            "redcap_url",
            "redcap_token",
            "reads_queries",
            "show_trigger_address",
            "show_sync",
            ("enrolment_field", "withdraw_field"),
            ("anchor_is_day", "has_no_withdraw_field"),
        ),
        _tab(_("Protocol search"), "dify_url", "dify_key", "dify_dataset_id", "synonyms"),
        _tab(
            _("Language model"),
            "llm_preset",
            "llm_base_url",
            "llm_api_key",
            "llm_model",
            ("llm_daily_token_cap", "soft_confidence"),
        ),
        _tab(
            _("Models by purpose"),
            ("llm_engines_preset", "llm_engines_model"),
            "llm_engines_base_url",
            "llm_engines_api_key",
            ("llm_small_preset", "llm_small_model"),
            "llm_small_base_url",
            "llm_small_api_key",
        ),
        _tab(
            _("Conduct"),
            "four_eyes",
            "requires_signature",
            ("feedback_cards", "labels_replies"),
            ("flow_log_days", "fresh_minutes"),
            ("reading_days", "small_cell"),
        ),
        _tab(_("Quiet hours"), ("quiet_from", "quiet_until"), "quiet_holidays", "quiet_weekends"),
    )
    readonly_fields = ("show_trigger_address", "show_sync", "show_enrolled")
    actions_detail = ("blinding",)

    @action(
        description=_("Blinding"),
        url_path="blinding",
        permissions=["blinding"],
        icon="visibility_off",
    )
    def blinding(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Fields that unblind, who is unblinded, broken codes."""
        return blinding_view(request, self, object_id)

    def has_blinding_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return bool({*VIEWERS} & roles(request))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def response_add(
        self, request: HttpRequest, obj: Project, post_url_continue: str | None = None
    ) -> HttpResponse:
        """A new study is set up next; "save and add another" stays what it says."""
        if "_addanother" in request.POST or IS_POPUP_VAR in request.POST:
            answer: HttpResponse = super().response_add(request, obj, post_url_continue)
            return answer
        messages.success(request, gettext("%s was made; now set it up.") % obj.code)
        return redirect(PAGE, obj.pk)

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        wizard, progress = setup.setup_view, setup.progress_view
        name = "projects_project_setup"
        own = [
            path("<uuid:pk>/setup/", view(wizard), {"page": self}, name=name),
            path("<uuid:pk>/setup/progress/", view(progress), name=f"{name}_progress"),
            path(
                "<uuid:pk>/confirm/",
                view(confirm_view),
                {"page": self},
                name="projects_project_confirm",
            ),
        ]
        return own + super().get_urls()

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        """With what is still missing, for those who set the study up."""
        row = self.get_object(request, object_id) if object_id else None
        told: dict[str, Any] = {}
        if row is not None and self._writes(request, row):
            told = {
                "setup_missing": steps.missing_steps(row),
                "setup_link": reverse(PAGE, args=[row.pk]),
            }
        if row is not None and has_role(request.user, row.pk, *CONFIRM) and is_waiting(row):
            told["confirm_link"] = reverse(CONFIRM_PAGE, args=[row.pk])
        return super().changeform_view(request, object_id, form_url, (extra_context or {}) | told)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Messages of the whole house are told apart by code and name: a superuser gives them."""
        fields = super().get_readonly_fields(request, obj)
        return fields if request.user.is_superuser else (*fields, "code", "name")

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """The row with who reads it."""
        project = super().get_object(request, object_id, from_field)
        if project:
            project.reader = member_in(request.user, project.pk)
        return project

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        given = super().get_fieldsets(request, obj)
        if self._writes(request, obj):
            return given
        return [
            (name, {**part, "fields": [f for f in part["fields"] if f not in WIRING]})
            for name, part in given
        ]

    @admin.display(description=_("data entry trigger address"))
    def show_trigger_address(self, obj: Project) -> str:
        return f"{settings.PUBLIC_URL}/redcap/det/{obj.redcap_det_secret}/" if obj.pk else "-"

    @admin.display(description=pgettext_lazy("subjects", "enrolled"))
    def show_enrolled(self, obj: Project) -> str:
        """Of those whom the reader sees, as on the first page."""
        return once(("enrolled", obj.pk), lambda: enrolled_link(obj)) if obj.pk else "-"

    @admin.display(description=_("readings"))
    def show_sync(self, obj: Project) -> str:
        """Until when the data are known, and why they are known no further."""
        if (state := state_of(obj)) is None:
            return str(_("never read"))
        times = {_("changes read"): state.polled_at, _("full sweep"): state.swept_at}
        told = [
            f"{name} {localtime(at):%Y-%m-%d %H:%M}" if at else f"{name} -"
            for name, at in times.items()
        ]
        if state.is_failing:
            failing = _("last reading failed: %(cause)s") % {"cause": state.get_cause_display()}
            told.append(f"{failing} ({state.error})")
        elif state.is_incomplete:
            told.append(str(_("incomplete")))
        if obj.reads_queries:
            told.append(as_of(state))
        return " · ".join(told)

    @display(
        description=_("status"),
        ordering="status",
        label={"active": "success", "paused": "warning", "planning": "info", "closed": ""},
    )
    def show_status(self, obj: Project) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    def save_model(self, request: HttpRequest, obj: Project, form: ModelForm, change: bool) -> None:
        typed = getattr(form, "typed", ())
        services.save_project(project=obj, actor=request.user, typed=typed)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """The visit plan, entry by entry, so that each change is in the trail."""
        for entry in formset.save(commit=False):
            services.save(entry, entry.project, request.user, "plan.change", "plan.change")
        for entry in formset.deleted_objects:
            services.delete(entry, entry.project, request.user, "plan.change")


@admin.register(VisitPlanEntry)
class VisitPlanAdmin(ExportAdmin):
    empty = _("No visit is planned yet, so nothing is due; the study's set-up proposes visits.")
    list_before_template = "study/flagged_visits.html"
    change_form_template = "study/flagged_page.html"
    list_display = (
        "visit",
        "arm",
        "anchor_field",
        "day",
        "minus",
        "plus",
        "date_field",
        "event",
        "show_project",
    )
    codes = CODES
    list_filter = (BY_PROJECT, "arm")
    search_fields = ("visit", "date_field")
    fields = (
        ("project", "position"),
        ("visit", "arm"),
        ("anchor_field", "date_field"),
        ("day", "event"),
        ("minus", "plus"),
    )
    actions = ("export_selected",)
    actions_list = ("export_list",)


@admin.register(SyncState)
class SyncStateAdmin(ScopedAdmin):
    empty = _("REDCap was not read yet: connect it in the study's set-up.")
    list_display = (
        "show_project",
        "polled_at",
        "swept_at",
        "show_cause",
        "is_incomplete",
        "failed_at",
        "error",
    )
    list_filter = ("cause",)
    fields = (
        "project",
        ("roster_at", "polled_at"),
        ("swept_at", "records"),
        ("cause", "is_incomplete"),
        ("failed_at", "error"),
    )

    @display(
        description=_("cause"), ordering="cause", label=dict.fromkeys(SyncState.Cause, "danger")
    )
    def show_cause(self, obj: SyncState) -> tuple[str, str] | str:
        return (obj.cause, obj.get_cause_display()) if obj.cause else "-"


@admin.register(Dictionary)
class DictionaryAdmin(ScopedAdmin):
    empty = _("No data dictionary was read yet: connect REDCap in the study's set-up.")
    list_display = ("show_project", "read_at", "digest")
    fields = ("project", ("read_at", "digest"), "content")
