"""The report of a qualification: a paper with signature lines, and the same for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from core.house.paper.as_pdf import as_pdf
from core.house.paper.value import Paper, Section, Table
from engines.qualification.steps import Outcome

_STYLE = (
    'body{font:14px/1.5 "Noto Sans CJK SC","Microsoft YaHei",sans-serif;margin:2rem;color:#111}'
    "table{border-collapse:collapse;width:100%}th,td{border:1px solid #999;padding:.3rem .5rem;"
    "text-align:left;vertical-align:top;overflow-wrap:anywhere}@page{size:A4;margin:15mm}"
)


@dataclass(frozen=True)
class Report:
    """What was found, by whom, when (ISO 8601 with offset), on which machine, of which version."""

    who: str
    made_at: str
    machine: str
    version: str
    installation: tuple[Outcome, ...]
    operation: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """Whether every step of both parts passed."""
        return all(one.passed for one in (*self.installation, *self.operation))

    def save(self, file: Path) -> list[Path]:
        """Write the report as .html, .pdf and .json; gives the files. Raises OSError, TypesetError."""
        paper = self.paper()
        forms = {
            ".html": _html(paper).encode(),
            ".pdf": as_pdf(paper),
            ".json": json.dumps(
                asdict(self) | {"passed": self.passed}, ensure_ascii=False, indent=1
            ).encode(),
        }
        made = [file.with_name(file.name + suffix) for suffix in forms]
        for one, content in zip(made, forms.values(), strict=True):
            one.write_bytes(content)
        return made

    def paper(self) -> Paper:
        """The report as a paper of the house, in the active language."""
        about = (
            (_("Result"), _word(self.passed)),
            (_("Run by"), self.who),
            (_("Machine"), self.machine),
            (_("Version"), self.version),
            (_("When"), self.made_at),
        )
        return Paper(
            title=_("Installation and operational qualification"),
            study="IIT Manager",
            author=self.who,
            made_at=self.made_at,
            language=get_language() or "en",
            heads=("", "", ""),
            about=about,
            sections=(
                _section(_("Installation (IQ)"), self.installation),
                _section(_("Operation (OQ), on an empty database of its own"), self.operation),
                _signatures(),
            ),
        )


def _section(title: str, outcomes: Sequence[Outcome]) -> Section:
    rows = tuple((one.title, _word(one.passed), one.seen) for one in outcomes)
    return Section(title, table=Table((_("Step"), _("Result"), _("Seen")), rows))


def _signatures() -> Section:
    rows = tuple(
        (who, "", "", "") for who in (_("Carried out by"), _("Checked by"), _("Approved by"))
    )
    head = (_("Role"), _("Name"), _("Signature"), _("Date"))
    return Section(_("Signatures"), table=Table(head, rows))


def _word(passed: bool) -> str:
    return _("passed") if passed else _("failed")


def _html(paper: Paper) -> str:
    parts = [f"<!doctype html><html lang={paper.language}><meta charset=utf-8>"]
    parts += [f"<title>{escape(paper.title)}</title><style>{_STYLE}</style>"]
    parts += [f"<h1>{escape(paper.title)}</h1><table>"]
    parts += [f"<tr><th>{escape(name)}<td>{escape(value)}" for name, value in paper.about]
    parts += ["</table>"]
    for section in paper.sections:
        table = section.table
        parts += [f"<h2>{escape(section.title)}</h2>"]
        lines = (table.header, *table.rows) if table else ()
        parts += ["<table>"]
        parts += ["<tr>" + "".join(f"<td>{escape(cell)}&nbsp;" for cell in line) for line in lines]
        parts += ["</table>"]
    return "\n".join(parts) + "\n</html>\n"
