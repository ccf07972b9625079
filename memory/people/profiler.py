"""The profiler: repeated feedback becomes a line of the user's own profile (issue 4, "Profiles, feedback").

Two 👎 "too long" read "简洁". Every line keeps which answers it rests on, by id, time and reason. What a
person removed is not written again. Whether answers are accurate is for people to judge: that waits.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from core.house import clock, cron
from core.house.db import atomic
from memory.hot import injection, proposals
from memory.hot.distill import day_bounds
from memory.hot.proposals import Action, Change, State
from memory.hot.save import Job, MemoryConflict, check_size, retried, save_memory
from memory.hot.text import Kind, MemoryTooLarge, add_line, change_line, lines
from memory.hot.tombstones import Guard
from memory.log import flow_log
from memory.log.flow_log import Complaint
from memory.models import MemoryProposal, ProjectMemory
from memory.people import length
from memory.people.quotes import says
from projects.models import Project

log = logging.getLogger(__name__)
AUTHOR = Job.PROFILER
TIMES = 2
STATISTICS = "反馈统计"


@dataclass(frozen=True)
class _Rule:
    """What a repeated reason turns into.

    `said`: words of a profile that say it already; `against`: words that say the opposite, so that a person
    decides, as where `applies` is off.
    """

    label: str
    line: str
    said: tuple[str, ...]
    against: tuple[str, ...] = ()
    applies: bool = True

    def contradicts(self, line: str) -> bool:
        """Whether a line of a profile says the opposite, or denies what the rule would write."""
        denied = any(word in line for word in self.said) and not says(line, self.said)
        return denied or says(line, self.against)


RULES = {
    flow_log.Reason.TOO_LONG: _Rule(
        "偏好", "简洁", length.SHORT, against=("详细", "展开", "完整", "解释")
    ),
    flow_log.Reason.UNCLEAR: _Rule("偏好", "表述清楚,给出依据", ("表述清楚", "说清楚")),
    flow_log.Reason.INACCURATE: _Rule("关注点", "数据准确性", ("数据准确",), applies=False),
}


@dataclass(frozen=True)
class _Wish:
    """A line that a user's complaints ask for."""

    user_id: str
    rule: _Rule
    complaints: tuple[Complaint, ...]

    @property
    def change(self) -> Change:
        return Change(
            Action.ADD,
            Kind.PROFILES,
            new=f"- **{self.rule.label}**: {self.rule.line}",
            profile=self.user_id,
        )


def profile(project: Project) -> int:
    """Write what repeated feedback asks for, and once a day the counts; returns how many lines changed.

    Running it again changes nothing.
    """
    try:
        return retried(lambda: _profile(project))
    except MemoryConflict:
        log.info("hot memory changed while profiles were written")
        return 0


def _profile(project: Project) -> int:
    with atomic():
        current = ProjectMemory.objects.filter(project=project).first()
        content = before = current.content if current else ""
        wishes = [wish for wish in _wishes(project) if not _settled(project, wish, content)]
        for wish in wishes:
            content = _with(project, content, wish)
        # Counts that change with every 👍 are not worth a version each.
        if cron.claim(
            f"feedback:{project.pk}", day_bounds(project, clock.today(project.timezone))[0]
        ):
            content = _counted(project, content)
        if content != before:
            base = current.version if current else None
            content = save_memory(
                project=project, content=content, actor=AUTHOR, base_version=base
            ).content
        for wish in wishes:
            stands = wish.change.new in injection.profile_of(content, wish.user_id)
            _keep(project, wish, State.APPLIED if stands else State.PENDING)
    return len(set(content.split("\n")) - set(before.split("\n")))


def _wishes(project: Project) -> Iterator[_Wish]:
    """Reasons that a user gave for two answers or more."""
    found: dict[tuple[str, str], list[Complaint]] = defaultdict(list)
    for complaint in flow_log.complaints(project):
        found[complaint.user_id, complaint.reason].append(complaint)
    for (user_id, reason), complaints in sorted(found.items()):
        rule = RULES.get(flow_log.Reason(reason)) if reason in flow_log.Reason.values else None
        if rule and len(complaints) >= TIMES:
            yield _Wish(user_id, rule, tuple(complaints))


def _settled(project: Project, wish: _Wish, content: str) -> bool:
    """Whether the profile says it, it was removed or forgotten, or a person was asked before."""
    own = injection.profile_of(content, wish.user_id)
    return (
        any(says(line, wish.rule.said) for line in own)
        or _is_gone(project, wish.change.new, wish.user_id)
        or MemoryProposal.objects.filter(project=project, key=wish.change.key).exists()
    )


def _is_gone(project: Project, line: str, user_id: str) -> bool:
    """Whether an editor removed a line of the profile, or its user had it forgotten."""
    return Guard(project, user_id).blocks(line, profile=user_id)


def _with(project: Project, content: str, wish: _Wish) -> str:
    """The text with the line, but where a person has to decide, or the profile is full."""
    if not wish.rule.applies or any(
        wish.rule.contradicts(line) for line in injection.profile_of(content, wish.user_id)
    ):
        return content
    name = proposals.name_of(project, wish.user_id)
    return _if_it_fits(proposals.apply(content, wish.change, name=name), content)


def _keep(project: Project, wish: _Wish, state: str) -> None:
    """The change with what it rests on: ids, times and reasons, never words."""
    zone = ZoneInfo(project.timezone)
    for proposal in proposals.store(
        project=project, changes=[wish.change], author=AUTHOR, state=state
    ):
        proposal.evidence = [
            {
                "kind": "feedback",
                "id": complaint.id,
                "user_id": complaint.user_id,
                "quote": f"👎 {complaint.reason} {complaint.at.astimezone(zone):%Y-%m-%d %H:%M}",
            }
            for complaint in wish.complaints
        ]
        proposal.save(update_fields=["evidence"])


def _counted(project: Project, content: str) -> str:
    """The text with 反馈统计 of every profile that stands there, as the data have it.

    Who wants none is known by the label: the counts are others every day.
    """
    for user_id, counts in flow_log.feedback_given(project).items():
        own = [line for line in lines(content) if line.profile == user_id.casefold()]
        if not own or _is_gone(project, f"- **{STATISTICS}**", user_id):
            continue
        # An editor may have given the section of the profiles another heading.
        old = next((line for line in own if line.is_content and STATISTICS in line.text), None)
        new = f"- **{STATISTICS}**: {counts}"
        if old is None:
            text = add_line(content, kind=Kind.PROFILES, line=new, user_id=user_id)
        else:
            text = change_line(content, old=old.text, new=new, kind=old.kind, user_id=user_id)
        content = _if_it_fits(text, content)
    return content


def _if_it_fits(text: str, otherwise: str) -> str:
    try:
        check_size(text)
    except MemoryTooLarge:
        return otherwise
    return text
