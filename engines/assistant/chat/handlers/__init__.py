"""One handler a kind of task: it reads what the task needs and says it (design.md 4)."""
