"""The review desk: what waits for a decision, what each rests on, and the next one after it."""
