from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EnginesConfig(AppConfig):
    name = "engines"
    verbose_name = _("Engines")

    def ready(self) -> None:
        from engines import (
            distiller,
            memory_reader,
            narrator,
            rule_check,
            sent,
            weekly_metrics,
            work,
        )
        from engines.tools import registry
        from memory import distiller as memory_distiller
        from memory import hot_preview
        from memory.agent import extraction
        from memory.weekly import narrator as weekly_narrator
        from projects import audit
        from skills import validation
        from study import registry as study

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
        hot_preview.register(sent.preview)
        audit.register(
            **{
                "run.start": "Run started",
                "run.end": "Run ended",
                "run.cancel": "Run cancelled",
                "review.ask": "Review asked",
                "review.approve": "Review approved",
                "review.reject": "Review rejected",
                "finding.open": "Finding opened",
                "finding.close": "Finding closed",
            }
        )
