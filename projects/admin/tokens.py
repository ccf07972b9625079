"""Tokens of programs: whose, since when, last used; their owner and superusers revoke them."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from projects import tokens
from projects.admin_base import HouseAdmin, roles
from projects.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(HouseAdmin):
    """The token itself is never shown: `manage.py drf_create_token` printed it once."""

    list_display = ("__str__", "show_user", "created_at", "last_used_at", "expires_at")
    list_display_links = None
    search_fields = ("user__username",)
    fields = ("show_user", "key_start", "created_at", "last_used_at", "expires_at")
    readonly_fields = ("show_user",)
    list_select_related = ("user",)
    actions = ("revoke_selected",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        rows: QuerySet[ApiToken] = super().get_queryset(request)
        return rows if request.user.is_superuser else ApiToken.objects.of(request.user)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Members, and who was given a token without being one."""
        return bool(roles(request)) or ApiToken.objects.of(request.user).exists()

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """One's own (`get_queryset`)."""
        return self.has_module_permission(request)

    @admin.display(description=_("console user"), ordering="user")
    def show_user(self, obj: ApiToken) -> str:
        return obj.user.get_username()

    @admin.action(description=_("Revoke"), permissions=["view"])
    def revoke_selected(
        self, request: HttpRequest, queryset: QuerySet[ApiToken]
    ) -> HttpResponse | None:
        count = tokens.revoke(tokens=queryset, actor=request.user)
        told = ngettext("%(count)s token is revoked.", "%(count)s tokens are revoked.", count)
        messages.success(request, told % {"count": count})
        return None if self.has_module_permission(request) else redirect("admin:index")
