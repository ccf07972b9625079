"""Who must not learn the arm, and what they are shown instead (design.md 9.10)."""
