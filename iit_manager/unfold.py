"""How the console looks: name, colours, menu (settings.UNFOLD)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext_lazy as _


def may_view(label: str, request: HttpRequest) -> bool:
    """Whether the page of a model opens for the user."""
    from django.contrib import admin  # settings import this module before the apps are there

    page = admin.site._registry.get(apps.get_model(label))
    return bool(page and page.has_module_permission(request))


def _badge(request: HttpRequest) -> dict[str, Any]:
    """The number of reviews that wait in the user's scope; none is no badge."""
    reviews: Any = apps.get_model("engines", "Review")._default_manager
    waiting = reviews.for_user(request.user).filter(status="open").count()
    return {"badge": waiting, "badge_variant": "warning"} if waiting else {}


def _item(label: str, icon: str, title: Any, **more: Any) -> dict[str, Any]:
    address = f"admin:{label.lower().replace('.', '_')}_changelist"
    permission: Callable[[HttpRequest], bool] = partial(may_view, label)
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(address),
        "permission": permission,
        **more,
    }


def _group(title: Any, *items: dict[str, Any], closed: bool = False) -> dict[str, Any]:
    return {"title": title, "separator": True, "collapsible": closed, "items": [*items]}


def menu(request: HttpRequest) -> list[dict[str, Any]]:
    """The side bar: groups of pages; those that do not open for the user are left out."""
    groups = _groups(request)
    items = [item for group in groups for item in group["items"]]
    within = [item for item in items if _is_within(request.path, str(item["link"]))]
    here = max(within, key=lambda item: len(str(item["link"])), default=None)
    for item in items:
        item["active"] = item is here
    return groups


def _is_within(path: str, link: str) -> bool:
    """Whether an address lies below a page; the dashboard, which is above all, is only itself."""
    return path == link if link == reverse("admin:index") else path.startswith(link)


def _groups(request: HttpRequest) -> list[dict[str, Any]]:
    return [
        _group(
            _("Workbench"),
            {
                "title": _("Dashboard"),
                "icon": "space_dashboard",
                "link": reverse_lazy("admin:index"),
            },
            {
                "title": _("Review desk"),
                "icon": "gavel",
                "link": reverse_lazy("admin:engines_review_desk"),
                "permission": partial(may_view, "engines.Review"),
                **_badge(request),
            },
            {
                "title": _("Visit board"),
                "icon": "calendar_month",
                "link": reverse_lazy("visit_board"),
                "permission": partial(may_view, "study.Subject"),
            },
            _item("engines.Review", "rule", _("Reviews")),
            _item("engines.PendingAction", "flag", _("Findings desk")),
            _item("engines.TaskRun", "play_circle", _("Runs")),
            _item("engines.Batch", "stacks", _("Batches")),
        ),
        _group(
            _("Study"),
            _item("projects.Project", "science", _("Projects")),
            _item("projects.Member", "group", _("Members")),
            _item("study.Subject", "personal_injury", _("Subjects")),
            _item("study.VisitPlanEntry", "event_note", _("Visit plan")),
            _item("study.ProtocolDocument", "description", _("Protocol documents")),
            _item("study.Dictionary", "dictionary", _("Data dictionary")),
            _item("study.FieldRole", "assignment", _("Parts of fields")),
            _item("study.ReferenceLimit", "straighten", _("Reference ranges")),
            _item("study.Synonym", "translate", _("Synonyms")),
            _item("study.SyncState", "sync", _("Sync state")),
        ),
        _group(
            _("Memory"),
            _item("memory.ProjectMemory", "local_fire_department", _("Hot memory")),
            _item("memory.WeeklyReport", "calendar_view_week", _("Weekly reports")),
            _item("memory.UserMemory", "person_book", _("User memories")),
            _item("memory.UserProfile", "contact_page", _("User profiles")),
            _item("memory.ConversationHistory", "forum", _("Conversations")),
            _item("memory.MemoryProposal", "rule", _("Memory proposals")),
            _item("memory.MemoryTombstone", "delete_sweep", _("Removed lines")),
        ),
        _group(
            _("Skills"),
            _item("skills.Skill", "account_tree", _("Skills")),
            _item("skills.QualityRule", "fact_check", _("Data quality rules")),
            {
                "title": _("Schedules"),
                "icon": "schedule",
                "link": reverse_lazy("admin:engines_schedules"),
                "permission": partial(may_view, "engines.TaskRun"),
            },
            _item("skills.FieldMapping", "sync_alt", _("Field mappings")),
            _item("skills.FormTemplate", "view_list", _("Form templates")),
        ),
        _group(
            _("Operation"),
            _item("engines.AgentTrace", "route", _("Traces")),
            _item("engines.OpenQuestion", "contact_support", _("Unanswered questions")),
            _item("llm.LlmUsage", "data_usage", _("LLM usage")),
            _item("wechat.InboxMessage", "inbox", _("Inbox")),
            _item("wechat.OutboxMessage", "outbox", _("Outbox")),
            _item("wechat.Card", "badge", _("Cards")),
            _item("wechat.Alert", "notification_important", _("WeCom alerts")),
            _item("projects.AuditEntry", "history_edu", _("Audit trail")),
            _item("django_celery_beat.PeriodicTask", "manage_history", _("Periodic jobs")),
            _item("house.CronFiring", "alarm_on", _("Cron firings")),
            _item("house.Heartbeat", "monitor_heart", _("Heartbeats")),
        ),
        _group(
            _("Accounts"),
            _item("projects.Person", "fingerprint", _("People")),
            _item("auth.User", "manage_accounts", _("Logins")),
            _item("projects.ApiToken", "key", _("API tokens")),
            _item("axes.AccessFailureLog", "gpp_maybe", _("Failed log-ins")),
            _item("axes.AccessLog", "login", _("Log-ins")),
        ),
    ]


def _file(name: str) -> Callable[[HttpRequest], str]:
    return lambda request: static(name)


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "IIT Manager",
    "SITE_HEADER": "IIT Manager",
    "SITE_SUBHEADER": _("Investigator-initiated trials"),
    "SITE_SYMBOL": "clinical_notes",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": _file("iit/icon.svg")},
    ],
    "SHOW_LANGUAGES": True,
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "BORDER_RADIUS": "6px",
    "STYLES": [_file("iit/console.css")],
    "SCRIPTS": [_file("iit/console.js")],
    "DASHBOARD_CALLBACK": "iit_manager.home.page.home",
    "COLORS": {
        "primary": {
            "50": "#eefbfa",
            "100": "#d3f4f1",
            "200": "#a9e8e3",
            "300": "#72d5cf",
            "400": "#3bb9b4",
            "500": "#209d9a",
            "600": "#187f7f",
            "700": "#176566",
            "800": "#175152",
            "900": "#174445",
            "950": "#072829",
        },
    },
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "iit_manager.unfold.menu",
    },
}
