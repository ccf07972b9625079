"""Names that a study's REDCap knows; a wrong one is refused where it is typed, with the nearest right ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from django.utils.translation import gettext as _

from projects.models import Project
from study import dictionary
from study.models import Subject

NEAREST = 3


@dataclass(frozen=True)
class KnownNames:
    """Fields, forms, unique event names and sites of a study; an empty set is not known and refuses nothing."""

    fields: Collection[str] = ()
    forms: Collection[str] = ()
    events: Collection[str] = ()
    sites: Collection[str] = ()

    @classmethod
    def of(cls, project: Project) -> KnownNames:
        """What the last reading of the study's REDCap gave; nothing where it was never read."""
        if project.pk is None or dictionary.stored(project) is None:
            return cls()
        metadata = dictionary.load(project)
        used = Subject.objects.filter(project=project).exclude(site="").order_by()
        return cls(
            fields=metadata.fields.keys(),
            forms=[str(row["instrument_name"]) for row in metadata.instruments],
            events=[str(row["unique_event_name"]) for row in metadata.events],
            sites={*metadata.sites, *used.values_list("site", flat=True).distinct()},
        )


def refusal(name: str, known: Collection[str]) -> str:
    """Why a name is wrong, with the nearest right ones; "" for a known or blank one."""
    if not name or not known or name in known:
        return ""
    near = get_close_matches(name, list(known), NEAREST, 0.4) or sorted(known)[:NEAREST]
    told = _("REDCap knows no “%(name)s”. Nearest: %(near)s")
    return told % {"name": name, "near": "、".join(near)}
