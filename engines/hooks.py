"""What the engines give to those below them, and their actions in the audit trail."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from engines import deviations, safety, setup, work
from engines.assistant.tools import tools
from engines.sop import events, run_events
from projects import audit
from skills import validation
from study import registry as study
from study.setup import steps

study.register_work("findings", work.findings)
study.register_work("reviews", work.reviews)
study.register_work("runs", work.runs)
study.register_serious(safety.serious_of)
validation.register_tool_names(tools)
steps.register_steps(*setup.STEPS)
run_events.register_reader(events.findings_opened, run_events.Kind.FINDINGS_OPENED)
run_events.register_reader(deviations.findings_opened, run_events.Kind.FINDINGS_OPENED)
audit.register(
    **{
        "run.start": _("Run started"),
        "run.end": _("Run ended"),
        "run.cancel": _("Run cancelled"),
        "review.ask": _("Review asked"),
        "review.approve": _("Review approved"),
        "review.reject": _("Review rejected"),
        "review.take_back": _("Decision taken back"),
        "visit.answer": _("Visit reminder answered"),
        "project.limits": _("Quality tolerance limits set"),
        "finding.open": _("Finding opened"),
        "finding.close": _("Finding closed"),
        "finding.step": _("Finding moved on"),
        "finding.reject": _("Finding rejected as a false alarm"),
        "finding.assign": _("Finding assigned"),
        "finding.comment": _("Finding commented"),
        "finding.gone": _("Findings of a deleted record set aside"),
        "finding.back": _("Findings of a record that came back"),
        "safety.start": _("Clock of a serious event started"),
        "safety.report": _("Serious event reported"),
        "safety.withdraw": _("Clock of a serious event withdrawn"),
        "deviation.decide": _("Protocol deviation decided"),
        "trail_review.plan": _("Plan of audit-trail reviews set"),
        "trail_review.draw": _("Sample of the audit trail drawn"),
        "trail_review.mark": _("Entries of the audit trail reviewed"),
        "trail_review.close": _("Audit-trail review closed"),
    }
)
