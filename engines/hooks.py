"""What the engines give to those below them, and their actions in the audit trail."""

from __future__ import annotations

from engines import (
    distiller,
    memory_reader,
    narrator,
    rule_check,
    setup,
    weekly_metrics,
    work,
)
from engines.assistant import prompt_preview
from engines.assistant.tools import registry
from engines.sop import events, run_events
from memory.hot import distiller as memory_distiller
from memory.hot import preview
from memory.people import extraction
from memory.reports import narrator as weekly_narrator
from projects import audit
from skills import validation
from study import follow
from study import registry as study
from study.setup import steps

study.register_work("findings", work.findings)
study.register_work("reviews", work.reviews)
study.register_work("runs", work.runs)
validation.register_rule_check(rule_check.problems)
validation.register_tool_names(registry.names)
memory_distiller.register(distiller.distil)
memory_distiller.register_shortener(distiller.shorten)
extraction.register(memory_reader.read)
weekly_narrator.register(narrator.narrate)
weekly_metrics.register_sources()
preview.register(prompt_preview.preview)
follow.register(events.data_changed)
steps.register(*setup.STEPS)
run_events.read(events.findings_opened, run_events.Kind.FINDINGS_OPENED)
audit.register(
    **{
        "run.start": "Run started",
        "run.end": "Run ended",
        "run.cancel": "Run cancelled",
        "review.ask": "Review asked",
        "review.approve": "Review approved",
        "review.reject": "Review rejected",
        "review.take_back": "Decision taken back",
        "visit.answer": "Visit reminder answered",
        "finding.open": "Finding opened",
        "finding.close": "Finding closed",
        "finding.step": "Finding moved on",
        "finding.assign": "Finding assigned",
        "finding.comment": "Finding commented",
    }
)
