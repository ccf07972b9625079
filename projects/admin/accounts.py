"""Logins of the console; what a person may do there follows from the memberships."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from projects.admin_base import HouseAdmin
from projects.admin_lists import DeclaredAdmin

admin.site.unregister([User, Group])
# Secrets and links of the log-in are no rows to look at: `manage.py login_reset`.
admin.site.unregister([EmailAddress, SocialAccount, SocialApp, SocialToken, Authenticator])


class SuperusersOnly:
    def _super(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._super(request)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self._super(request)

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self._super(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._super(request)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Never: what a person did must keep its author. Switch the login off instead."""
        return False


@admin.register(User)
class UserAdmin(SuperusersOnly, DeclaredAdmin, BaseUserAdmin):
    empty = _("No login yet: add one for each person who uses the console.")
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    compressed_fields = True
    list_display = ("username", "last_name", "first_name", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": (("last_name", "first_name"), "email")}),
        (_("Rights"), {"fields": ("is_active", "is_staff", "is_superuser")}),
        (_("Dates"), {"fields": (("last_login", "date_joined"),)}),
    )
    readonly_fields = ("last_login", "date_joined")
    add_fieldsets = (
        (
            None,
            {
                "classes": ("wide",),
                "fields": ("username", "usable_password", "password1", "password2", "is_staff"),
                "description": _(
                    "Staff may log in to the console; they see nothing until they are a member of a study."
                ),
            },
        ),
    )


@admin.register(Group)
class GroupAdmin(HouseAdmin):
    empty = _("Groups are not used here: what a person may do follows from the memberships.")
    list_display = ("name",)
    fields = ("name",)
