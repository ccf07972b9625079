"""The house's actions, heartbeat and sign-ins, connected at the start."""

from __future__ import annotations

from allauth.socialaccount.providers import registry

from core.house import heartbeat, sessions
from projects import accounts, audit, checks, machine_checks, restoring  # noqa: F401
from projects.login import oidc, second

audit.register_house_actions()
heartbeat.connect()
sessions.connect()
accounts.connect()
second.connect_signals()
registry.register(oidc.HospitalProvider)
