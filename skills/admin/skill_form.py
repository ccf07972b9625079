"""The form of a workflow: saved, kept as a draft, or kept for the day it takes effect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.house import clock
from core.house.admin_json import JsonTextarea
from skills import publish, services
from skills.graph import EVENTS
from skills.models import Skill, SkillDraft


def stand_in(trigger: str) -> dict[str, Any]:
    """What a new workflow holds while there is only a draft of it."""
    return starter() | ({"event": EVENTS[0]} if trigger == Skill.Trigger.EVENT else {})


def starter() -> dict[str, Any]:
    """What the box of a new workflow opens with: the smallest one that can be saved."""
    ask = {
        "type": "human_review",
        "description": gettext("What is to be decided?"),
        "on_approve": "end_success",
        "on_reject": "end_rejected",
    }
    return {"start_node": "ask", "nodes": {"ask": ask}}


def draft_of(skill: Skill) -> SkillDraft | None:
    return getattr(skill, "draft", None)


def stamp(skill: Skill) -> str:
    """What a writer read, the skill and its draft: sent back with what they do to it."""
    if skill._state.adding:
        return ""
    draft = draft_of(skill)
    times = [skill.updated_at, *([draft.saved_at] if draft else [])]
    return "/".join(one.isoformat() for one in times)


class SkillForm(forms.ModelForm):
    """Saved only when the graph is a workflow, and nobody else saved it since the page was opened.

    A draft (`_draft`) may be wrong, unless it has a day; it changes the configuration only. It and what has a
    day to come (`planned`) leave what runs as it is. The draft of a new workflow stands beside one that is off.
    """

    planned: date | None = None
    effective_on = forms.DateField(
        widget=forms.DateInput(
            format="%Y-%m-%d", attrs={"type": "date", "class": "iit-input iit-narrow"}
        ),
        required=False,
        label=_("takes effect on"),
        help_text=_(
            "Blank: as soon as it is saved. Until that day the version before goes on; name, trigger and "
            "schedule change at once."
        ),
    )
    read_at = forms.CharField(widget=forms.HiddenInput, required=False, label="")

    class Meta:
        model = Skill
        fields = (
            "project",
            "skill_type",
            "name",
            "is_active",
            "trigger_type",
            "cron_schedule",
            "config",
        )
        widgets = {"config": JsonTextarea(attrs={"rows": 32})}

    class Media:
        css: ClassVar = {"all": ("iit/rule_builder.css",)}
        js = (
            "iit/vendor/cytoscape.min.js",
            "iit/vendor/dagre.min.js",
            "iit/vendor/cytoscape-dagre.js",
            "iit/skill.js",
            "iit/vendor/codemirror.js",
            "iit/sop_draw.js",
            "iit/rule_logic.js",
            "iit/rule_parts.js",
            "iit/rule_builder.js",
            "iit/sop_controls.js",
            "iit/sop.js",
            "iit/sop_run.js",
            "iit/sop_json.js",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.runs = self.instance.config
        if not self.runs:
            if not self.initial.get("config"):
                self.initial["config"] = starter()
        elif shown := getattr(self.instance, "shown", None):
            self.initial["config"] = shown
        # An older version that is shown is not what is planned for that day.
        is_older = getattr(self.instance, "is_older", False)
        if (draft := draft_of(self.instance)) and draft.effective_on and not is_older:
            self.initial["effective_on"] = draft.effective_on
        self.initial["read_at"] = stamp(self.instance)

    @property
    def is_draft(self) -> bool:
        """Whether the configuration is only to be kept."""
        return "_draft" in self.data

    @property
    def waits(self) -> bool:
        """Whether what runs stays as it is, for now."""
        return self.is_draft or self.planned is not None

    @property
    def others(self) -> set[str]:
        """What was changed beside the configuration: that waits for nothing."""
        return {*self.changed_data} - {"config", "effective_on", "read_at"}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.pop("read_at", "") != stamp(self.instance):
            self.add_error(None, str(services.SkillChanged()))
        day = cleaned.pop("effective_on", None)
        today = clock.today(cleaned.get("project", self.instance.project).timezone) if day else None
        if day and today and day < today:
            told = _("This day has passed. Leave it blank to publish as soon as it is saved.")
            self.add_error("effective_on", told)
        if self.is_draft and "config" in cleaned:
            self._check_with(publish.check_size, cleaned["config"])
        if self.is_draft and self.instance._state.adding:
            cleaned["is_active"] = False
            self.runs = stand_in(cleaned.get("trigger_type", ""))
        elif self.is_draft:
            self._check_draft(is_today=bool(day) and day == today)
        if self.errors:
            return cleaned
        if day and today and day > today:
            self.planned = day
        config = cleaned.get("config")
        for name, value in cleaned.items():
            setattr(self.instance, name, self.runs if name == "config" else value)
        if self.waits and self.others:
            self._check()
        self.instance.config = config
        if not self.is_draft or self.planned:
            self._check()
        if self.is_draft and self.planned and self.errors:
            told = _("A draft that cannot run yet takes no day: leave it blank to keep it.")
            self.add_error("effective_on", told)
        return cleaned

    def _check_draft(self, *, is_today: bool) -> None:
        """What a draft would change at once is refused where it was typed."""
        for name in self.others:
            told = _("A draft changes nothing that runs: set this back, or save.")
            self.add_error(name, told)
        if is_today:
            told = _("A draft of today would be published at once: leave this blank, or save.")
            self.add_error("effective_on", told)

    def _check(self) -> None:
        self._check_with(services.check_skill, self.instance)

    def _check_with(self, check: Callable[[Any], None], what: Any) -> None:
        try:
            check(what)
        except ValidationError as error:
            for name, texts in error.message_dict.items():
                self.add_error(name if name in self.fields else None, texts)
