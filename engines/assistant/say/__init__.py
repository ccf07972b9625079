"""From facts and passages to an answer: operations over numbered lines, worded by code (design.md 5a.4)."""
