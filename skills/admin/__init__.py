"""The console's pages of skills, field mappings and form templates."""

from skills.admin import mappings, quality, skills, templates

__all__ = ["mappings", "quality", "skills", "templates"]
