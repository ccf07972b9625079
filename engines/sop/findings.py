"""Findings: opened once, observed again, resolved by data change, closed by a person.

Source: decisions.md, "severity", "findings doubled", "closing by data change".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils.timezone import now

from engines.models import FindingEvent, PendingAction, Review, TaskRun
from engines.sop import run_events, snapshot
from engines.sop.deleted import revive
from engines.sop.journal import audited, note_event
from projects import audit
from projects.models import Project
from study import dictionary
from study.metadata import StudyMetadata

Kind, State = PendingAction.Kind, PendingAction.State
GOOD = {"PASS", "NOT_APPLICABLE"}
UNDECIDED = ("UNKNOWN", "ERROR")
RESOLVED = "resolved by data change"
VERDICT = "verdict"
"""The rule of a finding that a model judged."""
_DUPLICATE = "std.duplicate."
OBSERVED = "observed"
REOPENED = "reopened"
CONFIRMED = "confirmed"
GRAVITY = ("action_type", "severity")
PLACE = ("skill_type", "node", "rule_key", "event", "instrument", "instance")
SEEN = ("action_type", "message", "severity", "field", "outcome", "reason", "value", "detail")
"""What a finding says about the last observation."""
OBSERVED_AS = (
    *("rule_key", "outcome", "field", "message", "severity", "reason"),
    *("event", "instrument", "instance"),
)
"""What a finding has of its observation under the same name."""
LISTED = (
    *("field", "event", "instrument", "instance"),
    *("outcome", "reason", "value", "message", "severity"),
)
"""What commands and API tell of a finding under the same name, in this order."""
Fact = tuple[str, ...]
"""(what is wrong, about which field or visit, event, instrument, instance); () where it has no type."""


@dataclass(frozen=True)
class Observation:
    """What a node says about one rule at one place of a subject's data; `fact` of what is no pass."""

    rule_key: str
    outcome: str
    field: str = ""
    message: str = ""
    severity: str = "error"
    reason: str = ""
    value: Any = None
    detail: Any = None
    event: str = ""
    instrument: str = ""
    instance: str = ""
    kind: str = ""
    fact: Fact = ()

    def place(self) -> tuple[str, str, str, str]:
        """Which rule at which place of the subject's data."""
        return self.rule_key, self.event, self.instrument, self.instance

    def action_type(self) -> str:
        """violation, warning or review_required."""
        if self.kind:
            return self.kind
        if self.outcome != "FAIL":
            return Kind.REVIEW_REQUIRED
        return Kind.VIOLATION if self.severity == "error" else Kind.WARNING


@dataclass(frozen=True)
class Noted:
    """What was observed at a node, as step `seq` of a run."""

    node: str
    seq: int
    observations: Sequence[Observation]


def _witness(run: TaskRun, node: str, seen: Observation) -> list[str]:
    return [run.skill.skill_type, node, *seen.place()]


def open_key(run: TaskRun, node: str, seen: Observation) -> str:
    """What a finding is about, as a hash: its fact, else the rule and its place."""
    if seen.fact:
        about = ["fact", *seen.fact, *["unblinds"] * run.unblinds]
        return _hash(run.project_id, run.record_id, about, len(about))
    return _hash(run.project_id, run.record_id, _witness(run, node, seen))


def key_of(row: PendingAction) -> str:
    """The key that a finding has while it is open: of one whose fact came to be known later its first one."""
    return (
        row.open_key
        or row.fact
        or _hash(row.project_id, row.record_id, [getattr(row, name) for name in PLACE])
    )


def _hash(project: UUID, record_id: str | None, about: Sequence[str], rule: int = 3) -> str:
    """`rule`: how much of `about` stands before the subject."""
    place = [str(project), *about[:rule], record_id or "", *about[rule:]]
    return hashlib.sha256(json.dumps(place).encode()).hexdigest()


def witnesses_of(row: PendingAction) -> list[list[str]]:
    """The rules that say a finding holds; its own where it is older than the column."""
    return row.witnesses or [[getattr(row, name) for name in PLACE]]


def find_open(
    run: TaskRun, node: str, seen: Observation, known: Iterable[PendingAction]
) -> PendingAction | None:
    """The open finding that this very rule made or joined, else the one about the same fact.

    What the rule opened when it could tell no fact gives way to that.
    """
    mine, key = _witness(run, node, seen), open_key(run, node, seen)
    rows = [*known]
    own_rows = (row for row in rows if mine in witnesses_of(row))
    own = min(own_rows, key=lambda row: not row.fact, default=None)
    same = next((row for row in rows if key in (row.open_key, row.fact)), None)
    is_older = own is None or (seen.fact and not own.fact)
    return (same or own) if is_older else own


def record(run: TaskRun, noted: Noted, known: dict[str, PendingAction]) -> None:
    """Open, join, observe again or resolve findings.

    `known` are the subject's open findings by their keys (`open_about`); what is opened joins them. What was
    approved on these very values is only observed again. Where all passed and nothing is known nothing is
    written.
    """
    if not known and all(seen.outcome in GOOD for seen in noted.observations):
        return
    bad = [seen for seen in noted.observations if seen.outcome not in GOOD]
    _tell_facts(run, noted.node, [seen for seen in bad if seen.fact], known.values())
    rows = [(find_open(run, noted.node, seen, known.values()), seen) for seen in bad]
    new: dict[str, Observation] = {}
    for row, seen in rows:
        if row is None:
            new.setdefault(open_key(run, noted.node, seen), seen)
    approved = _approved(run, new)
    for row in approved.values():
        note_event(row, OBSERVED, run=run)
    mine: set[UUID] = set()
    if left := {key: seen for key, seen in new.items() if key not in approved}:
        stored, mine = _open(run, noted, left)
        known |= stored
    held: dict[UUID, tuple[PendingAction, list[Observation]]] = {}
    for row, seen in rows:
        found = row or known.get(open_key(run, noted.node, seen))
        if found is not None and not (found.pk in mine and seen in new.values()):
            held.setdefault(found.pk, (found, []))[1].append(seen)
    _observe(run, noted.node, [*held.values()], mine)
    if run.is_complete:
        still = [_witness(run, noted.node, seen) for seen in bad]
        seen_good = [_witness(run, noted.node, s) for s in noted.observations if s.outcome in GOOD]
        gone = [one for one in seen_good if one not in still]
        for row in _resolve(run, [one for one in known.values() if one.pk not in mine], gone):
            for seen in held.get(row.pk, (row, []))[1]:
                _refresh(run, noted.node, row, seen)


def _tell_facts(
    run: TaskRun, node: str, bad: Sequence[Observation], known: Collection[PendingAction]
) -> None:
    """Give its fact to what a rule opened when it could tell none; where another finding has it, take it back.

    The open key stays: reviews name the finding by it.
    """
    for seen in bad:
        mine, found = _witness(run, node, seen), find_open(run, node, seen, known)
        older = [row for row in known if mine in witnesses_of(row) and not row.fact]
        if found in older:
            found.fact = open_key(run, node, seen)
            PendingAction.objects.filter(pk=found.pk).update(fact=found.fact)
        elif older and run.is_complete:
            _resolve(run, older, [mine])


def _approved(run: TaskRun, new: dict[str, Observation]) -> dict[str, PendingAction]:
    """What a review closed that approved the same outcomes of the same workflow on the values of the run.

    Of a fact it is the same whichever workflow tells it. So is what a person rejected as a false alarm, as long
    as the value found is the same.
    """
    if not (new and run.record_id):
        return {}
    version = Q(skill_type=run.skill.skill_type, skill_version=run.skill_version)
    facts = [key for key, seen in new.items() if seen.fact]
    rows = PendingAction.objects.filter(
        version | Q(fact__in=facts), project=run.project_id, record_id=run.record_id
    ).filter(Q(review__isnull=False) | Q(state=State.REJECTED))
    closed = [(key_of(row), row) for row in rows.select_related("review").defer("review__values")]
    same = [(key, row) for key, row in closed if key in new and row.outcome == new[key].outcome]
    digest = snapshot.data_digest(run) if any(row.review for _key, row in same) else ""
    return {
        key: row
        for key, row in same
        if (row.review and row.review.digest == digest)
        or (row.state == State.REJECTED and _is_same(row, new[key], run))
    }


def _open(
    run: TaskRun, noted: Noted, new: dict[str, Observation]
) -> tuple[dict[str, PendingAction], set[UUID]]:
    """Open findings; what is stored then, some of it perhaps by another run, and which are ours."""
    # In one order everywhere: workflows that tell the same facts wait for each other and do not deadlock.
    rows = [_row(run, noted.node, key, new[key]) for key in sorted(new)]
    PendingAction.objects.bulk_create(rows, ignore_conflicts=True)
    mine = {row.pk for row in rows}
    stored = {row.open_key or "": row for row in PendingAction.objects.filter(open_key__in=[*new])}
    opened = [stored[key] for key in new if key in stored and stored[key].pk in mine]
    _list_in_order(opened)
    for row in opened:
        row.project = run.project
        told = {"rule": row.rule_key, "kind": row.action_type, "version": row.skill_version}
        audited("finding.open", row, new=told)
    if opened:
        about = {"findings": [str(row.pk) for row in opened], "seq": noted.seq}
        run_events.keep_event(run_events.Kind.FINDINGS_OPENED, run, payload=about)
    return stored, {row.pk for row in opened}


def found_over(
    run: TaskRun, node: str, seen: Observation, *, actor: object, resolution: str
) -> PendingAction:
    """A finding of what was over before anybody found it: kept as closed. Call inside a transaction."""
    row, name = _row(run, node, "", seen), audit.actor_name(actor)
    row.state, row.open_key = State.CLOSED, None
    row.resolved_by, row.resolved_at, row.resolution = name, now(), resolution
    row.save(force_insert=True)
    note_event(row, "closed", by=name, note=resolution)
    told = {"rule": row.rule_key, "kind": row.action_type, "version": row.skill_version}
    audited("finding.open", row, actor=actor, new=told)
    audited("finding.close", row, actor=actor, reason=resolution, new={"state": State.CLOSED})
    return row


def _list_in_order(opened: list[PendingAction]) -> None:
    """Findings are listed by their time: let it follow the order in which they were observed."""
    times = sorted(row.created_at for row in opened)
    if times == [row.created_at for row in opened]:
        return
    for row, at in zip(opened, times, strict=True):
        row.created_at = at
    PendingAction.objects.bulk_update(opened, ["created_at"])


def _is_same(row: PendingAction, seen: Observation, run: TaskRun) -> bool:
    """Whether the value found is the same; of a finding without one of its own, what it rests on.

    A model words what it found each time in another way. A value that identifies somebody stands in the
    readings of the runs only; which other subject has it stands in the message.
    """
    metadata = _metadata(run.project)
    if metadata and row.field in metadata.identifier_fields:
        before = _cells(last_run_of(row), row, metadata)
        is_told = not row.rule_key.startswith(_DUPLICATE) or row.message == seen.message
        return bool(before) and before == _cells(run, row, metadata) and is_told
    rests_on_more = isinstance(seen.detail, list) and not row.value
    return row.value == value_words(seen.value) and (
        not rests_on_more or row.detail == _detail(seen)
    )


def _cells(run: TaskRun, row: PendingAction, metadata: StudyMetadata) -> list[list[Any]]:
    """What a run read in the field of a finding: at its place, in every row where it has none."""
    names = [column for column, (field, _code) in metadata.columns.items() if field == row.field]
    place = [row.event, row.instrument, row.instance]
    rows = snapshot.rows(run)
    here = [one for one in rows if place in (["", "", ""], [*snapshot.place_of(one).values()])]
    return [[one.get(name) for name in names] for one in here]


def last_run_of(row: PendingAction) -> TaskRun:
    """The run that observed a finding last, as far as it is kept; else the one that opened it."""
    seen = row.events.filter(what=OBSERVED, task_run__isnull=False).select_related("task_run")
    last = seen.order_by("-at", "-pk").first()
    return (last and last.task_run) or row.task_run


def _detail(seen: Observation) -> str:
    return json.dumps(seen.detail, ensure_ascii=False, default=str) if seen.detail else ""


def value_words(value: Any) -> str:
    """A value as a person reads it: the ticked codes of a checkbox are several."""
    several = value if isinstance(value, list | tuple) else [value]
    return ", ".join(str(one) for one in several if one is not None)


def _row(run: TaskRun, node: str, key: str, seen: Observation) -> PendingAction:
    return PendingAction(
        project=run.project,
        task_run=run,
        record_id=run.record_id,
        action_type=seen.action_type(),
        open_key=key,
        fact=key if seen.fact else "",
        witnesses=[_witness(run, node, seen)],
        skill_type=run.skill.skill_type,
        skill_version=run.skill_version,
        node=node,
        value=value_words(seen.value),
        detail=_detail(seen),
        unblinds=run.unblinds,
        **{name: getattr(seen, name) for name in OBSERVED_AS},
    )


def _observe(
    run: TaskRun,
    node: str,
    again: list[tuple[PendingAction, list[Observation]]],
    mine: Collection[UUID],
) -> None:
    """Note that findings still hold; one that had been resolved by a data change is open again."""
    for row, observations in again:
        told = [_refresh(run, node, row, seen) for seen in observations]
        if row.pk not in mine:
            note_event(row, OBSERVED, run=run, note="; ".join(filter(None, told)))
    revive([row for row, _seen in again if row.state == State.GONE])
    reopened = [row for row, _seen in again if row.state == State.DATA_CHANGED]
    if reopened:
        _still(reopened, State.DATA_CHANGED).update(state=State.OPEN)
    for row in reopened:
        row.state = State.OPEN
        note_event(row, REOPENED, run=run)


def _refresh(run: TaskRun, node: str, row: PendingAction, seen: Observation) -> str:
    """Let the finding say what was seen last; returns "UNKNOWN → FAIL" where the outcome changed.

    It speaks for the rule that opened it while that is among its witnesses; of the others it only takes the
    graver severity. What joins is named.
    """
    own, me = witnesses_of(row)[0], _witness(run, node, seen)
    newer = _row(run, node, row.open_key or "", seen)
    if me == own:
        names, told = [*SEEN], f"{row.outcome} → {seen.outcome}"
        told = told if row.outcome != seen.outcome else ""
        if len(row.witnesses) > 1 and _rank(newer) > _rank(row):
            names = [name for name in names if name not in GRAVITY]
    else:
        names = [*GRAVITY] if _rank(newer) < _rank(row) else []
        told = "" if me in row.witnesses else seen.rule_key
        if me not in witnesses_of(row):
            row.witnesses = [*_held(row), me]
            PendingAction.objects.filter(pk=row.pk).update(witnesses=row.witnesses)
    changed = {
        name: getattr(newer, name) for name in names if getattr(row, name) != getattr(newer, name)
    }
    if changed:
        _still([row], row.state).update(**changed)
    for name, value in changed.items():
        setattr(row, name, value)
    return told


def _rank(row: PendingAction) -> int:
    severities = PendingAction.Severity.values
    return severities.index(row.severity) if row.severity in severities else len(severities)


def _held(row: PendingAction) -> list[list[str]]:
    """The witnesses as they stand, kept so until this transaction ends: two that leave at once both count."""
    same = PendingAction.objects.filter(pk=row.pk)
    same.update(fact=F("fact"))
    now_ = same.values_list("witnesses", flat=True).first()
    return now_ or witnesses_of(row)


def _resolve(
    run: TaskRun, rows: Iterable[PendingAction], gone: list[list[str]]
) -> list[PendingAction]:
    """Take back what rules say no more; a finding that no rule holds to any more is resolved.

    Where others do it speaks for the first of them; these are returned.
    """
    good, kept = [], []
    for row in rows:
        if not any(one in gone for one in witnesses_of(row)):
            continue
        held = _held(row) if len(row.witnesses) > 1 else witnesses_of(row)
        left = [one for one in held if one not in gone]
        if not left:
            good += [row] if row.state != State.DATA_CHANGED else []
            continue
        row.witnesses = left
        values = dict(zip(PLACE, left[0], strict=True))
        for name, value in values.items():
            setattr(row, name, value)
        same = PendingAction.objects.filter(pk=row.pk, open_key__isnull=False)
        same.update(witnesses=left, **values)
        kept.append(row)
    still = PendingAction.objects.filter(pk__in=[row.pk for row in good], open_key__isnull=False)
    is_resolved = bool(good and still.update(state=State.DATA_CHANGED))
    for row in good:
        was, row.state = row.state, State.DATA_CHANGED
        if is_resolved and was == State.QUERIED:
            run_events.keep_settled(row)
        if is_resolved:
            note_event(row, RESOLVED, run=run)
    return kept


def _still(rows: list[PendingAction], state: str) -> QuerySet[PendingAction]:
    """The rows, unless a person closed them meanwhile."""
    keys = [row.pk for row in rows]
    return PendingAction.objects.filter(pk__in=keys, open_key__isnull=False, state=state)


def open_about(run: TaskRun) -> list[PendingAction]:
    """Open findings of the run's subject, whichever workflow made them, oldest first."""
    rows = PendingAction.objects.filter(project=run.project_id, record_id=run.record_id)
    rows = rows.filter(open_key__isnull=False).order_by("created_at")
    # What came of it when it read a blinded field is not touched, nor shown, by a run that does not.
    return [*rows.filter(unblinds=run.unblinds)] if run.project.blinded_since else [*rows]


def open_now(run: TaskRun) -> list[PendingAction]:
    """What is open of the run's subject and workflow now, old and new; of a run about no subject, its own."""
    if run.record_id is None:
        return [row for row in seen_in(run) if row.open_key]
    mine = run.skill.skill_type
    return [row for row in open_about(run) if mine in {one[0] for one in witnesses_of(row)}]


def seen_in(run: TaskRun) -> list[PendingAction]:
    """Findings that the run opened or observed again."""
    again = FindingEvent.objects.filter(task_run=run, what=OBSERVED).values("finding_id")
    rows = PendingAction.objects.filter(Q(task_run=run) | Q(pk__in=again))
    return [*rows.order_by("created_at", "rule_key")]


def told_value(row: PendingAction) -> str:
    """The value found; of a field that identifies a person, by now at least, nothing."""
    metadata = _metadata(row.project) if row.value else None
    return "" if metadata and row.field in metadata.identifier_fields else str(row.value)


def _metadata(project: Project) -> StudyMetadata | None:
    """The dictionary that is stored, if any: nothing is asked for it."""
    known = dictionary.stored(project)
    return dictionary.parsed(project.pk, known.digest) if known else None


def finding_line(row: PendingAction) -> dict[str, Any]:
    """JSON of a finding in the output of commands."""
    return {
        "id": str(row.pk),
        "action_type": row.action_type,
        "rule": row.rule_key,
        **{name: getattr(row, name) for name in LISTED},
        "value": told_value(row),
    }


def confirm(run: TaskRun, rows: Sequence[PendingAction], *, actor: object, note: str) -> None:
    """A person holds findings to be right: they stay open, as confirmed."""
    name = audit.actor_name(actor)
    for before in (State.OPEN, State.ANSWERED):
        _still([row for row in rows if row.state == before], before).update(state=State.CONFIRMED)
    for row in rows:
        note_event(row, CONFIRMED, run=run, by=name, note=note)


def close_finding(
    finding: PendingAction, *, actor: object, resolution: str, review: Review | None = None
) -> bool:
    """Close an open finding, by the approval of a `review` if any; False when somebody else did.

    Call inside a transaction.
    """
    name = audit.actor_name(actor)
    closed = PendingAction.objects.filter(pk=finding.pk, open_key__isnull=False).update(
        state=State.CLOSED,
        open_key=None,
        resolved_by=name,
        resolved_at=now(),
        resolution=resolution,
        review=review,
    )
    if not closed:
        return False
    note_event(finding, "closed", by=name, note=resolution)
    if finding.state == State.QUERIED:
        run_events.keep_settled(finding)
    told = {"old": {"state": finding.state}, "new": {"state": State.CLOSED}}
    audited("finding.close", finding, actor=actor, reason=resolution, **told)
    return True
