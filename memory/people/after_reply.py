"""What happens once a reply is stored; nothing of it touches the reply (seed 004, 8)."""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import DatabaseError

from house.db import atomic
from memory import tasks
from memory.people import sessions, turns
from projects.models import Member

logger = logging.getLogger(__name__)


def after_reply(member: Member, text: str, *, at: datetime) -> None:
    """Note that the member spoke and on which memories; keep what says something new for `save_info`."""
    try:
        with atomic():
            sessions.spoken(member, at)
        sessions.begun(member, text, at)
    except DatabaseError as error:
        logger.warning("Session not noted: %s", type(error).__name__)
    turns.note(member, text, at=at, wake=tasks.save_info.delay)
