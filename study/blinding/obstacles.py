"""Why a study can't be blinded: what its visits and its REDCap show by themselves (design.md 9.10)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.utils.translation import gettext as _

from projects.models import Project
from study.designs import design_of
from study.metadata import StudyMetadata
from study.models import VisitPlanEntry


def obstacles(project: Project, metadata: StudyMetadata, fields: Collection[str]) -> Iterator[str]:
    """Each reason in the reader's language. `fields`: those to be blinded, with what tells them."""
    if len({str(row.get("arm_num", "")) for row in metadata.events}) > 1:
        yield _("REDCap keeps its subjects in several arms: the events of a subject tell its arm.")
    plan = [*VisitPlanEntry.objects.filter(project=project)]
    if any(entry.arm for entry in plan):
        yield _("The visit plan differs by arm: visits and their windows tell it.")
    design = design_of(project)
    used = {
        _("visit plan"): {name for one in plan for name in (one.anchor_field, one.date_field)},
        _("enrolment date"): {design.enrolment_field},
        _("withdrawal date"): {project.withdraw_field},
        _("record id"): {metadata.record_id_field},
    }
    for what, names in used.items():
        for name in sorted(names & set(fields)):
            told = _("“%(field)s” is needed for everybody (%(what)s) and can't be blinded.")
            yield told % {"field": name, "what": what}
