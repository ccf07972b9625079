"""What the study holds, and `query`, the one door to its data (design.md 2, contracts.md)."""
