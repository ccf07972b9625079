"""From a message to typed tasks: orders, a grammar over typed tokens, else one model call (design.md 5a.1)."""
