"""Asking a model: purposes, caps, usage, circuit breaker, fallback, versioned prompts (design.md 2)."""
