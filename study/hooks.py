"""The actions of this app in the audit trail."""

from __future__ import annotations

from projects import audit

audit.register(**{"study.setting": "Setting of the study's data changed"})
