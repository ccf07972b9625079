"""The memory's sources of figures and its actions in the audit trail."""

from __future__ import annotations

from memory import setup
from memory.hot import blinded  # noqa: F401
from memory.people import checks  # noqa: F401
from memory.reports import counts
from projects import audit
from study.setup import steps

audit.register(
    **{
        "memory.save": "Hot memory changed",
        "memory.propose": "Memory proposed in chat",
        "memory.remove": "Memory line removed for good",
        "memory.return": "Removed memory line taken back",
        "memory.accept": "Memory proposal accepted",
        "memory.refuse": "Memory proposal refused",
        "memory.distil": "Day distilled into hot memory",
        "memory.learn": "Facts of a user kept",
        "memory.forget": "Facts of a user forgotten",
        "report.save": "Weekly report saved",
        "report.edit": "Weekly report edited",
        "conversation.read": "Conversations read",
        "log.purge": "Conversations deleted after their report",
    }
)
counts.register_sources()
steps.register(*setup.STEPS)
