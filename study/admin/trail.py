"""The audit trail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from core.house import sealed_search
from projects import actors, audit
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.long_lists import LongList, period
from projects.models import AuditEntry, AuditHead, Project, Role
from study.admin import trail_words
from study.admin.export import ExportAdmin

VERBATIM = ("chain", "number", "previous", "hash")
MOST_OF_A_CELL = 30_000
"""Signs that a cell of a spreadsheet holds."""


def _named(word: str) -> Q:
    """Entries whose action or actor is called so, or that hold the word in a plain column."""
    folded = word.casefold()
    called = [
        name for name, label in audit.actions().items() if folded in gettext(label).casefold()
    ]
    jobs = [name for name, label in actors.JOBS.items() if folded in str(label).casefold()]
    plain = [
        Q(**{f"{name}__icontains": word}) for name in ("actor", "login", "action", "record_id")
    ]
    return reduce(or_, plain, Q(action__in=called) | Q(actor__in=jobs))


class ActionFilter(admin.SimpleListFilter):
    title = _("what")
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, gettext(label)) for name, label in audit.actions().items()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(action=self.value()) if self.value() else queryset


@admin.register(AuditEntry)
class AuditEntryAdmin(LongList, ExportAdmin):
    empty = _("Nothing was recorded yet: each write that matters leaves an entry here.")
    view_roles = (Role.ADMIN, Role.AUDITOR)
    whole_study = True
    list_display = (
        "show_at",
        "show_actor",
        "login",
        "show_action",
        "label",
        "record_id",
        "show_changed",
        "reason",
        "show_project",
    )
    list_filter = (BY_PROJECT, period("at"), ActionFilter)
    search_fields = ("actor", "login", "action", "record_id")
    sealed_search_fields = ("label", "reason", "old", "new")
    sealed_search_at = "at"
    list_select_related = ("project",)
    fields = (
        ("show_at", "show_action"),
        ("show_actor", "login"),
        "project",
        ("show_object", "record_id"),
        "reason",
        "show_changes",
        ("chain", "number"),
        "previous",
        "hash",
    )
    readonly_fields = ("show_at", "show_actor", "show_action", "show_object", "show_changes")
    actions = ("export_selected",)
    actions_list = ("export_list", "check_chain")

    more_exported = VERBATIM
    verbatim = VERBATIM

    def get_texts(self) -> Callable[[Any], Iterable[str]]:
        """All words of the list and the page."""
        return trail_words.searched_words

    def get_exported(self, request: HttpRequest) -> list[str]:
        """As the list shows it, without marks; the chain with its hashes, to be compared elsewhere."""
        plain = {"show_changed": "plain_changed"}
        return [plain.get(name, name) for name in super().get_exported(request)]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """By every word that the page shows; what a database column holds, however long ago."""
        found, twice = super().get_search_results(request, queryset, search_term)
        wanted = sealed_search.words(search_term)
        if wanted and not found.query.is_empty():
            found = found | queryset.filter(*map(_named, wanted))
        return found, twice

    @action(description=_("Check the chain"), url_path="check", icon="verified")
    def check_chain(self, request: HttpRequest) -> HttpResponse:
        """Walk the hash chain of a study's trail, part by part."""
        return check_view(request, self)

    @admin.display(description=_("time"), ordering="at")
    def show_at(self, obj: AuditEntry) -> str:
        """To the second: what came first decides a dispute."""
        return f"{localtime(obj.at):%Y-%m-%d %H:%M:%S}"

    show_actor = actors.column("actor", _("who"))

    @admin.display(description=_("what changed"))
    def show_changed(self, obj: AuditEntry) -> SafeString:
        """In short: what changed, and into what."""
        told = trail_words.changes_in_short(obj, most=120)
        return format_html_join("; ", '{}: <span class="iit-stored">{}</span>', told)

    @admin.display(description=_("what changed"))
    def plain_changed(self, obj: AuditEntry) -> str:
        """The same for a file."""
        told = trail_words.changes_in_short(obj, most=MOST_OF_A_CELL)
        return "; ".join(f"{name}: {value}" for name, value in told)

    @admin.display(description=_("what changed"))
    def show_changes(self, obj: AuditEntry) -> SafeString | str:
        """Each thing with its value before and after."""
        rows = trail_words.changes_of(obj)
        return render_to_string("study/trail_changes.html", {"rows": rows}) if rows else "-"

    @admin.display(description=_("object"))
    def show_object(self, obj: AuditEntry) -> SafeString | str:
        """What is spoken of, with a link where it is still there."""
        kind, address = trail_words.object_of(obj)
        label = obj.label or obj.object_id
        told = f"{kind}: {label}" if kind and label else kind or label or "-"
        return (
            format_html('<a class="iit-link" href="{}">{}</a>', address, told) if address else told
        )

    @admin.display(description=_("what"), ordering="action")
    def show_action(self, obj: AuditEntry) -> str:
        label = audit.actions().get(obj.action)
        return gettext(label) if label else obj.action


PART = 2000
_SHOWN = 50
FAULTS: dict[str, Promise] = {
    "changed": _("changed afterwards"),
    "missing": _("missing"),
    "inserted": _("inserted"),
    "not as anchored": _("not as anchored outside of the database"),
}


def check_view(request: HttpRequest, page: ScopedAdmin) -> HttpResponse:
    """GET shows the button; POST checks the next part of a chain (`chain`, `first`) and how it stands.

    Nothing is kept on the server between two parts: leaving the page ends the check.
    """
    if not page.has_view_permission(request):
        raise PermissionDenied
    chains = _chains(request, page)
    context: dict[str, Any] = page.admin_site.each_context(request) | {
        "title": gettext("Check the chain"),
        "opts": page.model._meta,
        "chains": chains.items(),
    }
    if request.method == "POST":
        chain = request.POST.get("chain", "")
        if chain not in chains:
            raise PermissionDenied
        context |= {"chain": chain, "called": chains[chain], **_part(request, chain)}
    return render(request, "study/trail_check.html", context)


def _chains(request: HttpRequest, page: ScopedAdmin) -> dict[str, str]:
    """{chain: name} of the studies whose trail the reader sees; a superuser's: the house's, too."""
    projects = Project.objects.order_by("code")
    if not request.user.is_superuser:
        held = page.readers(request).values("project")
        projects = projects.filter(pk__in=held)
    found = {audit.chain_of(one.pk): f"{one.code} {one.name}" for one in projects}
    apart = {audit.chain_of(one.pk, unblinds=True): one for one in projects}
    heads = AuditHead.objects.filter(chain__in=apart).exclude(
        chain__in=audit.unseen_chains(request.user)
    )
    for chain in heads.order_by("chain").values_list("chain", flat=True):
        found[chain] = gettext("%s: what rests on blinded fields") % apart[chain].code
    return {**found, audit.HOUSE: gettext("The house")} if request.user.is_superuser else found


def _part(request: HttpRequest, chain: str) -> dict[str, Any]:
    first, faults = _number(request, "first", least=1), _number(request, "faults", least=0)
    found, length = audit.verify_part(chain, first=first, most=PART)
    done = min(first + PART - 1, length)
    total = faults + len(found)
    return {
        "faults": [(one.number, FAULTS.get(one.what, one.what)) for one in found[:_SHOWN]],
        "fault_count": total,
        "length": length,
        "done": done,
        "next": done + 1 if done < length else 0,
    }


def _number(request: HttpRequest, name: str, *, least: int) -> int:
    text = request.POST.get(name, "")
    is_number = text.isascii() and text.isdecimal() and len(text) < 16
    return max(least, int(text)) if is_number else least
