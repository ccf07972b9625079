"""Hot memory in the console: the editor, the kill switch (seed 000, 5.3), proposals and what was removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from core.house.admin_text import rendered
from core.house.request_cache import once
from core.integrations import tokens
from memory.console import MeteredWidget, scopes
from memory.hot import injection, past, proposals, save
from memory.hot.text import HEADINGS, Line, MemoryTooLarge, lines, put_back, remove_line
from memory.hot.tombstones import place_of, without_forgotten
from memory.models import (
    MemoryProposal,
    MemoryTombstone,
    ProjectMemory,
    ProjectMemoryVersion,
)
from memory.versioned import EDITORS, TextAdmin, VersionedTextForm
from memory.visibility import visible, whole
from projects import actors
from projects.access import member_in
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.models import Project, Role
from projects.scoping import memberships
from study.admin.versions import VersionInline


class ProjectMemoryForm(VersionedTextForm):
    text_field = "content"
    told = _(
        "Somebody changed the memory meanwhile. Your text below now holds the changes of both; "
        "look it over and save again."
    )

    class Meta:
        model = ProjectMemory
        fields = ("project", "content")
        widgets = {"content": MeteredWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:
            self.initial.setdefault("content", "\n\n".join(f"# {h}" for h in HEADINGS.values()))

    def check(self, text: str) -> None:
        save.check_size(text)

    def author_of(self, current: ProjectMemory) -> str:
        return actors.describe_actor(current.last_updated_by)

    def still_said(self, text: str, current: str) -> str:
        """What users had forgotten is gone from old versions as well, so a merge would take it for new."""
        return without_forgotten(self.instance.project, current, text)


class MemoryVersionInline(VersionInline):
    model = ProjectMemoryVersion

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Old versions name subjects of all sites, so a membership with a site does not open them.

        Without a row Django asks for the list of an inline that it has let through already.
        """
        return obj is None or whole(scopes(request.user, obj.project_id))


@admin.register(ProjectMemory)
class ProjectMemoryAdmin(TextAdmin):
    empty = _("No study has a hot memory yet: write what the assistant always has to have in mind.")
    form = ProjectMemoryForm
    add_roles = EDITORS
    restore = staticmethod(save.restore)
    refused = (save.MemoryConflict, MemoryTooLarge)
    list_display = ("show_project", "show_author", "version", "updated_at")
    list_select_related = ("project",)
    readonly_fields = ("show_author", "updated_at", "show_content", "show_size")
    inlines = (MemoryVersionInline,)
    change_form_template = "memory/hot.html"

    def get_urls(self) -> Any:
        retire = self.admin_site.admin_view(self.retire_view)
        back = self.admin_site.admin_view(self.return_view)
        own = [
            path("<uuid:pk>/retire/", retire, name="memory_projectmemory_retire"),
            path("<uuid:pk>/return/<int:number>/", back, name="memory_projectmemory_return"),
        ]
        return own + super().get_urls()

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        """For the menu of every page: it links no page that adds, so nobody asks for studies without one."""
        return {
            "add": False,
            "change": self.has_change_permission(request),
            "delete": self.has_delete_permission(request),
            "view": self.has_view_permission(request),
        }

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Editors, while a study of theirs has none."""
        key = ("without memory", request.user.pk)
        return once(key, lambda: self._without_memory(request).exists())

    def _without_memory(self, request: HttpRequest) -> QuerySet[Project]:
        rows = Project.objects.for_user(request.user).filter(memory=None)
        if request.user.is_superuser:
            return rows
        editing = self.holders(request, EDITORS).filter(site="")
        return rows.filter(pk__in=editing.values("project"))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """A new one is for a study that has none."""
        if db_field.name == "project":
            kwargs["queryset"] = self._without_memory(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_inlines(self, request: HttpRequest, obj: Any = None) -> Any:
        """What is not there yet has no versions."""
        return self.inlines if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """The editor, or the lines that the reader may see; and how much of it a prompt carries."""
        if obj is None:
            return [(None, {"fields": ("project", "content")})]
        editor = self.has_change_permission(request, obj)
        content = ("content", "base_version") if editor else ("show_content",)
        return [(None, {"fields": (*content, "show_size", ("show_author", "updated_at"))})]

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """The row with what this reader is shown of it."""
        memory = super().get_object(request, object_id, from_field)
        if memory:
            member = member_in(request.user, memory.project_id)
            memory.shown = visible(memory.content, scopes(request.user, memory.project_id))
            memory.left_out = injection.inject(memory.project, member).left_out if member else ()
        return memory

    @admin.display(description=_("content"))
    def show_content(self, obj: Any) -> Any:
        return rendered(obj.shown)

    @admin.display(description=_("in the prompt"))
    def show_size(self, obj: Any) -> Any:
        """Tokens of the text, and the lines that did not fit (decisions.md, "what is injected")."""
        if not obj.pk:
            return "-"
        count = _("%(count)d of at most %(limit)d tokens") % {
            "count": tokens.count(obj.shown),
            "limit": injection.LIMIT,
        }
        cut = [line["line"] for line in obj.left_out if line["line"]]
        if not cut:
            return count
        return format_html(
            '{}<p>{}</p><pre class="iit-json" tabindex="0">{}</pre>',
            count,
            _("Left out:"),
            "\n".join(cut),
        )

    show_author = actors.column("last_updated_by", _("last changed by"))

    def beside(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Beside the versions each line with where it comes from, and what was taken out, for editors."""
        shown = super().beside(request, row)
        previews = memberships(request.user).filter(role=Role.ADMIN, site="").exists()
        return {**shown, **(_lines_of(row) if shown else {}), "may_preview": previews}

    def save_model(self, request: HttpRequest, obj: ProjectMemory, form: Any, change: bool) -> None:
        saved = save.save_memory(
            project=obj.project,
            content=obj.content,
            base_version=form.cleaned_data["base_version"] if change else None,
            actor=request.user,
        )
        obj.pk, obj.version = saved.pk, saved.version

    @method_decorator(require_POST)
    def retire_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """停用: the line is gone with the next message, and no job brings it back."""
        memory = self.row_to_edit(request, pk)

        def content(line: Line) -> str:
            return remove_line(memory.content, line=line.text, kind=line.kind, user_id=line.profile)

        done = gettext("The line is out of use.")
        return self._edited(request, memory, memory.content, content, done)

    @method_decorator(require_POST)
    def return_view(self, request: HttpRequest, pk: UUID, number: int) -> HttpResponse:
        """A person takes back what was removed: it stands in its place again, and jobs may say it again."""
        memory = self.row_to_edit(request, pk)
        version = get_object_or_404(memory.versions, version=number)

        def content(line: Line) -> str:
            name = proposals.name_of(memory.project, line.profile)
            return put_back(memory.content, line, name=name)

        done, reason = gettext("The line is in use again."), gettext("A removed line taken back")
        return self._edited(request, memory, version.content, content, done, reason)

    def _edited(
        self,
        request: HttpRequest,
        memory: ProjectMemory,
        shown: str,
        content: Callable[[Line], str],
        done: str,
        reason: str = "",
    ) -> HttpResponse:
        """Save what `content` makes of the line that was clicked in a text; it may be there no more.

        The same words may stand in two profiles, so its number was sent, too.
        """
        found = [line for line in lines(shown) if line.is_content]
        sent = request.POST.get("number", "")
        at = int(sent) if sent.isdecimal() and len(sent) < 6 else len(found)
        line = found[at] if at < len(found) else None
        if line is None or line.text != request.POST.get("line", ""):
            messages.error(request, gettext("This line is not there any more."))
            return redirect("admin:memory_projectmemory_change", memory.pk)

        def write(base: int) -> None:
            save.save_memory(
                project=memory.project,
                content=content(line),
                actor=request.user,
                base_version=base,
                reason=reason,
            )

        return self.written(request, memory, done, write)


def _lines_of(memory: ProjectMemory) -> dict[str, Any]:
    """What the page of a hot memory shows its editors beside form and versions.

    Of a line who brought it in, in words; of a proposal, who made it, who accepted it and on what.
    """
    count = tokens.count(memory.content)
    versions = past.newest_versions(memory)
    origins = past.origins(memory, versions)
    shown = []
    for line in lines(memory.content):
        if line.is_content:
            origin = origins.get(place_of(line))
            proposal = origin.proposal if origin else None
            shown.append(
                {
                    "line": line,
                    "origin": origin,
                    "author": actors.describe_actor(origin.author) if origin else "",
                    "proposer": actors.describe_actor(proposal.author) if proposal else "",
                }
            )
    waiting = MemoryProposal.objects.filter(
        project=memory.project, state=MemoryProposal.State.PENDING
    )
    return {
        "hot": memory,
        "hot_lines": shown,
        "hot_removed": [
            {"row": row, "author": actors.describe_actor(row.author)}
            for row in past.removed(memory, versions)
        ],
        "hot_oldest": past.MOST,
        "hot_waiting": waiting.count(),
        "hot_over": count if count > injection.LIMIT else 0,
        "hot_limit": injection.LIMIT,
    }


@admin.register(MemoryProposal)
class MemoryProposalAdmin(ScopedAdmin):
    """Changes that a job proposes; accepting one writes it as the person who accepts."""

    empty = _("Nothing is proposed for the hot memory at the moment.")
    view_roles = EDITORS
    whole_study = True
    list_display = (
        "created_at",
        "action",
        "show_section",
        "profile",
        "show_change",
        "show_author",
        "show_state",
    )
    list_filter = (BY_PROJECT, "state", "action")
    fields = (
        ("project", "action"),
        ("show_section", "profile"),
        "old",
        "new",
        "show_evidence",
        ("show_author", "created_at"),
        "state",
        ("decided_by", "decided_at"),
    )
    readonly_fields = ("show_evidence", "show_section", "show_author")
    change_form_template = "memory/proposal.html"
    actions = ("accept_proposals", "refuse_proposals")

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    @admin.display(description=_("section"), ordering="section")
    def show_section(self, obj: MemoryProposal) -> str:
        """As the memory heads it."""
        return HEADINGS.get(obj.section, obj.section)

    show_author = actors.column("author", _("proposed by"))

    @admin.display(description=_("line"))
    def show_change(self, obj: MemoryProposal) -> str:
        return Truncator(" → ".join(filter(None, [obj.old, obj.new]))).chars(120)

    @display(
        description=_("status"),
        ordering="state",
        label={str(state): colour for state, colour in MemoryProposal.COLOURS.items()},
    )
    def show_state(self, obj: MemoryProposal) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @admin.display(description=_("evidence"))
    def show_evidence(self, obj: MemoryProposal) -> Any:
        return format_html(
            '<pre class="iit-json" tabindex="0">{}</pre>', "\n".join(proposals.quotes(obj))
        )

    @admin.action(description=_("Accept the selected proposals"), permissions=["decide"])
    def accept_proposals(self, request: HttpRequest, queryset: QuerySet[MemoryProposal]) -> None:
        self._decide(request, queryset, proposals.accept)

    @admin.action(description=_("Refuse the selected proposals"), permissions=["decide"])
    def refuse_proposals(self, request: HttpRequest, queryset: QuerySet[MemoryProposal]) -> None:
        self._decide(request, queryset, proposals.refuse_proposal)

    def _decide(self, request: HttpRequest, rows: QuerySet[MemoryProposal], how: Any) -> None:
        """Each by itself: one that cannot be written does not hold up the others."""
        for proposal in rows.select_related("project").order_by("created_at"):
            try:
                how(proposal=proposal, actor=request.user)
            except proposals.REFUSALS as error:
                messages.error(request, f"{proposal}: {error}")
            else:
                messages.success(request, f"{proposal}: {proposal.get_state_display()}")


@admin.register(MemoryTombstone)
class MemoryTombstoneAdmin(ScopedAdmin):
    empty = _("No line of a memory was removed for good.")
    view_roles = EDITORS
    list_display = ("created_at", "created_by", "user_id", "show_project")
    list_filter = (BY_PROJECT,)
    fields = (("project", "user_id"), ("created_by", "created_at"))
