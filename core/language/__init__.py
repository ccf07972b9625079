"""Chinese and English as people type them: pure functions, one of each (design.md 2)."""
