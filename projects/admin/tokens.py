"""Tokens of programs: their owner makes, narrows and revokes them; superusers revoke them, too."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from projects import tokens
from projects.admin_base import HouseAdmin, roles
from projects.models import ApiToken, TokenScope

DAYS = (
    ("30", _("30 days")),
    ("90", _("90 days")),
    ("365", _("a year")),
    ("", _("until it is revoked")),
)


class NewTokenForm(forms.ModelForm):
    """What a new token is for and for how long; as it comes it may all that its owner may."""

    scopes = forms.MultipleChoiceField(
        label=_("may"),
        choices=TokenScope.choices,
        initial=TokenScope.values,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=_("A token never may more than you; what is not ticked is refused."),
    )
    days = forms.ChoiceField(
        label=_("valid for"),
        choices=DAYS,
        initial="90",
        required=False,
        widget=UnfoldAdminSelectWidget,
    )

    class Meta:
        model = ApiToken
        fields = ("name", "scopes")

    def clean_scopes(self) -> list[str] | None:
        """None where everything is ticked: that is all, also what is added later."""
        chosen: list[str] = self.cleaned_data["scopes"]
        return None if {*chosen} == {*TokenScope.values} else chosen


@admin.register(ApiToken)
class ApiTokenAdmin(HouseAdmin):
    """The token itself is shown once, to who made it."""

    empty = _("No program has a token yet: make one for each program that calls the API.")
    list_display = (
        "__str__",
        "show_user",
        "name",
        "show_scopes",
        "created_at",
        "last_used_at",
        "show_expires",
    )
    list_display_links = None
    search_fields = ("user__username", "name")
    fields = (
        ("show_user", "name"),
        ("key_start", "show_scopes"),
        ("created_at", "last_used_at", "expires_at"),
    )
    readonly_fields = ("show_user", "show_scopes")
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

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Members, for themselves."""
        return bool(roles(request))

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return super().get_fields(request, obj) if obj else ("name", "scopes", "days")

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        if obj is None:
            return NewTokenForm
        return super().get_form(request, obj, change, **kwargs)

    @admin.display(description=_("console user"), ordering="user")
    def show_user(self, obj: ApiToken) -> str:
        return obj.user.get_username()

    @admin.display(description=_("may"))
    def show_scopes(self, obj: ApiToken) -> str:
        if obj.scopes is None:
            return str(_("all that its owner may"))
        return "、".join(str(one.label) for one in TokenScope if obj.may(one))

    @admin.display(description=_("expires"), ordering="expires_at")
    def show_expires(self, obj: ApiToken) -> Any:
        if obj.expires_at is None:
            return _("when it is revoked")
        return _("expired") if obj.expires_at <= now() else obj.expires_at

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        days, scopes = form.cleaned_data["days"], obj.scopes
        owner = cast(User, request.user)  # anonymous requests ended before
        key = tokens.create(
            user=owner,
            actor=owner,
            name=obj.name,
            scopes=None if scopes is None else [TokenScope(one) for one in scopes],
            expires_at=now() + timedelta(days=int(days)) if days else None,
        )
        obj.pk = ApiToken.objects.get(digest=tokens.digest(key)).pk
        obj.key = key

    def response_add(
        self, request: HttpRequest, obj: ApiToken, post_url_continue: Any = None
    ) -> HttpResponse:
        """The token, in this answer and nowhere else: it is neither stored nor cached."""
        context = {
            **self.admin_site.each_context(request),
            "title": _("API token made"),
            "opts": self.opts,
            "key": obj.key,
        }
        return render(request, "projects/token_made.html", context)

    @admin.action(description=_("Revoke"), permissions=["view"])
    def revoke_selected(
        self, request: HttpRequest, queryset: QuerySet[ApiToken]
    ) -> HttpResponse | None:
        count = tokens.revoke(tokens=queryset, actor=request.user)
        told = ngettext("%(count)s token is revoked.", "%(count)s tokens are revoked.", count)
        messages.success(request, told % {"count": count})
        return None if self.has_module_permission(request) else redirect("admin:index")
