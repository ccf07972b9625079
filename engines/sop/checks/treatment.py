"""An adverse event that names a medication which no medication row holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from engines.sop.checks.kinds import Kind, key
from engines.sop.findings import Observation
from integrations.redcap import Row
from study import proposals
from study.design import StudyDesign

_PLACE = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")


def event_without_medication(
    design: StudyDesign, rows: Sequence[Row], told: Mapping[str, Any]
) -> Iterator[Observation]:
    """Of each adverse event that names a medication: PASS, or FAIL where no medication row names the same.

    `field` is where an adverse event names it, a text or a yes; a yes wants any medication row. `medication`
    is where medications are named. The dictionary proposes both; without them nothing is said.
    """
    field = str(told.get("field") or proposals.treatment_field(design.metadata))
    named = str(told.get("medication") or proposals.medication_field(design.metadata))
    if field not in design.context.columns or named not in design.context.columns:
        return
    taken = [name for row in rows if (name := _folded(row.get(named)))]
    yes_no = design.metadata.fields[field]["field_type"] in ("yesno", "truefalse")
    for row in rows:
        said = _folded(row.get(field))
        if not said or (yes_no and said != "1"):
            continue
        is_held = bool(taken) if yes_no else any(one in said or said in one for one in taken)
        event, instrument, instance = (str(row.get(name) or "") for name in _PLACE)
        yield Observation(
            rule_key=key(Kind.AE_MEDICATION, field),
            outcome="PASS" if is_held else "FAIL",
            field=field,
            message=_("%(label)s: %(said)s, and no medication row holds it")
            % {"label": design.metadata.label(field), "said": _shown(design, field, row)},
            value=row[field],
            event=event,
            instrument=instrument,
            instance=instance,
        )


def _folded(text: object) -> str:
    return "".join(str(text or "").split()).lower()


def _shown(design: StudyDesign, field: str, row: Row) -> str:
    text = str(row[field])
    return str(design.metadata.choices(field).get(text, text))
