"""Cards: stored, sent, closed, shown as they stand (issue 5); who answers clicks: `wechat.inbound.events`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from core.house.db import later
from projects.models import Member, Project
from wechat.inbound.job import Job
from wechat.inbound.parse import Incoming
from wechat.models import Card, OutboxMessage
from wechat.models.cards import CODE_CHARS
from wechat.outbound.neutralise import neutralise
from wechat.outbound.outbox import Held, enqueue, tell

SOURCE_CHARS = 20
CARD_CHARS = {"title": 36, "desc": 44, "sub_title": 160, "keyname": 5, "value": 30, "button": 10}
CARD_CHARS |= {"quote": 160}  # the documentation names no limit: that of the text above it
MOST_ROWS = 6
_JOINT = " · "
NO_OPTION = "none"
"""The option that stands first and is no answer: WeCom shows the first one where none is selected (3.3)."""


@dataclass(frozen=True)
class Click:
    """A tap on a card of ours by somebody who is a member of the card's project."""

    job: Job
    member: Member
    card: Card

    @property
    def incoming(self) -> Incoming:
        """The event."""
        return self.job.incoming

    @property
    def is_addressed(self) -> bool:
        """Whether the card was sent to who taps on it."""
        return self.member.wecom_userid in self.card.to_user.split("|")

    def keep_code(self) -> None:
        """Keep the code that changes the card, for who decides in the console later."""
        if code := self.incoming.response_code:
            Card.objects.filter(pk=self.card.pk).update(response_code=code[:CODE_CHARS])


def chosen_option(incoming: Incoming, question: str) -> str:
    """The id of the one option that was chosen; blank for none or several (A7)."""
    chosen = incoming.selected.get(question, ())
    return chosen[0] if len(chosen) == 1 else ""


def task_id(kind: str, ref: object, version: int = 1) -> str:
    """The id a card goes by, unique per app (wecom.md 3.3)."""
    return f"{kind}_{ref}@{version}"


def send(
    *,
    kind: str,
    ref: object,
    version: int,
    project: Project,
    to: list[str],
    content: Mapping[str, Any],
    seen: str = "",
    fallback: str = "",
    held: Held | None = None,
) -> None:
    """Store a card and put it into the outbox, in the caller's transaction (A15); a second time does nothing.

    One task_id is one message, so a card to several goes out once, to `a|b`.
    """
    if not to:
        return
    name = task_id(kind, ref, version)
    card = {**_of_study(content, project, to), "task_id": name}
    lane = "|".join(sorted(userid.lower() for userid in to))
    row = Card(
        task_id=name,
        kind=kind,
        ref=str(ref),
        version=version,
        seen=seen,
        project_id=project.pk,
        to_user=lane,
        content=json.dumps(card, ensure_ascii=False),
    )
    later(row, ignore=True)
    enqueue(
        to_user=lane,
        project=project,
        kind=OutboxMessage.Kind.CARD,
        content=card,
        key=f"card:{name}",
        fallback=fallback,
        held=held,
    )


def _of_study(content: Mapping[str, Any], project: Project, to: list[str]) -> Mapping[str, Any]:
    """The content with the study above it, where it does not say it and one of `to` reads of several."""
    if project.code in json.dumps(content, ensure_ascii=False):
        return content
    readers = Member.objects.filter(
        wecom_userid__in=[userid.lower() for userid in to], is_active=True
    )
    if not readers.exclude(project=project).exists():
        return content
    return {**content, "source": {"desc": project.code[:SOURCE_CHARS]}}


def send_or_tell(
    people: Sequence[Member],
    *,
    kind: str,
    ref: object,
    version: int,
    project: Project,
    content: Callable[[], Mapping[str, Any]],
    words: Callable[[], str],
    seen: str = "",
) -> None:
    """Send one card to all of them, and its words as well to those who see no cards; nothing to nobody."""
    if not people:
        return
    with translation.override(people[0].language):
        send(
            kind=kind,
            ref=ref,
            version=version,
            project=project,
            to=[one.wecom_userid for one in people],
            content=content(),
            seen=seen,
            fallback=words(),
        )
    for one in people:
        if one.plain_text:
            with translation.override(one.language):
                tell(to=one, content=words(), key=f"{kind}:{ref}@{version}:{one.wecom_userid}")


def close(*, kind: str, ref: object, up_to: int) -> list[Card]:
    """Close the open cards of what `ref` names; `show_closed` has to tell those who have them."""
    still = Card.objects.filter(kind=kind, ref=str(ref), version__lte=up_to, state=Card.State.OPEN)
    found = [*still.select_related("project").order_by("pk")]
    return [card for card in found if still.filter(pk=card.pk).update(state=Card.State.CLOSED)]


def take_back(card: Card) -> bool:
    """Withdraw a card that nobody has been sent yet, where it is not withdrawn already.

    False: it may be with its reader, and has to be shown.
    """
    status = OutboxMessage.Status
    unsent = OutboxMessage.objects.filter(
        key=f"card:{card.task_id}#1",
        status__in=(status.HELD, status.PENDING, status.WITHDRAWN),
        is_ambiguous=False,
    )
    return unsent.update(status=status.WITHDRAWN) == 1


def replace(
    job: Job, card: Card, *, note: str, button: str, key: str = "", fallback: str = ""
) -> None:
    """Close the card that `job` is a click on, and show it so; `key`: of the outbox, else the click's own."""
    show_closed(
        card,
        note=note,
        button=button,
        key=key or f"click:{job.row.pk}",
        code=job.incoming.response_code,
        fallback=fallback,
    )
    Card.objects.filter(pk=card.pk).update(state=Card.State.CLOSED)


def show_closed(
    card: Card, *, note: str, button: str, key: str, code: str = "", fallback: str = ""
) -> None:
    """Show the card without live buttons to everybody who received it, with `note` in place of its text.

    `code` is a click's ResponseCode; without one the code of the send call is used (3.4).
    """
    shown = {name: value for name, value in json.loads(card.content).items() if name != "task_id"}
    shown["sub_title_text"] = fit_card(note, "sub_title")
    shown["replace_text"] = fit_card(button, "button")
    enqueue(
        to_user=card.to_user,
        project=card.project,
        kind=OutboxMessage.Kind.CARD_UPDATE,
        content={
            "task_id": card.task_id,
            "response_code": code,
            "atall": 1,
            "enable_id_trans": 0,
            "template_card": shown,
        },
        key=key,
        fallback=fallback,
    )


def layout(
    title: str,
    buttons: Sequence[Mapping[str, Any]],
    *,
    desc: str = "",
    text: str = "",
    url: str = "",
) -> dict[str, Any]:
    """A card with buttons, without its task_id; `url`: the page of the console behind it."""
    head = {"title": fit_card(title, "title")}
    if desc:
        head["desc"] = fit_card(desc, "desc")
    card: dict[str, Any] = {"card_type": "button_interaction", "main_title": head}
    if text:
        card["sub_title_text"] = fit_card(text, "sub_title")
    if url:
        card["source"] = {"desc": "IIT Manager", "desc_color": 2}
        card["card_action"] = {"type": 1, "url": url}
    return {**card, "button_list": [*buttons]}


def button(text: str, style: int, *, key: str = "", url: str = "") -> dict[str, Any]:
    """A button that comes back as a click with `key`, or that opens `url`."""
    target = {"type": 1, "url": url} if url else {"key": key}
    return {"text": fit_card(text, "button"), "style": style, **target}


def fact(name: str, value: str, url: str = "") -> dict[str, Any]:
    """A row of a card: a name and its value, perhaps with an address behind it."""
    target = {"type": 1, "url": url} if url else {}
    return {**target, "keyname": fit_card(name, "keyname"), "value": fit_card(value, "value")}


def whole_texts(paragraphs: list[str]) -> dict[str, Any] | None:
    """The paragraphs, whole, in the card's text, or in its quote, which stands above that, and the text.

    None where they do not fit.
    """
    head, rest = list[str](), [as_line(one) for one in paragraphs]
    most, quote = CARD_CHARS["sub_title"], CARD_CHARS["quote"]
    while rest and len(_JOINT.join(rest)) > most and len(_JOINT.join([*head, rest[0]])) <= quote:
        head.append(rest.pop(0))
    if not rest or len(_JOINT.join(rest)) > most:
        return None
    texts: dict[str, Any] = {"sub_title_text": _JOINT.join(rest)}
    return {"quote_area": {"type": 0, "quote_text": _JOINT.join(head)}, **texts} if head else texts


def whole_rows(values: list[str]) -> list[tuple[str, str]] | None:
    """The values, whole, in rows of the card; a long one takes several. None where they do not fit."""
    most, rows = CARD_CHARS["value"], list[tuple[str, str]]()
    for value in map(as_line, values):
        pieces = [value[start : start + most] for start in range(0, len(value), most)]
        rows += [("…" if at else _("Value"), piece) for at, piece in enumerate(pieces)]
    return rows if len(rows) < MOST_ROWS else None


def rows_below(
    facts: Sequence[tuple[str, str]], values: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """The rows above the one that leads to the console: the values, and the facts where there is room."""
    has_room = len(facts) + len(values) < MOST_ROWS
    return [fact(name, value) for name, value in [*(facts if has_room else ()), *values]]


def fit_card(text: str, name: str) -> str:
    """`text` in the length that WeCom shows of a card's part."""
    line, most = as_line(text), CARD_CHARS[name]
    return line if len(line) <= most else line[: most - 1] + "…"


def as_line(text: str) -> str:
    """`text` as a part of a card shows it."""
    return " ".join(neutralise(text).split())


def selection(question: str, title: str, options: Mapping[str, str]) -> dict[str, Any]:
    """A question with its options, of which none is chosen before a person chooses."""
    listed = {NO_OPTION: _("Please choose"), **options}
    return {
        "question_key": question,
        "title": title,
        "option_list": [
            {"id": key, "text": fit_card(text, "button")} for key, text in listed.items()
        ],
    }


def link(path: str) -> str:
    """An address of the console for people."""
    return f"{settings.PUBLIC_URL}{path}"
