"""Sources as lines with marks."""
