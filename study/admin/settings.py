from __future__ import annotations

from contextlib import suppress
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.decorators import action

from core.integrations.redcap import RedcapError
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.models import Project, Role
from projects.services import delete
from study import services
from study.client import NotConfiguredError
from study.models import FieldRole, ReferenceLimit, Synonym

ADMIN = (Role.ADMIN,)


class SettingForm(forms.ModelForm):
    """Names that REDCap does not know are refused where they are typed."""

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.errors or self.instance.project_id is None:
            return
        try:
            services.check_setting(self.instance)
        except ValidationError as error:
            self.add_error(None, error)


class SettingAdmin(ScopedAdmin):
    """A setting of the study's data; what the dictionary proposes can be taken over."""

    form = SettingForm
    edit_roles = add_roles = delete_roles = ADMIN
    list_filter = (BY_PROJECT,)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        services.save_setting(setting=obj, actor=request.user)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        delete(obj, obj.project, request.user, services.ACTION)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for setting in queryset:
            self.delete_model(request, setting)


class ProposingAdmin(SettingAdmin):
    """A setting that the dictionary makes proposals for."""

    actions_list = ("propose",)

    @action(
        description=gettext_lazy("Propose from the REDCap dictionary"),
        url_path="propose",
        permissions=["propose"],
        icon="auto_awesome",
    )
    def propose(self, request: HttpRequest) -> HttpResponse:
        """GET shows what the dictionary suggests, POST stores the ticked ones."""
        given = request.POST if request.method == "POST" else request.GET
        projects = Project.objects.for_user(request.user).order_by("code")
        if not request.user.is_superuser:
            projects = projects.filter(pk__in=self.holders(request, ADMIN).values("project"))
        project = projects.filter(code=given["project"]).first() if "project" in given else None
        project = project or (projects.first() if "project" not in given else None)
        if project is None:
            raise PermissionDenied
        offered: list[services.Setting] | None = None
        with suppress(RedcapError, NotConfiguredError):
            offered = services.proposed_settings(project, self.model)
        if request.method == "POST":
            ticked = set(request.POST.getlist("row"))
            taken = [setting for setting in offered or [] if str(setting) in ticked]
            for setting in taken:
                services.save_setting(setting=setting, actor=request.user)
            told = ngettext("%d proposal taken over.", "%d proposals taken over.", len(taken))
            messages.success(request, told % len(taken))
            info = self.model._meta
            return redirect(reverse(f"admin:{info.app_label}_{info.model_name}_changelist"))
        context = self.admin_site.each_context(request) | {
            "title": _("Proposals of the REDCap dictionary"),
            "opts": self.model._meta,
            "project": project,
            "projects": projects,
            "failed": offered is None,
            "rows": offered or [],
        }
        return render(request, "study/propose.html", context)

    def has_propose_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_add_permission(request)


@admin.register(FieldRole)
class FieldRoleAdmin(ProposingAdmin):
    empty = gettext_lazy("No part of a field is set by hand: what the dictionary suggests holds.")
    list_display = ("role", "of", "field", "show_project")
    codes = ("of", "field")
    fields = ("project", "role", "of", "field")


@admin.register(ReferenceLimit)
class ReferenceLimitAdmin(ProposingAdmin):
    empty = gettext_lazy("No limit is set by hand: those in the dictionary's notes hold.")
    list_display = (
        *("field", "unit", "sex", "low", "high", "low_field", "high_field"),
        "show_project",
    )
    codes = ("field", "low_field", "high_field")
    search_fields = ("field",)
    fields = ("project", "field", "unit", "sex", ("low", "high"), ("low_field", "high_field"))


@admin.register(Synonym)
class SynonymAdmin(SettingAdmin):
    empty = gettext_lazy(
        "No word of your study was added yet; unanswered questions show which are missing."
    )
    list_display = ("word", "meaning", "added_by", "created_at", "show_project")
    search_fields = ("word", "meaning")
    fields = ("project", "word", "meaning")

    def save_model(self, request: HttpRequest, obj: Synonym, form: Any, change: bool) -> None:
        obj.added_by = obj.added_by or request.user.get_username()
        super().save_model(request, obj, form, change)
