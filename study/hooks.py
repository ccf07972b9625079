"""The actions of this app in the audit trail, what it tells `/metrics`, its steps of setting a study up."""

from __future__ import annotations

from projects import audit
from study import metrics
from study.setup import own, steps

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
steps.register(*own.STEPS)
