"""The welcome: what the assistant can do, as examples to tap (issue 5, Inbound)."""

from __future__ import annotations

import hashlib
from typing import Any

from django.utils.timezone import localdate
from django.utils.translation import gettext as _

from projects.models import Member
from study.models import Subject
from wechat.inbound.questions import ask
from wechat.outbound import cards, formats, outbox
from wechat.outbound.cards import Click

KIND = "welcome"
MENU_PREFIX = "ask:"


def examples(member: Member) -> dict[str, tuple[str, str]]:
    """The key of a menu entry → what it says and what it asks.

    The subject is one this reader sees; where there is none, the questions name none.
    """
    subject = Subject.objects.for_member(member).filter(is_present=True).first()
    shown = _about(subject.record_id) if subject else _without_subject()
    return {
        "ask_enrolled": (_("Enrolment"), _("How many subjects are enrolled?")),
        "ask_subject": (_("A subject"), shown[0]),
        "ask_protocol": (_("Protocol"), _("What are the exclusion criteria?")),
        "ask_visit": (_("Next visit"), shown[1]),
        "ask_check": (_("Quality"), shown[2]),
    }


def _about(record_id: str) -> tuple[str, str, str]:
    said = {"record": record_id}
    return (
        _("Has %(record)s been enrolled?") % said,
        _("When is the next visit of %(record)s?") % said,
        _("Check the quality of %(record)s") % said,
    )


def _without_subject() -> tuple[str, str, str]:
    return (
        _("Which subjects are in the study?"),
        _("Which visits are overdue?"),
        _("Which findings are open?"),
    )


def question(key: str, member: Member) -> str:
    """What a button or a menu entry asks; blank where it is none of ours.

    A button carries its question as `ask:…`, as a menu entry of the WeCom console may: what is asked is
    what stood there, whatever subject the examples name by then.
    """
    if key.startswith(MENU_PREFIX):
        return key.removeprefix(MENU_PREFIX).strip()
    return examples(member).get(key, ("", ""))[1]


def greet(member: Member) -> None:
    """Send the welcome once a day; as text where cards are not shown. Called in a transaction."""
    day = f"{localdate():%Y%m%d}"
    if formats.reads_plain(member.wecom_userid, member.project):
        outbox.tell(
            to=member,
            content=text(member),
            key=f"welcome:{member.wecom_userid}:{day}",
        )
        return
    # A task_id knows fewer characters than a userid.
    who = hashlib.sha256(member.wecom_userid.encode()).hexdigest()[:16]
    cards.send(
        kind=KIND,
        ref=f"{who}-{day}",
        version=1,
        project=member.project,
        to=[member.wecom_userid],
        content=welcome_card(member),
        fallback=text(member),
    )


def text(member: Member) -> str:
    """The welcome in words."""
    lines = [greeting(member), *(f"· {asked}" for _label, asked in examples(member).values())]
    return "\n".join(lines)


def greeting(member: Member) -> str:
    """The first line."""
    said = {"name": member.display_name}
    return _("Hello %(name)s, I am the assistant of your study. For example, ask me:") % said


def welcome_card(member: Member) -> dict[str, Any]:
    """The card without its task_id."""
    shown = examples(member)
    lines = (f"{label}: {asked}" for label, asked in shown.values())
    return cards.layout(
        _("Assistant of %(code)s") % {"code": member.project.code},
        [cards.button(label, 1, key=f"{MENU_PREFIX}{asked}") for label, asked in shown.values()],
        desc=_("Tap an example, or type your question"),
        text=f"{greeting(member)} {'; '.join(lines)}",
    )


def ask_example(click: Click) -> str:
    """Answer a tapped example like a typed question; the card stays as it is, for the next one."""
    ask(click.job, question(click.incoming.event_key, click.member), click.member.project)
    return ""
