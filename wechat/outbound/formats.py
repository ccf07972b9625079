"""Markdown for readers whose WeCom shows it, plain text for the others (wecom.md 3.2, 9.5)."""

from __future__ import annotations

import re

from projects.models import Member, Project
from wechat.models import OutboxMessage

Kind = OutboxMessage.Kind

_BOLD = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_CODE = re.compile(r"`([^`\n]+)`")
_HEADING = re.compile(r"^#{1,6} +(?=\S)", re.MULTILINE)
_QUOTE = re.compile(r"^> +(?=\S)", re.MULTILINE)
_MARKUP = (_BOLD, _CODE, _HEADING, _QUOTE)


def choose(text: str, *, to_user: str, project: Project | None) -> tuple[OutboxMessage.Kind, str]:
    """The kind of message for this reader, and the text without marks where they would stay visible."""
    if not any(mark.search(text) for mark in _MARKUP):
        return Kind.TEXT, text
    if reads_plain(to_user, project):
        return Kind.TEXT, strip_marks(text)
    return Kind.MARKDOWN, text


def reads_plain(to_user: str, project: Project | None) -> bool:
    """Whether any of the recipients sees neither markdown nor cards (WeChat plug-in)."""
    readers = Member.objects.filter(wecom_userid__in=to_user.lower().split("|"), plain_text=True)
    return (readers.filter(project=project) if project else readers).exists()


def strip_marks(text: str) -> str:
    """`text` with its marks taken off and its words kept."""
    return _QUOTE.sub("", _HEADING.sub("", _CODE.sub(r"\1", _BOLD.sub(r"\1", text))))
