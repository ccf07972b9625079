"""The gate what leaves must pass (design.md 9.1)."""
