"""Ctrl-K: pages, subjects, reviews and findings of the reader's own."""
