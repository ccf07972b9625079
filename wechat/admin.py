from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import path
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from core.house.admin_json import render_json
from core.house.admin_words import by_name
from core.house.stored_labels import name
from projects.admin_base import BY_PROJECT, HouseAdmin, ScopedAdmin
from projects.long_lists import LongList, period
from projects.models import Role
from wechat.aibot import lease, probe
from wechat.inbound import groups
from wechat.message_words import said_in
from wechat.models import (
    AccessToken,
    Alert,
    Answer,
    BotConnection,
    Card,
    GroupChat,
    InboxMessage,
    OutboxMessage,
    Stream,
)
from wechat.outbound import (
    alerts,
    feedback_cards,
    outbox,
    welcome,
)
from wechat.reviews import review_cards

CARDS: dict[str, Promise] = {
    review_cards.KIND: _("Review"),
    feedback_cards.KIND: _("Feedback"),
    welcome.KIND: _("Welcome"),
}
# Kinds of message of WeCom (wecom.md); an event is named as WeCom names it.
MESSAGES: dict[str, Promise] = {
    "text": _("Text"),
    "event": _("Event"),
    "image": _("Picture"),
    "voice": _("Voice"),
    "video": _("Video"),
    "file": _("File"),
    "location": _("Place"),
    "link": _("Link"),
    "mixed": _("Text with pictures"),
}


class ChannelAdmin(ScopedAdmin):
    """Messages of all sites, some of people: for administrators of the whole study."""

    view_roles = (Role.ADMIN,)
    whole_study = True
    list_select_related = ("project",)

    @admin.display(description=_("sender"), ordering="from_user")
    def show_sender(self, obj: Any) -> str:
        return str(obj.from_user)

    @admin.display(description=_("recipient"), ordering="to_user")
    def show_recipient(self, obj: Any) -> str:
        return str(obj.to_user)


def _json(text: str) -> SafeString | str:
    try:
        return render_json(json.loads(text) if text else None)
    except json.JSONDecodeError:
        return text


@admin.register(InboxMessage)
class InboxMessageAdmin(LongList, ChannelAdmin):
    empty = _("No message has come from WeCom yet.")
    list_display = (
        "id",
        "received_at",
        "show_sender",
        "show_said",
        "show_type",
        "event",
        "show_status",
        "attempts",
        "show_project",
    )
    list_filter = (
        *(period("received_at"), "status", "channel"),
        *(by_name("msg_type", MESSAGES), BY_PROJECT),
    )
    search_fields = ("from_user", "event")
    fields = (
        ("project", "channel"),
        ("show_sender", "received_at"),
        ("show_type", "event"),
        "content",
        ("status", "attempts"),
        ("done_at", "error"),
    )

    readonly_fields = ("show_sender", "show_type")

    @admin.display(description=_("text"))
    def show_said(self, obj: InboxMessage) -> str:
        return Truncator(obj.content).chars(60)

    @admin.display(description=_("kind"), ordering="msg_type")
    def show_type(self, obj: InboxMessage) -> str:
        return name(MESSAGES, obj.msg_type)

    @display(
        description=_("status"),
        ordering="status",
        label={str(status): colour for status, colour in InboxMessage.COLOURS.items()},
    )
    def show_status(self, obj: InboxMessage) -> tuple[str, str]:
        return obj.status, obj.get_status_display()


@admin.register(OutboxMessage)
class OutboxMessageAdmin(LongList, ChannelAdmin):
    empty = _("No message was sent to WeCom yet.")
    list_display = (
        "id",
        "created_at",
        "show_recipient",
        "show_start",
        "kind",
        "show_status",
        "attempts",
        "sent_at",
        "show_error",
        "show_project",
    )
    list_filter = (period("created_at"), "status", "kind", BY_PROJECT)
    search_fields = ("to_user", "key", "msgid", "error")
    fields = (
        ("project", "show_recipient"),
        "kind",
        "show_text",
        ("status", "attempts"),
        ("created_at", "sent_at"),
        "undelivered",
        ("tried_at", "msgid"),
        ("error_code", "error"),
        ("is_ambiguous", "possible_duplicate"),
        "key",
        "show_payload",
    )
    readonly_fields = ("show_payload", "show_recipient", "show_text")
    labels = {"key": _("key")}
    actions = ("resend",)
    change_form_template = "wechat/outbox.html"

    @admin.display(description=_("text"))
    def show_text(self, obj: OutboxMessage) -> str:
        """What its reader sees."""
        return said_in(obj.payload) or "-"

    @admin.display(description=_("text"))
    def show_start(self, obj: OutboxMessage) -> str:
        """The beginning of it."""
        return Truncator(said_in(obj.payload)).chars(60)

    @display(
        description=_("status"),
        ordering="status",
        label={str(status): colour for status, colour in OutboxMessage.COLOURS.items()},
    )
    def show_status(self, obj: OutboxMessage) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    @admin.display(description=_("error"), ordering="error")
    def show_error(self, obj: OutboxMessage) -> str:
        return Truncator(obj.error).chars(40)

    @admin.display(description=_("content"))
    def show_payload(self, obj: OutboxMessage) -> SafeString | str:
        return _json(obj.payload)

    @admin.action(description=_("Send the selected dead letters again"))
    def resend(self, request: HttpRequest, queryset: QuerySet[OutboxMessage]) -> None:
        done = sum(outbox.resend(message=row, actor=request.user) for row in queryset)
        level = messages.SUCCESS if done else messages.WARNING
        self.message_user(request, gettext("%d put back into the outbox.") % done, level)


@admin.register(Card)
class CardAdmin(ChannelAdmin):
    empty = _("No card was sent to WeCom yet.")
    list_display = (
        "show_task",
        "show_kind",
        "show_recipient",
        "show_state",
        "created_at",
        "show_project",
    )
    list_filter = (by_name("kind", CARDS), "state", BY_PROJECT)
    search_fields = ("task_id", "to_user")
    fields = (
        ("project", "show_recipient"),
        ("task_id", "show_kind"),
        ("state", "created_at"),
        "version",
        "seen",
        "show_content",
    )
    readonly_fields = ("show_content", "show_recipient", "show_kind")
    labels = {"task_id": _("number")}

    @admin.display(description=_("kind"), ordering="kind")
    def show_kind(self, obj: Card) -> str:
        return name(CARDS, obj.kind)

    @admin.display(description=_("number"), ordering="task_id")
    def show_task(self, obj: Card) -> str:
        return obj.task_id

    @display(
        description=_("state"), ordering="state", label={"open": "warning", "closed": "success"}
    )
    def show_state(self, obj: Card) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @admin.display(description=_("content"))
    def show_content(self, obj: Card) -> Any:
        return _json(obj.content)


@admin.register(GroupChat)
class GroupChatAdmin(ChannelAdmin):
    """Groups in which the smart bot is asked; they are bound by word in the group and freed there or here."""

    empty = _(
        "No group is bound. In the group, an administrator writes to the bot: bind study CODE."
    )
    list_display = ("chat_id", "bound_by", "bound_at", "show_project")
    list_filter = (BY_PROJECT,)
    fields = ("project", "chat_id", ("bound_by", "bound_at"))
    delete_roles = (Role.ADMIN,)

    def delete_model(self, request: HttpRequest, obj: GroupChat) -> None:
        """Free the group, audited."""
        groups.free(obj, request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[GroupChat]) -> None:
        """Free the groups, audited."""
        for group in queryset:
            groups.free(group, request.user)


@admin.register(AccessToken)
class AccessTokenAdmin(HouseAdmin):
    """Whether WeCom lets us in; the token itself is never shown."""

    empty = _("No access token of WeCom was fetched yet.")
    list_display = ("fetched_at", "expires_at", "blocked_until", "error_code", "error")
    fields = ("fetched_at", "expires_at", "blocked_until", "error_code", "error")


@admin.register(BotConnection)
class BotConnectionAdmin(HouseAdmin):
    """The smart bot without a public address: how it stands, and a button that tries it."""

    empty = _("No process has held the long connection yet.")
    list_display = (
        "bot_id",
        "show_state",
        "holder",
        "connected_at",
        "not_before",
        "kicks",
        "error",
    )
    fields = (
        ("bot_id", "told_state"),
        ("holder", "lease_until"),
        ("connected_at", "not_before"),
        ("kicks", "kicked_at"),
        ("error_code", "error"),
    )
    readonly_fields = ("told_state",)
    list_before_template = "wechat/connection.html"

    @display(
        description=_("state"),
        label={"connected": "success", "waiting": "warning", "nobody": "danger"},
    )
    def show_state(self, obj: BotConnection) -> tuple[str, str]:
        if not lease.is_held(obj):
            return "nobody", gettext("Held by no process")
        if obj.connected_at:
            return "connected", gettext("Connected")
        return "waiting", gettext("Not connected")

    @admin.display(description=_("state"))
    def told_state(self, obj: BotConnection) -> str:
        """The same for its page, which shows no labels."""
        return str(self.show_state(obj)[1])

    def get_urls(self) -> Any:
        """With the button's address."""
        view = self.admin_site.admin_view(self.try_once)
        return [path("check/", view, name="wechat_botconnection_check"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """With what is set up."""
        more = {"bot": settings.WECOM_AIBOT_ID, "is_configured": lease.is_configured()}
        return super().changelist_view(request, {**(extra_context or {}), **more})

    def try_once(self, request: HttpRequest) -> HttpResponse:
        """Try the connection once, and say in words what came of it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        found = probe.look()
        level = messages.SUCCESS if found.ok else messages.ERROR
        self.message_user(request, " ".join(filter(None, (found.seen, found.remedy))), level)
        return redirect("admin:wechat_botconnection_changelist")


@admin.register(Alert)
class AlertAdmin(HouseAdmin):
    empty = _("WeCom has nothing to complain of.")
    list_display = ("code", "subject", "detail", "times", "last_at", "cleared_at")
    list_filter = ("code",)
    actions = ("mend",)

    @admin.action(description=_("The selected troubles are over"))
    def mend(self, request: HttpRequest, queryset: QuerySet[Alert]) -> None:
        done = sum(alerts.mend(alert, request.user) for alert in queryset)
        level = messages.SUCCESS if done else messages.WARNING
        self.message_user(request, gettext("%d alerts closed.") % done, level)


@admin.register(Answer)
class AnswerAdmin(HouseAdmin):
    """Long answers: the text is the reader's, so only that there is one is shown."""

    empty = _("No answer was too long for a message yet.")
    list_display = ("__str__",)
    fields = ("id",)


@admin.register(Stream)
class StreamAdmin(HouseAdmin):
    """Answers of the smart bot: the text is the reader's, so only that there is one is shown."""

    empty = _("The smart bot has answered nothing yet.")
    list_display = ("__str__",)
    fields = ("id",)
