"""Who may meet which canary: a house with two studies and people of every kind, and what is whose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from engines import sop
from engines.models import TaskRun
from memory.hot.text import lines
from memory.models import ProjectMemory, ProjectMemoryVersion
from projects.models import Member, Person, Project
from study.models import Subject
from tests.house.kit import make_project, make_subject
from tests.support.addresses import Address
from tests.support.answers import absent
from tests.support.canaries import BETA, HOUSE, SITE_A, SITE_B, STUDY, Canaries, Kind, Place

# design.md 9.7: a study's people see the study, of another site nothing, of another person nothing unless
# they supervise all sites.
PEOPLE: dict[str, tuple[str, str]] = {
    "zhangyi": ("PI", ""),
    "wanghushi": ("CRC", "site_a"),
    "crc_b": ("CRC", "site_b"),
    "chief": ("ADMIN", ""),
    "chief_a": ("ADMIN", "site_a"),
    "watcher": ("AUDITOR", ""),
}
OTHER = "of_beta"
IDENTITIES = (*PEOPLE, OTHER, "stranger")
SITES = {"site_a": SITE_A, "site_b": SITE_B}
# What the interface itself shows as an example of record ids.
EXAMPLES = {"P001", "P002"}


def own(name: str) -> str:
    """The mark of what belongs to a person."""
    return f"QZOWN{name.replace('_', '').upper()}"


def allowed(name: str) -> set[str]:
    """The marks that a person may meet anywhere."""
    if name not in PEOPLE:
        return {BETA} if name == OTHER else set()
    role, site = PEOPLE[name]
    marks = {STUDY, own(name), *([SITES[site]] if site else SITES.values())}
    supervises = role in ("ADMIN", "AUDITOR") and not site
    return marks | ({own(each) for each in PEOPLE} if supervises else set())


@dataclass
class House:
    """The demo study with people of every kind, and BETA, filled with canaries."""

    alpha: Project
    beta: Project
    canaries: Canaries
    records: dict[str, set[str]]
    clients: dict[str, Client] = field(default_factory=dict)

    def client(self, name: str) -> Client:
        """A browser with that login."""
        if name not in self.clients:
            self.clients[name] = Client()
            user = User.objects.get(username=name)
            self.clients[name].force_login(user, "django.contrib.auth.backends.ModelBackend")
        return self.clients[name]

    def ask(self, name: str, method: str, path: str, sent: Any = None) -> Any:
        """A reply to a person that is told nothing of what came before."""
        client = self.client(name)
        client.cookies.pop("messages", None)
        return getattr(client, method)(path, sent)

    def met(self, text: str) -> set[str]:
        """The marks in a text."""
        return {*re.findall(rf"(?:{'|'.join(self.canaries.places)})(?![A-Z])", text)}

    def forbidden(self, name: str) -> re.Pattern[str]:
        """What must not be in any answer to a person: foreign marks, and record ids of other sites."""
        marks = {HOUSE, *self.canaries.places} - allowed(name)
        site = PEOPLE.get(name, ("", ""))[1]
        ids = {
            one for place, them in self.records.items() if place != site and site for one in them
        }
        ids |= set() if name in PEOPLE else {*self.records["site_a"], *self.records["site_b"]}
        ids = {one for one in ids - EXAMPLES if len(one) > 2}
        # A key of a row may begin with the digits of a record id (007…).
        words = "|".join([*sorted(marks), *(rf"{one}(?![A-Za-z0-9])" for one in sorted(ids))])
        return re.compile(rf"(?<![A-Za-z0-9])(?<!\d,)(?:{words})(?![A-Z])")


def build(study: Any) -> House:
    """The people, the second study, and a row of every table at every place."""
    alpha, beta = (
        study.project,
        make_project(BETA, redcap_det_secret="QZBETAdet", enrolment_field=BETA),
    )
    make_subject(beta, "QZBETA1", "site_z")
    for name, (role, site) in {**PEOPLE, OTHER: ("ADMIN", "")}.items():
        user, _new = User.objects.get_or_create(username=name)
        person, _new = Person.objects.get_or_create(wecom_userid=name, defaults={"user": user})
        Member.objects.update_or_create(
            project=beta if name == OTHER else alpha,
            person=person,
            defaults={"role": role, "site": site},
        )
    User.objects.create(username="stranger")
    User.objects.update(is_staff=True)
    records: dict[str, set[str]] = {}
    for subject in Subject.objects.filter(project=alpha):
        records.setdefault(subject.site, set()).add(subject.record_id)
    canaries = Canaries(_places(alpha, beta, records))
    canaries.rows = _given(alpha, beta, records)
    canaries.fill()
    _mark_hot_memory(alpha, records)
    return House(alpha, beta, canaries, records)


def _places(alpha: Project, beta: Project, records: dict[str, set[str]]) -> dict[str, Place]:
    people = {m.identity: m for m in Member.objects.select_related("project", "person__user")}
    a, b = max(records["site_a"]), max(records["site_b"])
    found = [
        Place(STUDY, alpha, a, "site_a", people["zhangyi"]),
        Place(SITE_A, alpha, a, "site_a", people["zhangyi"]),
        Place(SITE_B, alpha, b, "site_b", people["zhangyi"]),
        Place(BETA, beta, "QZBETA1", "site_z", people[OTHER]),
    ]
    for name, (_role, site) in PEOPLE.items():
        record = b if site == "site_b" else a
        found.append(Place(own(name), alpha, record, site, people[name]))
    return {place.token: place for place in found}


def _given(
    alpha: Project, beta: Project, records: dict[str, set[str]]
) -> dict[Kind, dict[str, Any]]:
    subjects = {row.record_id: row for row in Subject.objects.all()}
    members = {row.identity: row for row in Member.objects.all()}
    return {
        User: {HOUSE: User.objects.create(username=HOUSE)},
        Project: {STUDY: alpha, BETA: beta},
        Person: {STUDY: members["zhangyi"].person, BETA: members[OTHER].person},
        Member: {STUDY: members["zhangyi"], BETA: members[OTHER]},
        Subject: {
            SITE_A: subjects[max(records["site_a"])],
            SITE_B: subjects[max(records["site_b"])],
            BETA: subjects["QZBETA1"],
        },
    }


def _mark_hot_memory(alpha: Project, records: dict[str, set[str]]) -> None:
    """Lines about a subject of each site and one about none."""
    a, b = max(records["site_a"]), max(records["site_b"])
    lines = f"\n- {STUDY}\n- {a} {SITE_A}\n- {b} {SITE_B}\n"
    for row in (*ProjectMemory.objects.filter(project=alpha),):
        row.content += lines
        row.save()
        for version in ProjectMemoryVersion.objects.filter(memory=row):
            version.content = row.content
            version.save()


def some(rows: dict[str, Any], marks: set[str], name: str) -> list[Any]:
    """Rows at these places; of other people's, one stands for all."""
    found = {mark: row for mark, row in rows.items() if mark in marks}
    others = [mark for mark in found if mark.startswith("QZOWN") and mark != own(name)]
    return [row for mark, row in found.items() if mark not in others[1:]]


def outside(house: House, name: str) -> list[str]:
    """Places that are not a person's: of other people, one stands for all."""
    marks = [mark for mark in house.canaries.places if mark not in allowed(name)]
    others = [mark for mark in marks if mark.startswith("QZOWN")]
    return [mark for mark in marks if mark not in others[1:]]


def far(house: House, name: str) -> list[str]:
    """A place in another study, and one at another site of the own study where there is one."""
    elsewhere = STUDY if BETA in allowed(name) else BETA
    site = PEOPLE.get(name, ("", ""))[1]
    return [elsewhere, *(mark for there, mark in SITES.items() if site and there != site)]


def foreign_rows(house: House, name: str, model: Kind) -> dict[str, Any]:
    """A table's rows that are not a person's to meet, one of each kind of place."""
    marks = {HOUSE, *outside(house, name)}
    return {mark: row for mark, row in house.canaries.rows[model].items() if mark in marks}


def named(house: House, mark: str) -> dict[str, Any]:
    """By the names that forms and addresses use, what is at a place."""
    canaries = house.canaries
    place = canaries.places.get(mark) or canaries.places[STUDY]
    rows = {kind: rows[mark] for kind, rows in canaries.rows.items() if mark in rows}
    return {
        **{kind._meta.model_name or "": row.pk for kind, row in rows.items()},
        "project": place.project.pk,
        "code": place.project.code,
        **dict.fromkeys(("record_id", "record", "subjects"), place.record_id),
        "site": place.site,
        "user_id": place.member.identity,
    }


def nowhere(house: House, mark: str) -> dict[str, Any]:
    """The same names with what is at no place; the study stays where it is the reader's own."""
    there = named(house, mark)
    sent = {name: absent(value) for name, value in there.items()}
    if mark != BETA:
        sent |= {"project": there["project"], "code": there["code"]}
        sent |= dict.fromkeys(("record_id", "record", "subjects"), "P999")
    return sent


def targets(house: House, name: str, one: Address) -> Iterator[tuple[str, Any]]:
    """Foreign rows that an address may be tried with: its table's; of each table one, where it names none."""
    if one.model:
        yield from foreign_rows(house, name, one.model).items()
        return
    for model in house.canaries.rows:
        yield from [*foreign_rows(house, name, model).items()][-1:]


def shown_with(row: Any) -> dict[str, Any]:
    """What the buttons of a row's page send of what stands there."""
    if isinstance(row, TaskRun):
        review = sop.open_review(row)
        return {"seen": review.seen if review else ""}
    if isinstance(row, ProjectMemory):
        line = next(one for one in lines(row.content) if one.is_content)
        return {"number": "0", "line": line.text}
    return {}
