"""Pages of the console's tables; each module registers its own."""

from engines.admin import findings, runs, safety, subjects, traces

__all__ = ["findings", "runs", "safety", "subjects", "traces"]
