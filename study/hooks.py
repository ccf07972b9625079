"""The actions of this app in the audit trail, and what it tells `/metrics`."""

from __future__ import annotations

from projects import audit
from study import metrics

audit.register(
    **{
        "study.setting": "Setting of the study's data changed",
        "blinding.on": "Study blinded",
        "blinding.off": "Blinding of a study ended",
        "blinding.member": "Who is unblinded changed",
        "blinding.break": "Code of a subject broken",
    }
)
metrics.register()
