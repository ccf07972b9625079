"""The memory's actions in the audit trail, its step of the set-up, and what listens or is checked."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from memory import setup
from memory.hot import save  # noqa: F401
from memory.people import schemas  # noqa: F401
from projects import audit
from study.setup import steps

audit.register(
    **{
        "memory.save": _("Hot memory changed"),
        "memory.propose": _("Memory proposed in chat"),
        "memory.remove": _("Memory line removed for good"),
        "memory.return": _("Removed memory line taken back"),
        "memory.accept": _("Memory proposal accepted"),
        "memory.refuse": _("Memory proposal refused"),
        "memory.distil": _("Day distilled into hot memory"),
        "memory.learn": _("Facts of a user kept"),
        "memory.forget": _("Facts of a user forgotten"),
        "memory.take_back": _("A user's change taken back"),
        "report.save": _("Weekly report saved"),
        "report.edit": _("Weekly report edited"),
        "conversation.read": _("Conversations read"),
        "log.purge": _("Conversations deleted after their report"),
    }
)
steps.register_steps(*setup.STEPS)
