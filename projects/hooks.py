"""The house's actions, heartbeat and sign-ins, connected at the start."""

from __future__ import annotations

from core.house import heartbeat, sessions
from projects import accounts, audit, checks  # noqa: F401

audit.register_house_actions()
heartbeat.connect()
sessions.connect()
accounts.connect()
