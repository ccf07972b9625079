"""A paper to hand out, as one value, and its forms: a page (by template), DOCX and PDF."""
