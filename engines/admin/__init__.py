"""Pages of the console's tables; each module registers its own."""

from engines.admin import findings, reviews, runs, subjects, traces

__all__ = ["findings", "reviews", "runs", "subjects", "traces"]
