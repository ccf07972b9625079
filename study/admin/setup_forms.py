"""What people type in the wizard: address and token, and the visits they tick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from projects.models import Project
from study.admin.project_form import ProjectForm
from study.models import VisitPlanEntry
from study.setup import plan


class ConnectionForm(ProjectForm):
    """Address and token of REDCap; a token that was typed survives a wrong address."""

    class Meta:
        model = Project
        fields = ("redcap_url", "redcap_token")


def shown_rows(project: Project, typed: Mapping[str, str]) -> list[dict[str, object]]:
    """The proposed visits as the page shows them: what was typed stands where it was refused."""
    return [
        {
            "field": row.field,
            "label": row.label,
            "place": row.event or row.form,
            "taken": f"take-{at}" in typed,
            **{
                column: typed.get(f"{column}-{at}", getattr(row, column))
                for column in ("visit", "day", "minus", "plus")
            },
        }
        for at, row in enumerate(plan.proposed(project))
    ]


def plan_rows(data: Mapping[str, str], project: Project) -> list[VisitPlanEntry]:
    """The visits that were ticked, not stored. Raises ValidationError that names the visit."""
    anchor = data.get("anchor", "")
    if anchor not in dict(plan.anchors(project)):
        raise ValidationError(_("Choose the date that days are counted from."))
    errors: list[str] = []
    entries: list[VisitPlanEntry] = []
    start = project.visit_plan.count()
    for at, row in enumerate(plan.proposed(project)):
        if f"take-{at}" not in data:
            continue
        name = data.get(f"visit-{at}", "").strip()
        entry = VisitPlanEntry(
            project=project,
            position=start + len(entries) + 1,
            visit=name,
            anchor_field=anchor,
            date_field=row.field,
            event=row.event,
        )
        wrong = [*_days(entry, data, at)]
        try:
            if not wrong:
                entry.full_clean()
        except ValidationError as error:
            wrong = error.messages
        if name and name in [one.visit for one in entries]:
            wrong.append(_("Two visits have this name."))
        errors += [f"{name or row.field}: {text}" for text in wrong]
        entries.append(entry)
    if not entries:
        errors.append(_("Nothing was ticked."))
    if errors:
        raise ValidationError(errors)
    return entries


def _days(entry: VisitPlanEntry, data: Mapping[str, str], at: int) -> Iterator[str]:
    for column in ("day", "minus", "plus"):
        text = data.get(f"{column}-{at}", "").strip()
        try:
            setattr(entry, column, int(text or ("" if column == "day" else "0")))
        except ValueError:
            yield _("The day and its window are whole numbers.")
            return
