"""Setting a study up: the steps from nothing to the first answer, each with its state and its test."""
