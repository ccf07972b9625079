"""The Memory Manager's tables in the console: what is kept, on which words it rests, and forgetting it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from core.house.db import atomic
from memory.console import without_unreadable
from memory.models import MemoryQuestion, UserMemory, UserProfile
from memory.people import fact_store, forgotten, schemas
from memory.people.forgotten import Pick
from projects.access import member_in
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.models import Role
from projects.scoping import User

_LIST = "admin:memory_usermemory_changelist"
_PAGE = "admin:memory_usermemory_change"


def may_forget(user: User, row: UserMemory) -> bool:
    """The person themselves, a superuser, or an administrator of all sites."""
    member = member_in(user, row.project_id)
    of_all = member is not None and member.role == Role.ADMIN and not member.site
    return user.is_active and (of_all or _is_own(user, row) or getattr(user, "is_superuser", False))


def _is_own(user: User, row: UserMemory) -> bool:
    member = member_in(user, row.project_id)
    return member is not None and member.identity == row.user_id


@require_POST
def forget_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Forget a memory with its older values; somebody else's needs a reason."""
    row = get_object_or_404(_of(request).select_related("project"), pk=pk)
    if not may_forget(request.user, row):
        raise Http404
    reason = request.POST.get("reason", "").strip()
    if not reason and not _is_own(request.user, row):
        messages.error(request, gettext("Give the reason: it is another person's memory."))
        return redirect(_PAGE, pk)
    with atomic():
        fact_store.claim(row.project_id, row.user_id)
        forgotten.erase(
            project=row.project,
            user_id=row.user_id,
            picks=[Pick(row)],
            actor=request.user,
            reason=reason,
        )
    messages.success(request, gettext("Forgotten; no job brings it back."))
    return redirect(_LIST)


def _of(request: HttpRequest) -> QuerySet[UserMemory]:
    return without_unreadable(UserMemory.objects.for_user(request.user), request.user)


class OwnAdmin(ScopedAdmin):
    """Rows of a person, without those that name a record of another site."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """What the user may read."""
        return without_unreadable(super().get_queryset(request), request.user)


@admin.register(UserMemory)
class UserMemoryAdmin(OwnAdmin):
    empty = _("Nobody has told the assistant anything about themselves yet.")
    list_display = ("user_id", "memory_type", "show_field", "content", "importance", "created_at")
    list_filter = (BY_PROJECT, "memory_type", "category")
    search_fields = ("user_id", "field")
    sealed_search_fields = ("content",)
    fields = (
        ("project", "user_id"),
        ("memory_type", "importance"),
        ("show_field", "category"),
        "content",
        "value",
        "evidence",
        ("source", "superseded_by"),
        ("created_at", "expires_at"),
    )
    readonly_fields = ("show_field",)
    change_form_template = "memory/user_memory.html"

    @admin.display(description=_("field"), ordering="field")
    def show_field(self, obj: UserMemory) -> str:
        """As the profile's schema names it; a whole statement belongs to no field."""
        if obj.is_statement:
            return gettext("in their own words")
        slot = schemas.current().slot(obj.field)
        return slot.label if slot else obj.field

    def get_urls(self) -> Any:
        forget = self.admin_site.admin_view(forget_view)
        own = [path("<uuid:pk>/forget/", forget, name="memory_usermemory_forget")]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """With the older values and the button that forgets all of them."""
        row = self.get_object(request, object_id)
        extra: dict[str, Any] = {}
        if row:
            extra = {
                "memory": row,
                "older": _of(request).filter(pk__in=[one.pk for one in fact_store.older([row])]),
                "newer": _of(request).filter(pk=row.superseded_by_id).first(),
                "may_forget": may_forget(request.user, row),
                "reason_needed": not _is_own(request.user, row),
            }
        answer: HttpResponse = super().change_view(
            request, object_id, form_url, (extra_context or {}) | extra
        )
        return answer


@admin.register(UserProfile)
class UserProfileAdmin(OwnAdmin):
    empty = _("No profile yet: they are made from what people say of themselves.")
    list_display = ("user_id", "show_score", "last_at", "summarized_at", "show_project")
    list_filter = (BY_PROJECT,)
    search_fields = ("user_id",)
    fields = (
        ("project", "user_id"),
        "narrative",
        "completeness",
        "profile",
        ("last_at", "summarized_at"),
    )

    @admin.display(description=_("completeness"))
    def show_score(self, obj: UserProfile) -> str:
        score = obj.completeness.get("score") if isinstance(obj.completeness, dict) else None
        return "-" if score is None else f"{score}%"


@admin.register(MemoryQuestion)
class MemoryQuestionAdmin(OwnAdmin):
    empty = _("No contradiction has to be asked about.")
    list_display = ("created_at", "user_id", "field", "asked_at", "show_project")
    list_filter = (BY_PROJECT,)
    fields = (("project", "user_id"), "field", "options", ("created_at", "asked_at"))
