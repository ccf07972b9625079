"""What the console shows of texts that speak of all sites, and the Markdown editor with its preview and meter.

A line that names a record the reader may not see is left out (decisions.md, "hot memory and reports name
subjects of all sites").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.db.models import JSONField, Model, QuerySet, TextField
from django.forms import Media
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from markdownx.views import MarkdownifyView
from markdownx.widgets import MarkdownxWidget
from unfold.widgets import TEXTAREA_CLASSES

from core.house.markdown import TextTooLong
from core.house.request_cache import once
from core.integrations import tokens
from memory.hot import save
from memory.hot.injection import LIMIT
from memory.visibility import Scope, scope_of, whole
from projects.access import has_role
from projects.models import Role
from projects.scoping import User, held

_NEARLY = 0.9
M = TypeVar("M", bound=Model)


def scopes(user: User, project_id: Any) -> list[Scope]:
    """What the user may see in a study, one scope for each membership; [] for a superuser: everything."""
    if getattr(user, "is_superuser", False):
        return []
    return [scope_of(member) for member in held(user) if str(member.project_id) == str(project_id)]


def without_unreadable(rows: QuerySet[M], user: User) -> QuerySet[M]:
    """Rows of `for_user` without those that name a record outside the user's sites, as in chat.

    Who reads one site alone has no rows but their own (`OwnQuerySet`): few enough to look at each.
    """

    def unreadable() -> list[Any]:
        hidden: list[Any] = []
        for project_id in (member.project_id for member in held(user) if member.site):
            opened = scopes(user, project_id)
            mine = () if whole(opened) else rows.filter(project_id=project_id)
            hidden += [row.pk for row in mine if not any(one.allows(_words(row)) for one in opened)]
        return hidden

    hidden = once(("unreadable", rows.model, user.pk), unreadable)
    return rows.exclude(pk__in=hidden) if hidden else rows


def _words(row: Model) -> str:
    told = [f for f in row._meta.concrete_fields if isinstance(f, TextField | JSONField)]
    return " ".join(str(getattr(row, field.attname)) for field in told)


@dataclass(frozen=True)
class Gauge:
    """One part of hot memory: its tokens by our own counter, and how many it may have."""

    label: str
    count: int
    limit: int

    @property
    def nearly(self) -> int:
        """From here on it is coloured as full."""
        return int(self.limit * _NEARLY)

    @property
    def over(self) -> int:
        """By how many tokens it is too long; 0 where it fits."""
        return max(0, self.count - self.limit)


def gauges(content: str) -> list[Gauge]:
    """The whole, the rules, and each profile that is nearly full (decisions.md, "sizes")."""
    rules, profiles = save.sizes(content)
    own = [Gauge(profile, count, save.PROFILE_LIMIT) for profile, count in profiles.items()]
    return [
        Gauge(_("in all"), tokens.count(content), LIMIT),
        Gauge(_("rules"), rules, save.RULES_LIMIT),
        *(gauge for gauge in own if gauge.count >= gauge.nearly),
    ]


@staff_member_required
@require_POST
def meter_view(request: HttpRequest) -> HttpResponse:
    """How many tokens the text in the editor has, part by part; for those who edit."""
    if not has_role(request.user, None, Role.ADMIN, Role.PI):
        raise PermissionDenied
    if "content" not in request.POST:
        return HttpResponseBadRequest()
    text = request.POST["content"].replace("\r\n", "\n")
    return render(request, "memory/_meter.html", {"gauges": gauges(text)})


@staff_member_required
@require_POST
def preview_view(request: HttpRequest) -> HttpResponse:
    """HTML of the Markdown in the editor: for members only; django-markdownx's own view has no login."""
    if not (request.user.is_superuser or held(request.user)):
        raise PermissionDenied
    if "content" not in request.POST:
        return HttpResponseBadRequest()
    try:
        answer: HttpResponse = MarkdownifyView().post(request)
    except TextTooLong as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain; charset=utf-8")
    return answer


class MarkdownWidget(MarkdownxWidget):  # type: ignore[misc]
    """django-markdownx's widget in the console's own frame: text on the left, what it will look like beside it.

    The package's script also uploads images; ours only asks for the preview (django_style.md 2, problem 1).
    """

    template_name = "memory/markdown_widget.html"

    @property
    def media(self) -> Media:
        """Our script instead of the package's."""
        return Media(js=["iit/markdown.js"])

    def get_context(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The editor's attributes and the address of the preview."""
        own = {
            **(attrs or {}),
            "class": " ".join([*TEXTAREA_CLASSES, "iit-code"]),
            "rows": 26,
            "data-preview": reverse("markdown_preview"),
        }
        context: dict[str, Any] = super().get_context(name, value, own)
        return context


class MeteredWidget(MarkdownWidget):
    """The editor of hot memory: with what it holds of what it may hold, counted as one types."""

    def get_context(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """With the count of what stands there, and the address that counts what is written."""
        address = reverse("hot_memory_meter")
        context = super().get_context(name, value, {**(attrs or {}), "data-meter": address})
        context["widget"] |= {"meter": True, "gauges": gauges(value or "")}
        return context
