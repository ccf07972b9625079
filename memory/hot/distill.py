"""The daily distillation of hot memory (seed 000, 1; issue 4): line-level changes with their evidence.

What users said about themselves goes into their profile; everything else waits for a person. A model only
proposes: what it cites, where it writes and what was removed before is checked here. A day is distilled
once, whatever beat or the broker do. The raw log is never read.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache, partial
from zoneinfo import ZoneInfo

from django.db.models import Q

from core.house import cron
from core.house.db import atomic
from core.house.models import CronFiring
from core.llm.job_llm import ModelDown
from memory.hot import distiller, proposals, similarity
from memory.hot.distiller import Item
from memory.hot.proposals import FEEDBACK, Action, Change, State
from memory.hot.save import Job, check_size, retried, save_memory
from memory.hot.text import Kind, Line, LineGone, MemoryTooLarge, lines
from memory.hot.tombstones import Guard, of_memory
from memory.log import flow_log
from memory.models import MemoryTurn, ProjectMemory, UserMemory
from memory.people import length
from projects import audit
from projects.models import Project

log = logging.getLogger(__name__)
AUTHOR = Job.DAILY
# Lines of a profile that a user's own words fill (seed 002, 3.4); one value, or several lines.
SINGLE = ("最佳通知时间",)
LABELS = ("偏好", "关注点", "禁令", *SINGLE)
LONGEST = 300
_MOST = 200
_RESTS_ON = 0.3
_JOB = "distil:"


@dataclass(frozen=True)
class Distilled:
    """What a day came to."""

    applied: int
    waiting: int
    dropped: int


def distil(project: Project, day: date) -> Distilled | None:
    """Distil a day of a study; None when it was done before."""
    if is_done(project, day):
        return None
    items = _statements(project, day)
    counts = _feedback(project, day)
    changes, save = _proposed(project, items, counts)
    return retried(lambda: _write(project, day, changes, [*items, *counts], save))


def is_done(project: Project, day: date) -> bool:
    """Whether a day was distilled."""
    job, due = firing(project, day)
    return CronFiring.objects.filter(job=job, due_at=due).exists()


def done_since(moment: datetime) -> set[tuple[str, datetime]]:
    """`firing` of the days of any study that were over after `moment` and are distilled: one statement."""
    rows = CronFiring.objects.filter(job__startswith=_JOB, due_at__gte=moment)
    return {*rows.values_list("job", "due_at")}


def firing(project: Project, day: date) -> tuple[str, datetime]:
    """Under what a distilled day is noted: the job, and the end of the day."""
    return _job(project), day_bounds(project, day)[1]


def _job(project: Project) -> str:
    return f"{_JOB}{project.pk}"


def day_bounds(project: Project, day: date) -> tuple[datetime, datetime]:
    """Midnight to midnight in the project's zone."""
    zone = ZoneInfo(project.timezone)
    first = datetime.combine(day, time.min, zone)
    return first, datetime.combine(day + timedelta(days=1), time.min, zone)


def item_of(row: UserMemory) -> Item:
    """A stored statement as the distillation reads it."""
    is_own = not row.is_proposal
    return Item(str(row.pk), row.user_id, row.content, row.field, is_own, row.created_at)


def _statements(project: Project, day: date) -> list[Item]:
    """What users said about themselves (their preferences) and what they proposed, oldest first.

    Of the day before, too: its last turns may have been read after it was distilled. Without what a change
    rests on already.
    """
    since, until = day_bounds(project, day)
    durable = Q(memory_type=UserMemory.Kind.PREFERENCE) | Q(field__in=LABELS)
    rows = UserMemory.objects.for_all(project).filter(
        Q(category=UserMemory.PROPOSAL) | durable,
        created_at__gte=since - MemoryTurn.KEPT,
        created_at__lt=until,
        superseded_by=None,
        expires_at=None,
    )
    return _uncited(project, [item_of(row) for row in rows.order_by("created_at")])[:_MOST]


def _uncited(project: Project, items: Sequence[Item]) -> list[Item]:
    cited = proposals.cited(project) if items else set()
    return [item for item in items if item.id not in cited]


def _feedback(project: Project, day: date) -> list[Item]:
    """The day's 👍/👎 of each user, as counts."""
    since, until = day_bounds(project, day)
    counted: dict[str, list[str]] = defaultdict(list)
    for user_id, value, reason, times in flow_log.feedback_counts(project, since, until):
        sign = "👍" if value == flow_log.Feedback.UP else "👎"
        counted[user_id].append(f"{sign}{f' {reason}' if reason else ''} {times}")
    return [
        Item(f"{FEEDBACK}{user_id}", user_id, " / ".join(shown), "feedback", False, until)
        for user_id, shown in counted.items()
    ]


def _proposed(
    project: Project, items: Sequence[Item], counts: Sequence[Item]
) -> tuple[list[Change], Callable[[], None]]:
    """The model's changes, and every proposal it passed over: its user was told that somebody decides."""
    if not items and not counts:
        return [], lambda: None
    memory = ProjectMemory.objects.filter(project=project).first()
    content = memory.content if memory else ""
    plain = {item.id: _as_said(item, content) for item in items}
    try:
        said = distiller.propose(project, content, [*items, *counts])
    except ModelDown as error:
        log.info("distilled without a model: %s", error)
        return list(plain.values()), error.save
    cited = {found for change in said.found for found in change.evidence}
    passed_over = [plain[i.id] for i in items if not i.is_own and i.id not in cited]
    return [*said.found, *passed_over], said.save


def _as_current(item: Item) -> Change:
    """A line of 当前状态 that says a statement as it was said."""
    return Change(Action.ADD, Kind.CURRENT, new=f"- {item.text}", evidence=(item.id,))


def _as_said(item: Item, content: str) -> Change:
    """A statement as it stands: a line of the user's own profile, or one of 当前状态."""
    if not item.is_own:
        return _as_current(item)
    own = [line.text for line in lines(content) if line.is_at(Kind.PROFILES, item.user_id)]
    standing = (
        text
        for text in own
        if (item.field in SINGLE and f"**{item.field}**" in text)
        or length.takes_over(item.text, text)
    )
    old = next(standing, "")
    return Change(
        Action.CHANGE if old else Action.ADD,
        Kind.PROFILES,
        old=old,
        new=f"- **{item.field if item.field in LABELS else LABELS[0]}**: {item.text}",
        profile=item.user_id,
        evidence=(item.id,),
    )


def _write(
    project: Project,
    day: date,
    changes: Sequence[Change],
    items: Sequence[Item],
    save: Callable[[], None],
) -> Distilled | None:
    with atomic():
        if not cron.claim(_job(project), day_bounds(project, day)[1]):
            return None
        save()
        # Another day may have taken up the same statements meanwhile.
        items = _uncited(project, items)
        current = ProjectMemory.objects.filter(project=project).first()
        content = current.content if current else ""
        own, others = sort(changes, items, content, project)
        text, applied, refused = _applied(project, content, own)
        if applied:
            base = current.version if current else None
            save_memory(project=project, content=text, actor=AUTHOR, base_version=base)
        proposals.store(project=project, changes=applied, author=AUTHOR, state=State.APPLIED)
        waiting = proposals.store(project=project, changes=[*others, *refused], author=AUTHOR)
        result = Distilled(len(applied), len(waiting), len(changes) - len(own) - len(others))
        if changes:
            told = {"day": day.isoformat(), **asdict(result)}
            audit.record("memory.distil", actor=AUTHOR, project=project, new=told)
    return result


def _applied(
    project: Project, content: str, changes: Sequence[Change]
) -> tuple[str, list[Change], list[Change]]:
    """The text with the changes that fit in; the others wait for a person."""
    done, refused = [], []
    for change in changes:
        try:
            name = proposals.name_of(project, change.profile)
            text = proposals.apply(content, change, name=name)
            check_size(text)
        except (LineGone, MemoryTooLarge):
            refused.append(change)
            continue
        content = text
        done.append(change)
    return content, done, refused


def is_too_long(statement: str) -> bool:
    """Whether a proposal has more characters than a line may have (`LONGEST`)."""
    return len(_line_of(statement)) > LONGEST


def is_line(project: Project, statement: str) -> bool:
    """Whether a statement is a line of 当前状态 already."""
    stored = ProjectMemory.objects.filter(project=project).values_list("content", flat=True)
    there = (line.text for line in lines(stored.first() or "") if line.is_at(Kind.CURRENT, ""))
    return similarity.normal(_line_of(statement)) in map(similarity.normal, there)


def _line_of(statement: str) -> str:
    return _tidy(Change(Action.ADD, Kind.CURRENT, new=statement)).new


def propose_now(*, project: Project, row: UserMemory) -> None:
    """Put a stored proposal before the editors at once; inside the caller's transaction.

    Checked as the daily job checks: what stands there already, or is too long for a line, waits for nobody.
    """
    item = item_of(row)
    content = ProjectMemory.objects.filter(project=project).values_list("content", flat=True)
    _own, waiting = sort([_as_current(item)], [item], content.first() or "", project)
    proposals.store(project=project, changes=waiting, author=row.user_id)


def sort(
    changes: Sequence[Change], items: Sequence[Item], content: str, project: Project
) -> tuple[list[Change], list[Change]]:
    """The changes that a job writes itself, and those that wait for a person; the rest is dropped.

    Each is checked against the statements it cites and the memory as it is.
    """
    guard_of = cache(partial(Guard, project))
    known = {item.id: item for item in items}
    there = lines(content)
    applied: list[Change] = []
    waiting: list[Change] = []
    for change in changes:
        line = _tidy(change)
        cited = [known[found] for found in line.evidence if found in known]
        if not _sound(line, cited, there) or line in (*applied, *waiting):
            continue
        # What the user of a profile had forgotten counts there like what an editor removed.
        guard = guard_of(line.profile.casefold())
        rests_on = {found for item in cited for found in of_memory(item.id, item.text)}
        if line.new and guard.blocks(line.new, profile=line.profile, evidence=rests_on):
            # Who says a removed line again asks for it: the console decides (decisions.md, "who may edit").
            if any(guard.said_again(item.text, at=item.at) for item in cited):
                waiting.append(line)
        elif line.kind is Kind.PROFILES and all(item.is_own_of(line.profile) for item in cited):
            applied.append(line)
        else:
            waiting.append(line)
    return applied, waiting


def _tidy(change: Change) -> Change:
    """One list line without line breaks."""
    text = similarity.one_line(change.new)
    marked = re.match(r"^[^*:：]{1,12}\*\*\s*[:：]", text)
    text = f"**{text}" if marked else text
    return replace(change, new=f"- {text}" if text else "")


def _sound(change: Change, cited: Sequence[Item], there: Sequence[Line]) -> bool:
    """Whether a change cites the day's statements, concerns a line where it stands, and is grounded."""
    if not cited or len(cited) != len(change.evidence) or change.kind is Kind.OTHER:
        return False
    if bool(change.profile) != (change.kind is Kind.PROFILES):
        return False
    stands = {line.text for line in there if line.is_at(change.kind, change.profile)}
    if change.action == Action.ADD:
        if similarity.normal(change.new) in map(similarity.normal, stands):
            return False
    elif change.action not in (Action.CHANGE, Action.RETIRE) or change.old not in stands:
        return False
    if change.action != Action.RETIRE and not 0 < len(change.new) <= LONGEST:
        return False
    return _grounded(change, cited)


def _grounded(change: Change, cited: Sequence[Item]) -> bool:
    """Every number comes from what is cited or stood there; so does some of the wording.

    Counts of feedback have no words to compare; what rests on them waits for a person anyway.
    """
    said = [piece for item in cited for piece in similarity.pieces(item.text)[:1]]
    target = similarity.pieces(change.new or change.old)[:1]
    if not target:
        return False
    numbers = {n for piece in [*said, *similarity.pieces(change.old)[:1]] for n in piece.numbers}
    if change.new and not target[0].numbers <= numbers:
        return False
    if any(item.id.startswith(FEEDBACK) for item in cited):
        return True
    grams = {gram for piece in said for gram in piece.grams}
    return len(target[0].grams & grams) >= _RESTS_ON * len(target[0].grams)
