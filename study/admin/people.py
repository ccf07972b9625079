"""People of the house, and members of a study."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from unfold.decorators import action, display
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from projects import invitations, members, people, services, wecom_ids
from projects.admin.accounts import SuperusersOnly
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.admin_lists import DeclaredAdmin
from projects.models import Member, Person, Role
from projects.models.person import validate_userid
from study.dictionary import KnownNames, name_refusal


class MemberForm(forms.ModelForm):
    """A new row names its person by what they go by; who that is nobody says here (`projects.people`)."""

    wecom_userid = forms.CharField(
        label=_("WeCom userid"),
        max_length=64,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Or the login of somebody without WeCom."),
    )
    all_sites = forms.BooleanField(
        label=_("all sites"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=_("Sees and is told of the subjects of every site."),
    )
    actor: User | AnonymousUser

    class Meta:
        model = Member
        exclude = ("person",)  # noqa: DJ006 - a new column belongs to the form unless it says who somebody is

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and not self.instance._state.adding:
            self.initial["all_sites"] = not self.instance.site
        if self.instance.invited_at and "is_active" in self.fields:
            # Whoever is invited is wanted: to take the tick away is to take the invitation back.
            self.initial["is_active"] = True
            self.fields["is_active"].help_text = _("Invited; the person has not accepted yet.")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if bool(cleaned.get("site")) == bool(cleaned.get("all_sites")):
            self.add_error("site", members.NO_SITE)
        project, identity = cleaned.get("project"), cleaned.get("wecom_userid", "")
        if project and identity:
            person = Person.objects.known(identity)
            try:
                if person is None:
                    validate_userid(identity)
                elif project.members.filter(person=person).exists():
                    raise ValidationError(_("Is a member of this study already."))
            except ValidationError as error:
                self.add_error("wecom_userid", error)
        return cleaned

    def _post_clean(self) -> None:
        """The rights, on the row as it would be."""
        super()._post_clean()  # type: ignore[misc]
        row: Member = self.instance
        before = Member.objects.filter(pk=row.pk).first()
        if not row.project_id:
            return
        why = members.refusal(self.actor, before, row)
        if not why and {"project", "site"} & {*self.changed_data}:
            # A row keeps a site that REDCap has dropped since.
            why = name_refusal(row.site, KnownNames.of(row.project).sites)
        if why:
            self.add_error("site", why)


class AsksWecom:
    """A button beside a person, and a batch: whether WeCom knows the userid."""

    actions: tuple[str, ...] = ("ask_wecom",)
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
        row = page.get_object(request, object_id)
        if row is None:
            raise Http404
        self.ask_wecom(request, page.get_queryset(request).filter(pk=row.pk))
        return redirect(f"admin:{page.opts.app_label}_{page.opts.model_name}_change", object_id)

    def has_ask_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Who may make rows here."""
        page: Any = self
        return bool(page.has_add_permission(request))


@admin.register(Member)
class MemberAdmin(AsksWecom, ScopedAdmin):
    empty = _("Nobody takes part yet: add the people of your study with role and site.")
    form = MemberForm
    of_site = True  # of which site, `projects.members` says
    edit_roles = add_roles = (Role.ADMIN,)
    list_display = (
        "show_name",
        "wecom_userid",
        "show_role",
        "show_site",
        "show_project",
        "show_state",
    )
    list_filter = (BY_PROJECT, "role", "site", "is_active")
    search_fields = ("display_name", "wecom_userid")
    list_select_related = ("project", "person__user")
    fields = (
        ("project", "display_name"),
        ("wecom_userid", "show_user"),
        ("role", "site"),
        "all_sites",
        ("language", "is_active"),
        "plain_text",
    )
    readonly_fields = ("show_user",)
    actions: tuple[str, ...] = (*AsksWecom.actions, "accept_for")

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view(invitations_view)
        own = [path("invitations/", view, {"page": self}, name="projects_member_invitations")]
        return own + super().get_urls()

    @admin.action(description=_("Accept in the person's place"), permissions=["accept"])
    def accept_for(self, request: HttpRequest, queryset: QuerySet[Member]) -> None:
        """A superuser's word stands for the person's, who is told."""
        rows = queryset.filter(invited_at__isnull=False)
        number = sum(services.accept_for(member=row, actor=request.user) for row in rows)
        told = ngettext("%d membership accepted.", "%d memberships accepted.", number)
        messages.success(request, told % number)

    def has_accept_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    @display(
        description=_("active"),
        ordering="is_active",
        label={"active": "success", "invited": "warning", "left": ""},
    )
    def show_state(self, obj: Member) -> tuple[str, str]:
        if obj.invited_at:
            return "invited", gettext("Invited")
        return ("active", gettext("active")) if obj.is_active else ("left", gettext("Not active"))

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """The form knows who fills it in."""
        form = super().get_form(request, *args, **kwargs)
        form.actor = request.user
        return form

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """For those who only read the site's column says whether it is all of them."""
        shown = super().get_fields(request, obj)
        return shown if self._writes(request, obj) else [f for f in shown if f != "all_sites"]

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
        if item == "site":
            return "show_site"
        return "show_language" if item == "language" else super()._readable(item)

    @admin.display(description=_("site"), ordering="site")
    def show_site(self, obj: Member) -> str:
        return obj.site_told

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
        chosen = form.cleaned_data["all_sites"]
        services.save_member(member=obj, actor=request.user, all_sites=chosen)
        if obj.invited_at:
            messages.info(request, _("The membership counts once the person has accepted it."))


@require_http_methods(["GET", "POST"])
def invitations_view(request: HttpRequest, page: ModelAdmin) -> HttpResponse:
    """The reader's own invitations; POST accepts or declines one. Raises Http404 for one of others."""
    waiting = invitations.waiting_for(request.user)
    if request.method == "POST":
        member = next((one for one in waiting if str(one.pk) == request.POST.get("member")), None)
        if member is None:
            raise Http404
        accept = request.POST.get("answer") == "accept"
        if invitations.settle(member=member, accept=accept, actor=request.user):
            study = member.project.name
            told = _("You are a member of %(study)s now.") if accept else _("Declined: %(study)s.")
            messages.success(request, told % {"study": study})
        return redirect("admin:projects_member_invitations" if len(waiting) > 1 else "admin:index")
    context = page.admin_site.each_context(request) | {
        "title": _("Invitations"),
        "opts": page.model._meta,
        "invitations": [(one, invitations.describe_invitation(one)) for one in waiting],
    }
    return render(request, "projects/invitations.html", context)


class PersonForm(forms.ModelForm):
    """A login that is somebody else's may be chosen: it is moved, and both are told."""

    reason = forms.CharField(label=_("why"), required=False, widget=UnfoldAdminTextInputWidget)

    class Meta:
        model = Person
        fields = ("wecom_userid", "user")

    def validate_unique(self) -> None:
        """`people.check_person` says where to go instead."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        row = self.instance
        userid = cleaned.get("wecom_userid", row.wecom_userid)
        people.check_person(Person(pk=row.pk, wecom_userid=userid, user=cleaned.get("user")))
        return cleaned


@admin.register(Person)
class PersonAdmin(AsksWecom, SuperusersOnly, DeclaredAdmin):
    empty = _("No person is known yet: adding a member makes them known.")
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
