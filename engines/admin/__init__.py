"""Pages of the console's tables; each module registers its own."""

from engines.admin import findings, runs, subjects, traces

__all__ = ["findings", "runs", "subjects", "traces"]
