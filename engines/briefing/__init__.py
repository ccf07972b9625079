"""Briefings, reminders and reports that cron skills send: contents from data, not from a model.

`decisions.md`, "cron skills"; a `notify` node names one of CONTENTS (skills.graph).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.utils import translation

from engines.briefing import contents
from engines.briefing.contents import upcoming
from engines.briefing.material import Digest, Material, Reading, View, read_study
from memory.hot import injection
from projects.models import Member

__all__ = ["CONTENTS", "Content", "Material", "Reading", "compose", "read_study", "upcoming"]

_SHORT = re.compile(r"简洁|简短|简明|concise", re.IGNORECASE)


@dataclass(frozen=True)
class Content:
    """How a message is made.

    `needs_data`: from what REDCap holds now. `when_empty`: what happens by default where there is nothing
    to tell. `is_daily`: on the next day it is outdated, so nobody catches up on it then.
    """

    digest: Callable[[View], Digest]
    needs_data: bool
    when_empty: str
    is_daily: bool


CONTENTS = {
    "daily_briefing": Content(
        contents.daily_briefing, needs_data=True, when_empty="say", is_daily=True
    ),
    "visit_reminder": Content(
        contents.visit_reminder, needs_data=True, when_empty="silent", is_daily=True
    ),
    "weekly_report": Content(
        contents.weekly_announcement, needs_data=False, when_empty="silent", is_daily=False
    ),
}


def compose(material: Material, member: Member) -> str:
    """The message of one reader, in their language and length; "" where there is nothing to send."""
    content = CONTENTS[material.node.content]
    with translation.override(member.language):
        digest = content.digest(material.for_reader(member))
        if digest.is_empty and (material.node.when_empty or content.when_empty) == "silent":
            return ""
        return digest.render(_limit(material, member))


def _limit(material: Material, member: Member) -> int | None:
    """How many characters the reader's profile allows; none but the heads where they want it short."""
    memory = injection.hot_text(material.project)
    if any(_SHORT.search(line) for line in injection.profile_of(memory, member.identity)):
        return 0
    return injection.length_ban(memory, member.identity)
