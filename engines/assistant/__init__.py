"""The assistant: understands a message, answers it (design.md 2)."""
