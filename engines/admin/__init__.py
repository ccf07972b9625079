"""Pages of the console's tables; each module registers its own."""

from engines.admin import acceptance, findings, runs, safety, subjects, traces

__all__ = ["acceptance", "findings", "runs", "safety", "subjects", "traces"]
