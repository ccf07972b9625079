"""What hot memory tells whoever listens (design.md 2: channels are above the memories)."""

from django.dispatch import Signal

# Sent inside the transaction of the pruning job with memory, tokens and proposal (None: nothing is left
# that a machine may take away); receivers only insert outbox rows.
memory_over_cap = Signal()
