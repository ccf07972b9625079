"""Members of a study."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from projects import services
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.models import Member, Role


@admin.register(Member)
class MemberAdmin(ScopedAdmin):
    edit_roles = add_roles = (Role.ADMIN,)
    list_display = ("show_name", "wecom_userid", "show_role", "site", "show_project", "is_active")
    list_filter = (BY_PROJECT, "role", "site", "is_active")
    search_fields = ("display_name", "wecom_userid")
    list_select_related = ("project",)
    fields = (
        ("project", "display_name"),
        ("wecom_userid", "user"),
        ("role", "site"),
        ("language", "is_active"),
        "plain_text",
    )
    readonly_fields = ("show_user",)

    def get_fields(self, request: HttpRequest, obj: Member | None = None) -> Any:
        """Who only reads gets the login's name: Django's link would lead to a page of superusers."""
        if self._writes(request, obj):
            return self.fields
        return [("wecom_userid", "show_user") if "user" in row else row for row in self.fields]

    @admin.display(description=_("console user"))
    def show_user(self, obj: Member) -> str:
        return str(obj.user or "-")

    @admin.display(description=_("name"), ordering="display_name")
    def show_name(self, obj: Member) -> str:
        return obj.display_name or obj.wecom_userid

    @display(
        description=_("role"),
        ordering="role",
        label={"PI": "primary", "CRC": "success", "ADMIN": "warning", "AUDITOR": "info"},
    )
    def show_role(self, obj: Member) -> tuple[str, str]:
        return obj.role, obj.get_role_display()

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """The languages of the house: another word would be none."""
        if db_field.name == "language":
            return forms.ChoiceField(
                label=capfirst(db_field.verbose_name),
                choices=settings.LANGUAGES,
                widget=UnfoldAdminSelectWidget,
                initial=db_field.get_default(),
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Logins without a person first; a study administrator does not browse the house's people."""
        if db_field.name == "user" and not request.user.is_superuser:
            kwargs["queryset"] = User.objects.filter(
                memberships__project_id__in=self.holders(request, self.edit_roles).values("project")
            ).distinct()
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Member, form: ModelForm, change: bool) -> None:
        services.save_member(member=obj, actor=request.user)
