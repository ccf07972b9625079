"""The report of a model's acceptance as a paper: what was asked, by what, with what verdict, and who signed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from core.house.paper.value import Figure, Paper, Section, Table
from core.house.stored_labels import name
from core.llm.labels import ABILITIES, PROVIDERS
from core.llm.models import ModelAcceptance

_MOST = 300
"""Characters of a reply in the table; the row keeps it whole."""


def paper_of(row: ModelAcceptance) -> Paper:
    """Everything that was signed for; replies are cut to what a cell has room for."""
    return Paper(
        title=_("Acceptance of the language model"),
        study=row.project.code,
        author=row.by,
        made_at=row.ended_at.isoformat(timespec="seconds"),
        language=get_language() or "zh-hans",
        heads=(_("Figure"), _("Value"), _("How it was counted")),
        about=tuple(_about(row)),
        sections=(_figures(row), _failed(row), _all(row)),
    )


def _about(row: ModelAcceptance) -> list[tuple[str, str]]:
    told = [(_("Study"), f"{row.project.code} {row.project.name}")]
    for ability, one in row.endpoints.items():
        parts = (name(PROVIDERS, one["preset"]), one["model"], one["address"])
        told.append((name(ABILITIES, ability), " · ".join(parts)))
    told += [
        (_("Prompt versions"), row.prompts.replace(",", ", ")),
        (_("Run by"), row.by),
        (_("started"), _at(row, row.started_at)),
        (_("ended"), _at(row, row.ended_at)),
        (_("Result"), _("passed") if row.is_passed else _("not passed")),
        (_("Signed"), _signed(row)),
        ("SHA-256", row.digest),
    ]
    return told


def _signed(row: ModelAcceptance) -> str:
    return f"{row.signed_by} · {_at(row, row.signed_at)}" if row.signed_at else _("not signed")


def _at(row: ModelAcceptance, moment: datetime | None) -> str:
    zone = ZoneInfo(row.project.timezone)
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}" if moment else "-"


def _figures(row: ModelAcceptance) -> Section:
    share = row.passed / row.total if row.total else 0.0
    bound = {"least": f"{row.least:.0%}", "most": row.most_wrong}
    return Section(
        _("Result"),
        figures=(
            Figure(
                _("Passed three times"),
                f"{row.passed}/{row.total} ({share:.1%})",
                _(
                    "Cases whose three replies, each in a new session, were all right; at least %(least)s"
                )
                % bound,
            ),
            Figure(
                _("Wrong replies"),
                str(row.wrong),
                _("Replies that state what is not so, of all three times; at most %(most)d")
                % bound,
            ),
        ),
    )


def _failed(row: ModelAcceptance) -> Section:
    rows = [_cells(one) for one in row.cases if one["verdicts"] != ["passed"] * 3]
    head = (_("Case"), _("Question"), _("Verdicts"), _("Replies"))
    return Section(_("Cases not passed"), table=Table(head, tuple(rows), _("None.")))


def _all(row: ModelAcceptance) -> Section:
    head = (_("Case"), _("Question"), _("Verdicts"), _("First reply"))
    rows = [(*_cells(one)[:3], _cut(one["replies"][0])) for one in row.cases]
    return Section(_("All cases"), table=Table(head, tuple(rows), _("None.")))


def _cells(case: Mapping[str, Any]) -> tuple[str, ...]:
    words = {"passed": "✓", "asked back": "?", "missing": "–", "wrong": "✕"}
    verdicts = " ".join(words.get(one, one) for one in case["verdicts"])
    replies = " ‖ ".join(dict.fromkeys(map(_cut, case["replies"])))
    return case["id"], case["text"], verdicts, replies


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _MOST else f"{plain[:_MOST]}…"
