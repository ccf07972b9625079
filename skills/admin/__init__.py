"""The console's pages of skills, field mappings and form templates."""

from skills.admin import mappings, skills, templates

__all__ = ["mappings", "skills", "templates"]
