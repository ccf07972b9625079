"""Who did something, in words."""

from __future__ import annotations

from django import template

from projects.actors import describe_actor

register = template.Library()
register.filter("whom", describe_actor)
