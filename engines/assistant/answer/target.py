"""The recruitment target: planned, reached, left."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.utils.translation import gettext as _

from engines.assistant.answer import words
from engines.assistant.answer.fitting import Told
from engines.assistant.answer.reader import Reader
from engines.assistant.understand.types import Asked, Shape
from study.facts import Answer, plain

_MONTHS = 3
"""So many of the last months are told."""


def told(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[Told]:
    """What is left or reached of the target; who sees one site only gets both figures, not their difference."""
    target = _number(answers[-1] if asked.shape is Shape.TARGET else answers[1])
    if not target:
        return [Told(_("This study has no recruitment target"))]
    if asked.shape is Shape.TARGET:
        return [Told(_("planned: %(count)s subjects") % {"count": target})]
    reached = _number(answers[0])
    figures = {"reached": reached, "target": target, "left": abs(target - reached)}
    sites = asked.slots.site or ((reader.own_site,) if reader.own_site else ())
    if sites:
        named = ", ".join(words.site_name(site, reader) for site in sites)
        text = _("%(sites)s: %(reached)s enrolled; the study plans %(target)s in all")
        return [Told(text % (figures | {"sites": named}))]
    if asked.shape is Shape.TARGET_RATE:
        rate = words.rounded(Decimal(reached) * 100 / target, 1)
        return [
            Told(_("%(reached)s of %(target)s enrolled: %(rate)s%%") % (figures | {"rate": rate}))
        ]
    if reached >= target:
        text = _("target reached: %(reached)s of %(target)s enrolled, %(left)s more than planned")
    else:
        text = _("%(left)s to go: %(reached)s of %(target)s enrolled")
    return [Told(text % figures)]


def pace(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[Told]:
    """何时入满: what is known of it, target, reached and the last months; nothing is foretold."""
    months = [(str(group.by[0]), group.count) for group in answers[2].groups][-_MONTHS:]
    entries = tuple(f"{month} {words.people(count)}" for month, count in months)
    done = told(asked, answers, reader)
    note = _("when the target is reached is not foretold")
    return [*done, Told(_("Enrolled by month: "), entries, (note,))]


def _number(answer: Answer) -> int:
    return int(plain(answer.facts[0].value) or 0) if answer.facts else 0
