"""Who did something, in words."""

from __future__ import annotations

from django import template

from projects.actors import told

register = template.Library()
register.filter("whom", told)
