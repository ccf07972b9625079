from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from projects.admin_base import BY_PROJECT
from projects.admin_lists import DeclaredChangeList
from projects.models import Project
from projects.services import delete
from skills import services, uses
from skills.admin import lines_page, propose_page
from skills.admin.base import ADMIN, administered, confirm_page
from skills.models import FieldMapping
from study import dictionary
from study.admin.export import ExportAdmin
from study.blinding.mask import unnamed_for, unnamed_for_all
from study.dictionary import KnownNames, name_refusal


class MappingForm(forms.ModelForm):
    """A field that REDCap does not know is refused with the nearest ones; so is what somebody else changed."""

    read = forms.CharField(widget=forms.HiddenInput, required=False, label="")

    class Meta:
        model = FieldMapping
        fields = ("project", "alias_name", "actual_name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stands = "" if self.instance._state.adding else str(self.instance)
        self.initial["read"] = self.stands

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.pop("read", "") != self.stands:
            raise ValidationError(gettext("This has changed meanwhile; please look again."))
        project = cleaned.get("project") or (self.instance.project_id and self.instance.project)
        name = cleaned.get("actual_name") or ""
        if project and (
            why := name_refusal(
                name, KnownNames.of(project).fields, unnamed=unnamed_for_all(project)
            )
        ):
            raise ValidationError({"actual_name": why})
        return cleaned


class MappingList(DeclaredChangeList):
    """The rows of a page with the skills that name them; one statement for all of them."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list: Any = [*self.result_list]
        found = uses.of_studies({row.project_id for row in self.result_list})
        for row in self.result_list:
            row.uses = found.get((row.project_id, row.alias_name), [])


@admin.register(FieldMapping)
class FieldMappingAdmin(ExportAdmin):
    empty = _("No name is mapped yet: the data dictionary proposes some.")
    form = MappingForm
    edit_roles = add_roles = delete_roles = ADMIN
    list_display = ("alias_name", "actual_name", "show_uses", "show_project")
    codes = ("actual_name",)
    list_filter = (BY_PROJECT,)
    search_fields = ("alias_name", "actual_name")
    fields = ("project", "alias_name", "actual_name", "show_uses", "read")
    readonly_fields = ("show_uses",)
    actions = ("export_selected",)
    actions_list = ("propose", "lines", "export_list")
    list_before_template = "skills/add_mapping.html"

    @action(
        description=_("Propose from the REDCap dictionary"),
        url_path="propose",
        permissions=["propose"],
        icon="auto_awesome",
    )
    def propose(self, request: HttpRequest) -> HttpResponse:
        """Choose among the names that the data dictionary suggests."""
        return confirm_page(
            self,
            request,
            name="admin:skills_fieldmapping_propose",
            title=gettext("Field mappings from the REDCap dictionary"),
            template="skills/propose.html",
            offer=propose_page.offer,
            apply=propose_page.apply_chosen,
        )

    @action(
        description=_("Paste or import"),
        url_path="lines",
        permissions=["propose"],
        icon="playlist_add",
    )
    def lines(self, request: HttpRequest) -> HttpResponse:
        """Take many at once, from a text or a CSV file."""
        return lines_page.lines_view(request, self, administered(self, request))

    def has_propose_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_add_permission(request)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[DeclaredChangeList]:
        return MappingList

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What was read is for writers."""
        names = super().get_fields(request, obj)
        return [one for one in names if one != "read" or self._writes(request, obj)]

    def get_exported(self, request: HttpRequest) -> list[str]:
        """What can be taken in again, and whose it is."""
        return ["alias_name", "actual_name", "show_project"]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """With the box that adds one, for those who may."""
        own = [*administered(self, request)]
        known = _fields(own[0], request) if len(own) == 1 else []
        extra = {"adding": own, "known_fields": known, **(extra_context or {})}
        return super().changelist_view(request, extra)

    @admin.display(description=_("used by"))
    def show_uses(self, obj: Any) -> Any:
        """The skills that name it, with their rules."""
        if not hasattr(obj, "uses"):
            found = uses.of_studies({obj.project_id} if obj.project_id else ())
            obj.uses = found.get((obj.project_id, obj.alias_name), [])
        parts = (
            (
                reverse("admin:skills_skill_change", args=[use.skill.pk]),
                use.skill.name,
                ", ".join(use.places),
            )
            for use in obj.uses
        )
        if not obj.uses:
            return "-"
        return format_html_join("; ", '<a class="iit-link is-within" href="{}">{}</a>: {}', parts)

    def save_model(self, request: HttpRequest, obj: FieldMapping, form: Any, change: bool) -> None:
        services.save_mapping(mapping=obj, actor=request.user)

    def delete_model(self, request: HttpRequest, obj: FieldMapping) -> None:
        delete(obj, obj.project, request.user, "mapping.change")

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for mapping in queryset:
            self.delete_model(request, mapping)


def _fields(project: Project, request: HttpRequest) -> list[tuple[str, str]]:
    """(name, label) of the study's fields as they were last read; [] where they never were.

    Without those that unblind, for who is blinded.
    """
    if dictionary.stored(project) is None:
        return []
    metadata = dictionary.load(project)
    hidden = unnamed_for(project, request.user)
    return [(name, metadata.label(name)) for name in metadata.fields if name not in hidden]
