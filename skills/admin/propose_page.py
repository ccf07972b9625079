"""The console's page of the auto-mapper: proposals to tick (issue 3, Tools)."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects.models import Project
from skills import automap
from study.blinding.mask import unnamed_for

WHY: dict[str, Promise] = {
    automap.LABEL: gettext_lazy("The field's label"),
    automap.PART: gettext_lazy("A part of the label"),
    automap.CLINICAL: gettext_lazy("What clinicians call it"),
}


def offer(request: HttpRequest, project: Project) -> dict[str, Any]:
    """The proposals; a whole label says what is meant, a part of one or another word may mean more."""
    found = automap.current_proposals(project, unnamed_for(project, request.user))
    parts = [
        {
            "rows": [
                {"alias": row.alias, "field": row.field, "label": row.label, "why": WHY[row.why]}
                for row in found.rows
                if (row.why != automap.LABEL) == doubtful
            ],
            "doubtful": doubtful,
        }
        for doubtful in (False, True)
    ]
    return {
        "rows": found.rows,
        "parts": [part for part in parts if part["rows"]],
        "read_at": found.read_at,
        "is_old": found.is_old,
    }


def apply_chosen(request: HttpRequest, project: Project) -> str:
    """Store the ticked proposals."""
    chosen = request.POST.getlist("alias")
    if not chosen:
        raise ValidationError(_("Nothing was ticked."))
    try:
        hidden = unnamed_for(project, request.user)
        stored = automap.store_proposals(project, chosen, request.user, hidden)
    except (ValidationError, IntegrityError) as error:
        told = _("Somebody stored one of these names just now. Please look again.")
        raise ValidationError(told) from error
    if len(stored) < len({*chosen}):
        messages.warning(request, _("Some of them are not proposed any more."))
    return _("%d field mappings stored.") % len(stored)
