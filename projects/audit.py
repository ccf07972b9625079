"""Writing and checking the audit trail (design.md 9.9; decisions.md, "audit")."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from math import isfinite
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models
from django.db.models.functions import Cast
from django.utils.timezone import now
from django.utils.translation import gettext_noop as _

from core.house import crypto, current_login, key_ring
from core.house.db import current, ends_with
from core.house.encrypted_fields import is_sealed
from projects import audit_anchors
from projects.audit_anchors import Break, hash_at
from projects.models.audit import AuditEntry, AuditHead
from projects.models.project import Member, Project
from projects.scoping import User, memberships

HOUSE = "house"
_UNBLINDS = ":unblinds"
SIGNED_AS = "audit entry"
_actions: dict[str, str] = {}


class UnknownAction(ValueError):
    """An action that no app registered: a typo would be an entry that nobody finds."""


def register(**actions: str) -> None:
    """Name actions: `register(**{"review.approve": _("Review approved")})`; `_` is gettext_noop."""
    _actions.update(actions)


def actions() -> dict[str, str]:
    """All registered actions with their labels."""
    return dict(_actions)


def actor_name(actor: object) -> str:
    """Whom a person or a job acts as: their identity in the house, a login that is no person's as itself."""
    if isinstance(actor, Member):
        return actor.identity
    if isinstance(actor, str):
        return actor
    person = getattr(actor, "person", None)
    return person.identity if person else _username(actor)


def _username(actor: object) -> str:
    get_username = getattr(actor, "get_username", None)
    return get_username() or "anonymous" if get_username else str(actor)


def _login(actor: object) -> str:
    """The login somebody acts through; "" for a job and for who came by WeCom."""
    return _username(actor) if isinstance(actor, AbstractBaseUser) else current_login.login()


def chain_of(project: UUID | None, *, unblinds: bool = False) -> str:
    """The chain of a study's entries, or of the house's.

    What rests on a blinded field has one of its own: how much of it there is hangs on the arm, and counted
    in with the others it would show in their numbers (design.md 9.10).
    """
    if project is None:
        return HOUSE
    return f"{project}{_UNBLINDS}" if unblinds else str(project)


def unseen_chains(user: User) -> list[str]:
    """The chains of which a console user must not learn: what rests on blinded fields, to the blinded."""
    mine = memberships(user).filter(is_unblinded=True).values("project_id")
    blinded = Project.objects.filter(blinded_since__isnull=False).exclude(pk__in=mine)
    return [chain_of(key, unblinds=True) for key in blinded.values_list("pk", flat=True)]


def record(
    action: str,
    *,
    actor: object,
    project: Project | None = None,
    subject: models.Model | None = None,
    record_id: str = "",
    old: Any = None,
    new: Any = None,
    reason: str = "",
) -> None:
    """Buffer an entry for the end of the running transaction.

    `subject` is the object spoken of; `old` and `new` are JSON values without identifiers. Where the subject
    rests on a blinded field, so does the entry, and stands in the chain of such.
    Raises UnknownAction, house.db.OutsideTransaction.
    """
    if action not in _actions:
        raise UnknownAction(action)
    key, unblinds = project.pk if project else None, getattr(subject, "unblinds", False)
    current().entries.append(
        AuditEntry(
            chain=chain_of(key, unblinds=unblinds),
            project_id=key,
            at=now().astimezone(UTC),
            actor=_text(actor_name(actor))[:150],
            login=_text(_login(actor))[:150],
            action=action,
            object_type=subject._meta.model_name or "" if subject else "",
            object_id=str(subject.pk) if subject else "",
            label=_text(str(subject))[:200] if subject else "",
            record_id=_text(record_id)[:100],
            old=_plain(old),
            new=_plain(new),
            reason=_text(reason),
            unblinds=unblinds,
        )
    )


def _text(value: str) -> str:
    """The text without what PostgreSQL refuses: NUL and lone surrogates."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _plain(value: Any) -> Any:
    """The value as every database gives it back, else its hash would not hold.

    PostgreSQL turns 1e16 into a whole number and refuses NaN, NUL and lone surrogates.
    """
    if value is None:
        return None
    text = _text(json.dumps(value, default=str, ensure_ascii=False))
    # NUL is the one character that JSON still escapes.
    text = text.replace("\\u0000", "\\ufffd")
    return json.loads(text, parse_float=_number, parse_constant=str)


def _number(text: str) -> float | int | str:
    value = float(text)
    if not isfinite(value):
        return text
    return int(value) if value.is_integer() else value


def hashed_content(entry: models.Model) -> bytes:
    """What the hash of an entry covers: each column but the key, and itself.

    A column at its default is left out, so that a new one changes no hash of the entries before it.
    """
    values = {
        name: value
        for name, default in _covered(type(entry))
        if (value := getattr(entry, name)) != default
    }
    text = json.dumps(
        values, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_as_text
    )
    return text.encode("utf-8", "surrogatepass")


@cache
def _covered(model: type[models.Model]) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (field.attname, field.get_default())
        for field in model._meta.concrete_fields
        if not field.primary_key and field.name != "hash"
    )


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return str(value)


def digest(entry: models.Model) -> str:
    """The hash that covers an entry and the one before it; its key is outside the database."""
    return key_ring.sign(SIGNED_AS, hashed_content(entry))


@ends_with
def flush(entries: Sequence[AuditEntry]) -> None:
    """Write the buffered entries as the transaction's last statements, chains in sorted order."""
    chains: dict[str, list[AuditEntry]] = defaultdict(list)
    for entry in entries:
        chains[entry.chain].append(entry)
    for chain in sorted(chains):
        _append(chain, chains[chain])


@dataclass(frozen=True)
class _End:
    """How a chain ended when this process last wrote to it; nobody else's end has the same `claim`."""

    claim: UUID
    number: int
    hash: str


_ends: dict[str, _End] = {}


def _append(chain: str, entries: list[AuditEntry]) -> None:
    """Claim the head and write the entries.

    The UPDATE locks the head until commit: the next writer of this chain waits there. Where the chain still
    ends with what this process wrote, its end need not be read again. The new end is remembered before the
    commit: if that fails its claim is nowhere, and the next UPDATE finds no such row.
    """
    claim, end = uuid4(), _ends.get(chain)
    if end is None or not _take(chain, len(entries), claim, claim_before=end.claim):
        end = _claim(chain, len(entries), claim)
    _ends[chain] = _link(entries, end, claim)
    AuditEntry.objects.bulk_create(entries)


def _link(entries: list[AuditEntry], end: _End, claim: UUID) -> _End:
    """Number the entries behind `end`, each with the hash of the one before; the new end."""
    number, previous = end.number, end.hash
    for entry in entries:
        number += 1
        entry.number, entry.previous = number, previous
        entry.hash = previous = digest(entry)
    return _End(claim, number, previous)


def _claim(chain: str, count: int, claim: UUID) -> _End:
    """Claim the head for `count` more entries; where the chain ended before them."""
    if not _take(chain, count, claim):
        AuditHead.objects.bulk_create([AuditHead(chain=chain)], ignore_conflicts=True)
        _take(chain, count, claim)
    number = AuditHead.objects.values_list("length", flat=True).get(chain=chain) - count
    return _End(claim, number, hash_at(chain, number))


def _take(chain: str, count: int, claim: UUID, claim_before: UUID | None = None) -> bool:
    heads = AuditHead.objects.filter(chain=chain)
    if claim_before:
        heads = heads.filter(claim=claim_before)
    return heads.update(length=models.F("length") + count, claim=claim) == 1


def verify(since: datetime | None = None) -> Iterator[Break]:
    """Walk every chain and yield what was changed, removed or inserted, and where it is not as anchored.

    With `since` from the first entry of that time on. Neither the heads nor the entries are a list of the
    chains: who removes a chain removes both, and only the anchors still know of it.
    """
    anchors = audit_anchors.read_anchors()
    yield from anchors.faults
    heads = dict(AuditHead.objects.values_list("chain", "length"))
    written = AuditEntry.objects.order_by().values_list("chain", flat=True).distinct()
    for chain in sorted({*heads, *written, *anchors.chains}):
        yield from _verify_chain(chain, heads.get(chain, 0), anchors.chains.get(chain, {}), since)
    yield from anchors.lost()


def _verify_chain(
    chain: str, length: int, anchored: Mapping[int, str], since: datetime | None
) -> Iterator[Break]:
    rows = AuditEntry.objects.filter(chain=chain).order_by("number")
    first = (_first_since(rows, since) or length + 1) if since else 1
    yield from _walk(chain, length, anchored, first)


def verify_part(chain: str, *, first: int, most: int) -> tuple[list[Break], int]:
    """The faults of `most` entries of one chain from number `first` on, and how long the chain is.

    The parts of a chain one after another find what `verify` finds in it.
    """
    length = AuditHead.objects.filter(chain=chain).values_list("length", flat=True).first() or 0
    anchored = audit_anchors.read_anchors().chains.get(chain, {})
    until = first + most - 1
    return [*_walk(chain, length, anchored, first, until if until < length else None)], length


def _walk(
    chain: str, length: int, anchored: Mapping[int, str], first: int, until: int | None = None
) -> Iterator[Break]:
    """From entry `first` on to `until`; None: to the end, and what follows it."""
    rows = AuditEntry.objects.filter(chain=chain).order_by("number")
    number, previous = first, ""
    if first > 1:
        previous = hash_at(chain, first - 1)
        rows = rows.filter(number__gte=first)
    if until:
        rows = rows.filter(number__lte=until)
    last = number - 1
    for entry in _sealed(rows).iterator(chunk_size=2000):
        last = entry.number
        if last > length:
            yield Break(chain, last, "inserted")
            continue
        if last != number:
            yield Break(chain, number, "inserted" if last < number else "missing")
        if entry.previous != previous or not _open(entry) or not _is_sound(entry):
            yield Break(chain, last, "changed")
        if anchored.get(last, entry.hash) != entry.hash:
            yield Break(chain, last, "not as anchored")
        number, previous = last + 1, entry.hash
    if number <= (until or length):
        yield Break(chain, number, "missing")
    elif not until and last < max(anchored, default=0):
        yield Break(chain, last + 1, "missing")


def _sealed(rows: models.QuerySet[AuditEntry]) -> models.QuerySet[AuditEntry]:
    """The rows with their encrypted columns as they are stored: one that cannot be read ends no walk."""
    stored = {f"stored_{name}": Cast(name, models.TextField()) for name in _sealed_names()}
    return rows.defer(*_sealed_names()).annotate(**stored)


@cache
def _sealed_names() -> tuple[str, ...]:
    return tuple(field.name for field in AuditEntry._meta.concrete_fields if is_sealed(field))


def _open(entry: AuditEntry) -> bool:
    """Read the encrypted columns of a row of `_sealed`; whether our keys open them."""
    try:
        for name in _sealed_names():
            field: Any = AuditEntry._meta.get_field(name)
            setattr(entry, name, field.from_db_value(getattr(entry, f"stored_{name}")))
    except crypto.DecryptionError:
        return False
    return True


def _first_since(rows: models.QuerySet[AuditEntry], since: datetime) -> int | None:
    found: int | None = rows.filter(at__gte=since).aggregate(first=models.Min("number"))["first"]
    return found


def _is_sound(entry: AuditEntry) -> bool:
    # What rests on a blinded field stood among the others before it got a chain of its own.
    belong = {chain_of(entry.project_id), chain_of(entry.project_id, unblinds=entry.unblinds)}
    return entry.chain in belong and key_ring.is_signed(
        SIGNED_AS, hashed_content(entry), entry.hash
    )


def register_house_actions() -> None:
    """Actions of this app."""
    register(
        **{
            "project.create": _("Project created"),
            "project.change": _("Project changed"),
            "member.add": _("Member added"),
            "member.change": _("Member changed"),
            "member.accept": _("Membership accepted"),
            "member.decline": _("Membership declined"),
            "person.add": _("Person added"),
            "person.link": _("Person's login linked"),
            "member.refused": _("Unknown or left member refused"),
            "login": _("Logged in"),
            "login.failed": _("Log-in failed"),
            "logout": _("Logged out"),
            "login.linked": _("Login linked to an account of the provider"),
            "login.unlinked": _("Login unlinked from an account of the provider"),
            "login.link": _("One-time log-in link made"),
            "login.factor.add": _("Second factor added"),
            "login.factor.remove": _("Second factor removed"),
            "account.create": _("Account created"),
            "account.change": _("Account changed"),
            "account.disable": _("Account disabled"),
            "account.enable": _("Account enabled"),
            "account.rights": _("Rights of an account changed"),
            "password.change": _("Password changed"),
            "token.create": _("API token made"),
            "token.revoke": _("API token revoked"),
            "record.read": _("Subject data read"),
            "roster.sync": _("Subjects read from REDCap"),
            "dictionary.read": _("Data dictionary read"),
            "dictionary.answers": _("Answered which fields identify somebody"),
            "document.import": _("Protocol document imported"),
            "document.delete": _("Protocol document deleted"),
            "document.discard": _("Uploaded file thrown away"),
            "plan.change": _("Visit plan changed"),
            "rows.export": _("Rows exported"),
            "house.restore": _("House restored from a backup"),
        }
    )
