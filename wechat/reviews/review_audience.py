"""The people of a study around one review or run, read once; who sees it is compared here (projects.access)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from core.house.crypto import decrypt
from engines.models import Review, TaskRun
from engines.pages.evidence import Evidence, evidence
from engines.sop.asking import orderers
from memory.visibility import told_to
from projects.access import sees, tells_arm
from projects.models import Member, Role
from study.roster import with_identifiers, with_site
from wechat.models import Alert
from wechat.outbound.neutralise import masked


def _active(project: UUID, record: str | None) -> QuerySet[Member]:
    away = Alert.objects.filter(code=Alert.Code.UNREACHABLE, cleared_at=None)
    people = Member.objects.filter(project=project, is_active=True).order_by("wecom_userid")
    people = people.select_related("person__user")
    people = people.annotate(is_away=Exists(away.filter(subject=OuterRef("wecom_userid"))))
    return with_identifiers(people, record)


def _orderer(project: UUID, userid: str, record: str | None) -> QuerySet[Member]:
    people = Member.objects.active_of(userid).filter(project=project)
    return with_site(people.select_related(None).order_by(), record)


def orderer(run: TaskRun) -> Member | None:
    """The member who ordered a run and may still see it; none for schedules and console users."""
    for member in _orderer(run.project_id, run.triggered_by.lower(), run.record_id):
        if _sees(member, run, member.subject_site):  # type: ignore[attr-defined]
            member.project = run.project
            return member
    return None


def _values(identifiers: str) -> tuple[str, ...]:
    return tuple(str(value) for value in json.loads(identifiers).values())


def _sees(member: Member, run: TaskRun, site: str | None) -> bool:
    record_id, owner = run.record_id, run.triggered_by
    return sees(member, record_id=record_id, site=site, owner=owner, unblinds=tells_arm(run))


@dataclass(frozen=True)
class Circle:
    """Who may have to do with a review: `people` are the active members who see it.

    `identifiers` are values of the subject that a message must not show.
    """

    review: Review
    people: list[Member]
    identifiers: tuple[str, ...]

    @classmethod
    def of(cls, review: Review, run: TaskRun) -> Circle:
        """Read by one statement."""
        active: list[Any] = [*_active(review.project_id, review.record_id)]
        for one in active:
            one.project = review.project
        stored = active[0].subject_identifiers if active else None
        people = [one for one in active if _sees(one, run, one.subject_site)]
        return cls(review, people, _values(decrypt(stored)) if stored else ())

    def reviewers(self) -> list[Member]:
        """Who is asked: CRCs, PIs where the node says so, else ADMINs; who can be reached."""
        asked = [one for one in self._near if one.role in self.review.reviewers]
        return asked or self.administrators()

    def administrators(self) -> list[Member]:
        """Who is told where the reviewers do not decide; who can be reached."""
        return [one for one in self._near if one.role == Role.ADMIN]

    @cached_property
    def evidence(self) -> Evidence:
        """What is shown of the review."""
        return evidence(self.review)

    def paragraphs(self) -> list[str]:
        """Question, findings, rules and passages, without the values."""
        told = [self.review.question, *self.evidence.lines(), *self.evidence.protocol()]
        return [self.masked(text) for text in dict.fromkeys(told)]

    def values(self) -> list[str]:
        """The values that the findings rest on, each with place and date."""
        return [self.masked(text) for text in self.evidence.values()]

    def masked(self, text: str) -> str:
        """Without the subject's known identifiers."""
        return masked(text, self.identifiers)

    @cached_property
    def _near(self) -> list[Member]:
        """Who can be reached and may read all that is shown: nobody decides about a part of it.

        Where four eyes are wanted, not who ordered a run that waits: they may not decide.
        """
        text = "\n".join([*self.paragraphs(), *self.values()])
        barred = orderers(self.review) if self.review.project.four_eyes else set()
        return [
            one
            for one in self.people
            if one.wecom_userid
            and one.names.isdisjoint(barred)
            and not one.is_away  # type: ignore[attr-defined]
            and told_to(one, text) == text
        ]

    def orderer(self, run: TaskRun) -> Member | None:
        """Who ordered the run, if they still see it."""
        userid = run.triggered_by.lower()
        return next((one for one in self.people if one.wecom_userid == userid), None)
