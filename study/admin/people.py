"""People of the house, and members of a study."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from projects import members, people, services, wecom_ids
from projects.admin.accounts import SuperusersOnly
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.admin_lists import DeclaredAdmin
from projects.models import Member, Person, Role
from study.known_names import KnownNames, refusal


class MemberForm(forms.ModelForm):
    """A new row names its person by what they go by; who that is nobody says here (`projects.people`)."""

    wecom_userid = forms.CharField(
        label=_("WeCom userid"),
        max_length=64,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Or the login of somebody without WeCom."),
    )
    actor: User | AnonymousUser

    class Meta:
        model = Member
        exclude = ("person",)  # noqa: DJ006 - a new column belongs to the form unless it says who somebody is

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        project, identity = cleaned.get("project"), cleaned.get("wecom_userid", "")
        if project and identity:
            person = Person.objects.known(identity)
            if person and project.members.filter(person=person).exists():
                self.add_error("wecom_userid", _("Is a member of this study already."))
        return cleaned

    def _post_clean(self) -> None:
        """The rights, on the row as it would be."""
        super()._post_clean()  # type: ignore[misc]
        row: Member = self.instance
        before = Member.objects.filter(pk=row.pk).first()
        if row.project_id and (why := members.refusal(self.actor, before, row) or self._unknown()):
            self.add_error("site", why)

    def _unknown(self) -> str:
        """Why the site is none of the study's; a row keeps one that REDCap has dropped since."""
        if not {"project", "site"} & {*self.changed_data}:
            return ""
        return refusal(self.instance.site, KnownNames.of(self.instance.project).sites)


class AsksWecom:
    """A button beside a person, and a batch: whether WeCom knows the userid."""

    actions = ("ask_wecom",)
    actions_detail = ("ask_wecom_after",)

    @admin.action(description=_("Check WeCom userids"), permissions=["ask"])
    def ask_wecom(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for told in wecom_ids.ask(queryset.values_list("wecom_userid", flat=True)):
            (messages.success if told.ok else messages.warning)(request, told.text)

    @action(
        description=_("Check WeCom userid"),
        url_path="wecom",
        permissions=["ask"],
        icon="how_to_reg",
    )
    def ask_wecom_after(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, say it, and be back."""
        page: Any = self
        rows = page.get_queryset(request).filter(pk=object_id)
        if not rows.exists():
            raise Http404
        self.ask_wecom(request, rows)
        return redirect(f"admin:{page.opts.app_label}_{page.opts.model_name}_change", object_id)

    def has_ask_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Who may make rows here."""
        page: Any = self
        return bool(page.has_add_permission(request))


@admin.register(Member)
class MemberAdmin(AsksWecom, ScopedAdmin):
    form = MemberForm
    edit_roles = add_roles = (Role.ADMIN,)
    list_display = ("show_name", "wecom_userid", "show_role", "site", "show_project", "is_active")
    list_filter = (BY_PROJECT, "role", "site", "is_active")
    search_fields = ("display_name", "wecom_userid")
    list_select_related = ("project", "person__user")
    fields = (
        ("project", "display_name"),
        ("wecom_userid", "show_user"),
        ("role", "site"),
        ("language", "is_active"),
        "plain_text",
    )
    readonly_fields = ("show_user",)

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """The form knows who fills it in."""
        form = super().get_form(request, *args, **kwargs)
        form.actor = request.user
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A row stays with its person."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "wecom_userid"] if obj else fields

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Not one's own row, nor one of another site (`projects.members`)."""
        if not super().has_change_permission(request, obj):
            return False
        return obj is None or not members.refusal(request.user, obj)

    def _readable(self, item: Any) -> Any:
        return "show_language" if item == "language" else super()._readable(item)

    @admin.display(description=_("language"))
    def show_language(self, obj: Member) -> str:
        return str(dict(settings.LANGUAGES).get(obj.language, obj.language))

    @admin.display(description=_("console user"))
    def show_user(self, obj: Member) -> str:
        return (obj.person_id and obj.person.login) or "-"

    @admin.display(description=_("name"), ordering="display_name")
    def show_name(self, obj: Member) -> str:
        return obj.display_name or obj.identity

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

    def save_model(self, request: HttpRequest, obj: Member, form: ModelForm, change: bool) -> None:
        services.save_member(member=obj, actor=request.user)


class PersonForm(forms.ModelForm):
    """A login that is somebody else's may be chosen: it is moved, and both are told."""

    reason = forms.CharField(label=_("why"), required=False, widget=UnfoldAdminTextInputWidget)

    class Meta:
        model = Person
        fields = ("wecom_userid", "user")

    def validate_unique(self) -> None:
        """`people.check` says where to go instead."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        row = self.instance
        userid = cleaned.get("wecom_userid", row.wecom_userid)
        people.check(Person(pk=row.pk, wecom_userid=userid, user=cleaned.get("user")))
        return cleaned


@admin.register(Person)
class PersonAdmin(AsksWecom, SuperusersOnly, DeclaredAdmin):
    form = PersonForm
    compressed_fields = True
    list_display = ("__str__", "wecom_userid", "user", "show_studies")
    search_fields = ("wecom_userid", "user__username", "memberships__display_name")
    list_select_related = ("user",)
    fields = (("wecom_userid", "user"), "reason", "show_studies")
    readonly_fields = ("show_studies",)

    def get_readonly_fields(self, request: HttpRequest, obj: Person | None = None) -> Any:
        """A userid stays with its person."""
        given = super().get_readonly_fields(request, obj)
        return (*given, "wecom_userid") if obj and obj.wecom_userid else given

    @admin.display(description=_("Studies"))
    def show_studies(self, obj: Person) -> str:
        rows = obj.memberships.select_related("project").order_by("project__code")
        return ", ".join(f"{row.project.code} ({row.get_role_display()})" for row in rows) or "-"

    def save_model(self, request: HttpRequest, obj: Person, form: ModelForm, change: bool) -> None:
        reason = form.cleaned_data["reason"]
        people.link(person=obj, actor=request.user, reason=reason)
