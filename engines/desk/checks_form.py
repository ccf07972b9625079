"""The form of the standard checks: which run, and what the few that take something are told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engines.sop.checks import safety
from engines.sop.checks.kinds import LABELS, Kind
from study.known_names import KnownNames, refusal

_LIST = re.compile(r"[,;、，；\n]+")
HELP: Mapping[Kind, Promise] = {
    Kind.REQUIRED: gettext_lazy("Once somebody began a form, its required fields are filled."),
    Kind.RANGE: gettext_lazy("Between the least and the greatest value of the dictionary."),
    Kind.TYPE: gettext_lazy("A number is a number, a date is a day that there is."),
    Kind.CHOICE: gettext_lazy("A stored code is one of the field's choices."),
    Kind.HIDDEN: gettext_lazy("A field that branching logic hides is blank."),
    Kind.CALC: gettext_lazy(
        "What is stored is what the formula gives; one that reads the day of saving is not compared."
    ),
    Kind.CONSENT: gettext_lazy("No visit, anchor or examination is before the consent."),
    Kind.LAB_AE: gettext_lazy(
        "A lab value beyond so many times its limit has an adverse event near."
    ),
    Kind.AE_MEDICATION: gettext_lazy("A medication that an adverse event names has its own row."),
    Kind.PROHIBITED: gettext_lazy("No medication whose name holds one of the list."),
    Kind.VISIT_WINDOW: gettext_lazy("Each visit is within its window and none is missed."),
    Kind.VISIT_ORDER: gettext_lazy("Visits are dated in the planned order."),
    Kind.DUPLICATE: gettext_lazy("Nobody's identifier is also another subject's."),
}


class ChecksForm(forms.Form):
    """A box for each check `on_<kind>`; `checks()` gives what a workflow stores."""

    times = forms.DecimalField(
        label=gettext_lazy("times the upper limit"), min_value=1, max_value=1000, required=False
    )
    days = forms.IntegerField(
        label=gettext_lazy("days around"), min_value=0, max_value=365, required=False
    )
    words = forms.CharField(
        label=gettext_lazy("Words of adverse events for a lab, a line each: alt: ALT, liver"),
        max_length=4000,
        required=False,
        widget=forms.Textarea,
    )
    names = forms.CharField(
        label=gettext_lazy("Prohibited medications"),
        max_length=8000,
        required=False,
        widget=forms.Textarea,
    )
    field = forms.CharField(
        label=gettext_lazy("Field that names medications"), max_length=100, required=False
    )
    ae_field = forms.CharField(
        label=gettext_lazy("Field of the adverse event that names a medication"),
        max_length=100,
        required=False,
    )

    def __init__(self, names: KnownNames, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = names
        for kind in Kind:
            self.fields[f"on_{kind}"] = forms.BooleanField(required=False, label=str(LABELS[kind]))

    @classmethod
    def initial_of(cls, checks: Mapping[str, Mapping[str, Any]], running: bool) -> dict[str, Any]:
        """What the form opens with."""
        lab, cm, ae = (
            checks.get(kind) or {} for kind in (Kind.LAB_AE, Kind.PROHIBITED, Kind.AE_MEDICATION)
        )
        words = [f"{name}: {', '.join(told)}" for name, told in (lab.get("words") or {}).items()]
        return {
            "times": lab.get("times", safety.TIMES),
            "days": lab.get("days", safety.DAYS),
            "words": "\n".join(words),
            "names": "\n".join(cm.get("names") or ()),
            "field": cm.get("field", ""),
            "ae_field": ae.get("field", ""),
            **{f"on_{kind}": running and kind in checks for kind in Kind},
        }

    def clean_words(self) -> dict[str, list[str]]:
        """{lab field: words}. A line names a field of the dictionary."""
        found: dict[str, list[str]] = {}
        for line in filter(str.strip, self.cleaned_data["words"].splitlines()):
            name, _colon, told = line.replace("：", ":").partition(":")
            if why := refusal(name.strip(), self._known.fields):
                raise forms.ValidationError(why)
            if words := _several(told):
                found[name.strip()] = words
        return found

    def clean_names(self) -> list[str]:
        """Each once, as typed."""
        return _several(self.cleaned_data["names"])

    def clean_field(self) -> str:
        """One of the dictionary's; refused with the nearest."""
        return self._field("field")

    def clean_ae_field(self) -> str:
        """As the other."""
        return self._field("ae_field")

    def _field(self, key: str) -> str:
        name: str = self.cleaned_data[key].strip()
        if why := refusal(name, self._known.fields):
            raise forms.ValidationError(why)
        return name

    def clean(self) -> dict[str, Any]:
        """The list is what the check of prohibited medication is about."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get(f"on_{Kind.PROHIBITED}") and not cleaned.get("names"):
            self.add_error("names", _("Name at least one medication."))
        return cleaned

    def checks(self) -> dict[str, dict[str, Any]]:
        """What is ticked, with what it is told."""
        said = self.cleaned_data
        told: dict[Kind, dict[str, Any]] = {
            Kind.LAB_AE: {
                "times": float(said["times"] or safety.TIMES),
                "days": safety.DAYS if said["days"] is None else said["days"],
                "words": said["words"],
            },
            Kind.PROHIBITED: {"names": said["names"], "field": said["field"]},
            Kind.AE_MEDICATION: {"field": said["ae_field"], "medication": said["field"]},
        }
        ticked = [kind for kind in Kind if said.get(f"on_{kind}")]
        return {
            str(kind): {name: one for name, one in told.get(kind, {}).items() if one or one == 0}
            for kind in ticked
        }


def _several(text: str) -> list[str]:
    parts = (part.strip()[:100] for part in _LIST.split(text))
    return [*dict.fromkeys(part for part in parts if part)][:200]
