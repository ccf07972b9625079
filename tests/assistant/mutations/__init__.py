"""True answers turned into lies and into other true words, by their text and the raw export alone."""
