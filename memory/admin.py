from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import path
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from house.admin_text import rendered
from house.admin_words import by_name
from house.asked_once import once
from house.stored_labels import name
from integrations import tokens
from memory.console import scopes
from memory.hot import (
    console,
    injection,
    proposals,
    removal,
    save,
)
from memory.hot.text import (
    CURRENT,
    FAQ,
    PROFILES,
    RULES,
    Kind,
)
from memory.labels import INTENTS
from memory.log import reading
from memory.models import (
    ConversationHistory,
    MemoryProposal,
    MemoryTombstone,
    MemoryTurn,
    ProjectMemory,
    ProjectMemoryVersion,
)
from memory.people import admin as agent_admin  # noqa: F401
from memory.reports import admin as weekly_admin  # noqa: F401
from memory.versioned_admin import EDITORS, VersionedAdmin
from memory.versioned_form import VersionedTextForm
from memory.visibility import visible, whole
from memory.widgets import MeteredWidget
from projects import actors
from projects.access import member_in
from projects.admin_base import BY_PROJECT, HouseAdmin, ReadOnlyInline, ScopedAdmin
from projects.long_lists import LongList, period
from projects.models import Project

HEADINGS = {
    str(kind): f"{chinese} ({english})"
    for kind, (chinese, english) in (
        (Kind.PROFILES, PROFILES),
        (Kind.CURRENT, CURRENT),
        (Kind.FAQ, FAQ),
        (Kind.RULES, RULES),
    )
}


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
        return actors.told(current.last_updated_by)

    def still_said(self, text: str, current: str) -> str:
        """What users had forgotten is gone from old versions as well, so a merge would take it for new."""
        return removal.without_forgotten(self.instance.project, current, text)


class VersionInline(ReadOnlyInline):
    model = ProjectMemoryVersion
    fields = ("version", "show_author", "created_at", "show_content")
    readonly_fields = fields
    tab = True
    per_page = 10

    show_author = actors.column("author", _("author"))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Old versions name subjects of all sites, so a membership with a site does not open them.

        Without a row Django asks for the list of an inline that it has let through already.
        """
        return obj is None or whole(scopes(request.user, obj.project_id))

    @admin.display(description=_("content"))
    def show_content(self, obj: ProjectMemoryVersion) -> Any:
        return format_html(
            '<details class="iit-folded"><summary>{}</summary>'
            '<pre class="iit-json" tabindex="0">{}</pre></details>',
            _("Show"),
            obj.content,
        )


@admin.register(ProjectMemory)
class ProjectMemoryAdmin(VersionedAdmin):
    form = ProjectMemoryForm
    add_roles = EDITORS
    restore = staticmethod(save.restore)
    conflict, too_long = save.MemoryConflict, save.MemoryTooLarge
    list_display = ("show_project", "show_author", "version", "updated_at")
    list_select_related = ("project",)
    readonly_fields = ("show_author", "updated_at", "show_content", "show_size")
    inlines = (VersionInline,)
    change_form_template = "memory/hot.html"

    def get_urls(self) -> Any:
        retire = self.admin_site.admin_view(console.retire_view)
        back = self.admin_site.admin_view(console.return_view)
        own = [
            path("<uuid:pk>/retire/", retire, name="memory_projectmemory_retire"),
            path("<uuid:pk>/return/<int:number>/", back, name="memory_projectmemory_return"),
        ]
        return own + super().get_urls()

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
        return size(obj.shown, obj.left_out) if obj.pk else "-"

    show_author = actors.column("last_updated_by", _("last changed by"))

    def beside(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        shown = super().beside(request, row)
        own = console.page(row) if shown else {}
        return {**shown, **own, "may_preview": console.previews(request.user)}

    def save_model(self, request: HttpRequest, obj: ProjectMemory, form: Any, change: bool) -> None:
        saved = save.save_memory(
            project=obj.project,
            content=obj.content,
            base_version=form.cleaned_data["base_version"] if change else None,
            actor=request.user,
        )
        obj.pk, obj.version = saved.pk, saved.version


def size(text: str, left_out: tuple[dict[str, str], ...]) -> Any:
    """Tokens of the text, and the lines that did not fit (decisions.md, "what is injected")."""
    count = _("%(count)d of at most %(limit)d tokens") % {
        "count": tokens.count(text),
        "limit": injection.LIMIT,
    }
    cut = [line["line"] for line in left_out if line["line"]]
    if not cut:
        return count
    return format_html(
        '{}<p>{}</p><pre class="iit-json" tabindex="0">{}</pre>',
        count,
        _("Left out:"),
        "\n".join(cut),
    )


@admin.register(ConversationHistory)
class ConversationHistoryAdmin(LongList, ScopedAdmin):
    list_display = (
        "created_at",
        "user_id",
        "show_role",
        "show_content",
        "show_intent",
        "record_id",
        "feedback",
    )
    list_filter = (
        *(BY_PROJECT, period("created_at"), "role"),
        *(by_name("intent", INTENTS, every=True), "feedback"),
    )
    search_fields = ("user_id", "record_id")
    sealed_search_fields = ("content",)
    fields = (
        ("project", "created_at"),
        ("user_id", "role"),
        "content",
        ("show_intent", "record_id"),
        "entities",
        ("feedback", "feedback_reason"),
    )
    readonly_fields = ("show_intent",)
    change_form_template = "memory/conversation.html"

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The trail says whose words were shown."""
        page = super().changelist_view(request, extra_context)
        shown = (getattr(page, "context_data", None) or {}).get("cl")
        if shown is not None and request.method == "GET":
            reading.note(actor=request.user, rows=shown.result_list)
        return page

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, obj: Any = None, **kwargs: Any
    ) -> Any:
        """The message within its conversation."""
        rows = reading.thread(obj, request.user) if obj else []
        reading.note(actor=request.user, rows=rows)
        more = {**context, "thread": rows}
        return super().render_change_form(request, more, *args, obj=obj, **kwargs)

    @admin.display(description=_("intent"), ordering="intent")
    def show_intent(self, obj: ConversationHistory) -> str:
        return name(INTENTS, obj.intent) or "-"

    @display(description=_("role"), ordering="role", label={"user": "info", "assistant": "success"})
    def show_role(self, obj: ConversationHistory) -> tuple[str, str]:
        return obj.role, obj.get_role_display()

    @admin.display(description=_("content"))
    def show_content(self, obj: ConversationHistory) -> str:
        return Truncator(obj.content).chars(60)


@admin.register(MemoryProposal)
class MemoryProposalAdmin(ScopedAdmin):
    """Changes that a job proposes; accepting one writes it as the person who accepts."""

    view_roles = EDITORS
    whole_study = True
    list_display = (
        "created_at",
        "show_action",
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

    @admin.display(description=_("change"), ordering="action")
    def show_action(self, obj: MemoryProposal) -> str:
        return obj.get_action_display()

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
        self._decide(request, queryset, proposals.refuse)

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
    view_roles = EDITORS
    list_display = ("created_at", "created_by", "user_id", "show_project")
    list_filter = (BY_PROJECT,)
    fields = (("project", "user_id"), ("created_by", "created_at"))


@admin.register(MemoryTurn)
class MemoryTurnAdmin(HouseAdmin):
    """How many turns wait for the Memory Manager; their words are nobody's to read."""

    list_display = ("created_at", "user_id", "project")
    fields = ("project", "user_id", "created_at")
