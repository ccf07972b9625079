"""The same person as two subjects: found by what identifies them, without telling what that is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.utils.translation import gettext as _

from core.house import key_ring
from core.house.encrypted_fields import json_in
from core.integrations.redcap import Row
from core.integrations.redcap.export import SITE
from core.privacy import dates
from engines.sop.checks.kinds import Kind, key
from engines.sop.findings import Observation
from projects.models import Project
from study.design import age_fields
from study.metadata import StudyMetadata
from study.models import Subject
from study.records import state_of
from study.roster import identifiers_of

_MOBILE = re.compile(r"(?:\+?86)?1\d{10}")
_DIGIT = re.compile(r"\d")
_TIME = re.compile(r"\d?\d:\d\d(?::\d\d)?")
DIGITS, NAME = 6, 12
"""An identifier of so many digits is one person's own, a mobile number may be a relative's; a name has none."""


Others = Sequence[tuple[str, str]]


def twins(
    project: Project, metadata: StudyMetadata, record_id: str, rows: Sequence[Row]
) -> Iterator[Observation]:
    """One observation for each identifying field of the subject; a name counts with the date of birth."""
    birth, _consent = age_fields(project, metadata)
    state = state_of(project)
    known = _known(project.pk, state and state.roster_at, birth)
    sites = {str(row.get(SITE, "")) for row in rows}
    for told, mark in _marks(identifiers_of(metadata, rows), birth).items():
        name, _several, _number = told.partition("#")
        others = [(one, site) for one, site in known.get(mark, ()) if one != record_id]
        yield Observation(
            rule_key=key(Kind.DUPLICATE, name),
            outcome="FAIL" if others else "PASS",
            field=name,
            message=_message(metadata.label(name), sites, others) if others else name,
        )


def _message(label: str, sites: set[str], others: Others) -> str:
    """Names subjects of the same site only: nobody learns who is in another."""
    near = [one for one, site in others if {site} == sites]
    if near:
        about = {"label": label, "others": "、".join(near)}
        return _("%(label)s is the same as of %(others)s") % about
    return _("%(label)s is the same as of a subject of another site") % {"label": label}


def _marks(values: Mapping[str, str], birth: str) -> dict[str, str]:
    """Field -> a keyed hash of what one person alone has."""
    found = {}
    for name, value in sorted(values.items()):
        plain = re.sub(r"\W", "", value).upper()
        digits = len(_DIGIT.findall(plain))
        if name == birth or _MOBILE.fullmatch(plain) or _is_date(value):
            continue
        if digits >= DIGITS:
            found[name] = key_ring.digest(f"{name}:{plain}")
        elif not digits and 0 < len(plain) <= NAME and values.get(birth):
            found[name] = key_ring.digest(f"{name}:{plain}:{values[birth]}")
    return found


def _is_date(value: str) -> bool:
    """Whether one date is all there is: 110101-196201010008 holds digits that could be one, and is a number."""
    rests = (value[:start] + " " + value[end:] for start, end, _day in dates.days(value))
    return any(len(_DIGIT.findall(_TIME.sub("", rest))) < DIGITS for rest in rests)


@lru_cache(maxsize=4)
def _known(
    project_id: UUID, _synced: datetime | None, birth: str
) -> Mapping[str, Sequence[tuple[str, str]]]:
    """{mark: [(record id, site), …]} of the stored subjects, until the roster is read again."""
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for subject in Subject.objects.filter(project_id=project_id, is_present=True):
        for mark in _marks(json_in(subject.identifiers), birth).values():
            found[mark].append((subject.record_id, subject.site))
    return dict(found)
