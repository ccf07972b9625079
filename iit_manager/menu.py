"""The side bar: what the reader's day is made of, then the rest in folded groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext_lazy as _

from projects.scoping import held


def may_view(label: str, request: HttpRequest) -> bool:
    """Whether the page of a model opens for the user."""
    page = admin.site._registry.get(apps.get_model(label))
    return bool(page and page.has_module_permission(request))


def _badge(request: HttpRequest) -> dict[str, Any]:
    """The number of reviews that wait in the user's scope; none is no badge."""
    reviews: Any = apps.get_model("engines", "Review")._default_manager
    waiting = reviews.for_user(request.user).filter(status="open").count()
    return {"badge": waiting, "badge_variant": "warning"} if waiting else {}


def _item(label: str, icon: str, title: Any, address: str = "", **more: Any) -> dict[str, Any]:
    """The page of a model, or another one at `address` that opens to who may view the model."""
    name = label.lower().replace(".", "_")
    address = address or f"admin:{name}_changelist"
    permission: Callable[[HttpRequest], bool] = partial(may_view, label)
    return {
        "name": address.removeprefix("admin:").removesuffix("_changelist"),
        "title": title,
        "icon": icon,
        "link": reverse_lazy(address),
        "permission": permission,
        **more,
    }


def _group(title: Any, *items: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "separator": True, "collapsible": False, "items": [*items]}


DAY = {
    "CRC": (
        *("engines_review_desk", "engines_pendingaction", "visit_board", "study_subject"),
        *("engines_taskrun", "memory_usermemory"),
    ),
    "PI": (
        *("engines_review_desk", "engines_pendingaction", "study_subject", "visit_board"),
        *("pictures", "site_risk", "papers", "memory_weeklyreport", "study_protocoldocument"),
    ),
    "ADMIN": (
        *("engines_review_desk", "engines_pendingaction", "engines_taskrun", "skills_skill"),
        *("engines_schedules", "memory_projectmemory", "projects_member", "engines_openquestion"),
        "wechat_alert",
    ),
    "AUDITOR": (
        *("projects_auditentry", "engines_review", "engines_pendingaction", "engines_taskrun"),
        *("memory_weeklyreport", "memory_conversationhistory"),
    ),
}
"""Role -> the pages of its day, by the names of their addresses; the others are folded below them."""


def menu(request: HttpRequest) -> list[dict[str, Any]]:
    """The side bar: what the reader's day is made of, then the rest in folded groups.

    Pages that do not open for the user are left out.
    """
    groups = _sorted(_groups(request), request)
    items = [item for group in groups for item in group["items"]]
    within = [item for item in items if _is_within(request.path, str(item["link"]))]
    here = max(within, key=lambda item: len(str(item["link"])), default=None)
    for item in items:
        item["active"] = item is here
    return groups


def _sorted(groups: list[dict[str, Any]], request: HttpRequest) -> list[dict[str, Any]]:
    """The first group with the pages of the reader's roles; a superuser in no study administers."""
    roles = {member.role for member in held(request.user)} or {"ADMIN"}
    names = dict.fromkeys(name for role, day in DAY.items() if role in roles for name in day)
    first, *others = groups
    items = {item["name"]: item for group in groups for item in group["items"]}
    day = [items[name] for name in ("index", *names)]
    rest = [
        {**group, "collapsible": True, "items": [one for one in group["items"] if one not in day]}
        for group in (first | {"title": _("More work")}, *others)
    ]
    return [first | {"items": day}, *rest]


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
                "name": "index",
                "link": reverse_lazy("admin:index"),
            },
            _item(
                "engines.Review",
                "gavel",
                _("Review desk"),
                "admin:engines_review_desk",
                **_badge(request),
            ),
            _item("study.Subject", "calendar_month", _("Visit board"), "visit_board"),
            _item("study.Subject", "summarize", _("Reports and lists"), "papers"),
            _item("study.Subject", "show_chart", _("Charts"), "pictures"),
            _item("study.Subject", "troubleshoot", _("Risk by site"), "site_risk"),
            _item("engines.Review", "rule", _("Reviews")),
            _item("engines.PendingAction", "flag", _("Findings desk")),
            _item("engines.SafetyClock", "timer", _("Serious events")),
            _item("engines.Deviation", "rule_folder", _("Protocol deviations")),
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
            _item("engines.TaskRun", "schedule", _("Schedules"), "admin:engines_schedules"),
            _item("skills.FieldMapping", "sync_alt", _("Field mappings")),
            _item("skills.FormTemplate", "view_list", _("Form templates")),
        ),
        _group(
            _("Operation"),
            _item("engines.AgentTrace", "route", _("Traces")),
            _item("engines.OpenQuestion", "contact_support", _("Unanswered questions")),
            _item("llm.LlmUsage", "data_usage", _("LLM usage")),
            _item("llm.ModelAcceptance", "verified", _("Model acceptance")),
            _item("wechat.InboxMessage", "inbox", _("Inbox")),
            _item("wechat.OutboxMessage", "outbox", _("Outbox")),
            _item("wechat.Card", "badge", _("Cards")),
            _item("wechat.Alert", "notification_important", _("WeCom alerts")),
            _item("wechat.BotConnection", "cable", _("Smart bot")),
            _item("wechat.GroupChat", "groups", _("Group chats")),
            _item("projects.AuditEntry", "history_edu", _("Audit trail")),
            _item("projects.AuditEntry", "grading", _("Audit-trail reviews"), "trail_reviews"),
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
