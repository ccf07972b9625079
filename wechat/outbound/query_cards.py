"""The card of a query to the site: answered by a button with its reason (redcap_dify.md 1.12; wecom.md 3.3).

`ref` is the finding, `version` counts its queries: a card of an earlier one answers no later one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from django.utils.translation import gettext as _

from core.house.db import atomic
from engines import sop
from engines.models import FindingEvent, PendingAction, RunEvent
from engines.pages import finding_words
from engines.sop import finding_life
from memory.visibility import told_to
from projects.models import Member, Role
from study.models import Subject
from wechat.outbound import cards
from wechat.outbound.cards import Click, fit_card, link
from wechat.outbound.neutralise import masked

KIND = "query"
QUESTION = "reason"
_State = PendingAction.State


def answers() -> dict[str, str]:
    """How a query is answered; REDCap's Resolution Workflow has the same categories."""
    return {
        "corrected": _("Corrected"),
        "verified": _("Data are right"),
        "no_source": _("Source is missing"),
        "other": _("See the console"),
    }


def send_query_card(finding: PendingAction, question: str, number: int) -> None:
    """Send the card to whom the query concerns, in the caller's transaction; a second time does nothing."""
    cards.send_or_tell(
        concerned(finding, question),
        kind=KIND,
        ref=finding.pk,
        version=number,
        project=finding.project,
        content=lambda: _content(finding, question),
        words=lambda: _in_words(finding, question),
    )


def concerned(finding: PendingAction, question: str) -> list[Member]:
    """The assignee, else the coordinators of the subject's site, else those of all sites.

    Only who sees the finding, may read all of the question, and can be reached.
    """
    text = "\n".join([*_told_of(finding, question), *_found(finding)])
    near = [
        one
        for one in finding_life.who_sees(finding)
        if one.wecom_userid and told_to(one, text) == text
    ]
    if mine := [one for one in near if finding.assignee and one.identity == finding.assignee]:
        return mine
    coordinators = [one for one in near if one.role == Role.CRC]
    return [one for one in coordinators if one.site] or coordinators


def _content(finding: PendingAction, question: str) -> dict[str, Any]:
    """The card; where its text or what was found does not fit whole, it only links to the console."""
    url = _page_of(finding)
    asked, about = _told_of(finding, question)
    texts = cards.whole_texts([asked, about])
    rows = cards.whole_rows(_found(finding))
    is_whole = texts is not None and rows is not None
    send = cards.button(_("Send the answer"), 1, key="answer")
    look = cards.button(_("Open console"), 1, url=url)
    card = cards.layout(
        _("Query to the site"),
        [send if is_whole else look],
        desc=f"{finding.project.code} {finding.record_id or ''}",
        url=url,
    )
    if is_whole:
        card["button_selection"] = cards.selection(QUESTION, _("Answer"), answers())
    else:
        more = _("The query does not fit on a card: please answer it in the console.")
        texts = {"sub_title_text": fit_card(f"{more} {asked}", "sub_title")}
    facts = [(_("Project"), finding.project.code), (_("Subject"), finding.record_id or "-")]
    shown = cards.rows_below(facts, (rows or []) if is_whole else [])
    shown.append(cards.fact(_("Finding"), _("Open console"), url))
    return {**card, **(texts or {}), "horizontal_content_list": shown}


def _told_of(finding: PendingAction, question: str) -> list[str]:
    """The question and what was found."""
    return _masked(finding, [question, finding.message])


def _found(finding: PendingAction) -> list[str]:
    """The values that the finding rests on, each with place and date; where it names none, the place."""
    row = finding_words.worded(PendingAction.objects.filter(pk=finding.pk)).get()
    read = ground.read if (ground := finding_words.ground(row)) else ()
    place = f"{finding_words.place_words(row)}: {finding_words.value_words(row)}"
    return _masked(finding, [*dict.fromkeys(map(str, read))] or [place])


def _masked(finding: PendingAction, texts: Sequence[str]) -> list[str]:
    subject = Subject.objects.filter(project=finding.project_id, record_id=finding.record_id)
    known = [json.loads(one.identifiers).values() for one in subject]
    return [masked(text, map(str, chain(*known))) for text in texts]


def _in_words(finding: PendingAction, question: str) -> str:
    head = f"{finding.project.code} {finding.record_id or ''}".strip()
    asked, about = _told_of(finding, question)
    way = f"{_('Answer it in the console:')} {_page_of(finding)}"
    lines = [f"{_('Query to the site')}: {head} {about}", *_found(finding), asked, way]
    return "\n".join(lines)


def _page_of(finding: PendingAction) -> str:
    return link(f"/admin/engines/pendingaction/{finding.pk}/change/")


def answer_query(click: Click) -> str:
    """Answer the query: the text for the person, blank where the changed card says it."""
    finding = _visible(click)
    if finding is None:
        return _("This card is meant for somebody else.")
    if finding.state != _State.QUERIED or click.card.version != queries(finding):
        show_as_it_stands(finding)
        return _told(finding)
    answer = answers().get(cards.chosen_option(click.incoming, QUESTION), "")
    if not answer:
        return _("Please choose an answer first.")
    click.keep_code()
    try:
        finding_life.move(finding=finding, step="answer", actor=click.member, reason=answer)
    except finding_life.NoSuchStep:  # somebody was faster
        finding.refresh_from_db()
        show_as_it_stands(finding)
        return _told(finding)
    except finding_life.Unfit as error:  # the card stays open: it can be answered otherwise
        return str(error)
    return ""


def _visible(click: Click) -> PendingAction | None:
    """The finding, for one who sees it still and has a role that answers."""
    if click.member.role not in sop.DECIDERS:
        return None
    rows = PendingAction.objects.for_member(click.member).select_related("project", "task_run")
    return rows.filter(pk=click.card.ref).first()


def queries(finding: PendingAction) -> int:
    """How often the site was asked about a finding: the version of the newest card."""
    return finding.events.filter(what="query").count()


def show_as_it_stands(finding: PendingAction) -> None:
    """Take the buttons off cards that ask nothing any more; the second to do so changes nothing."""
    asks = finding.state == _State.QUERIED
    up_to = queries(finding) - (1 if asks else 0)
    note = _("There is a newer query.") if asks else _told(finding)
    with atomic():
        for card in cards.close(kind=KIND, ref=finding.pk, up_to=up_to):
            button = fit_card(str(finding.get_state_display()), "button")
            key = f"settled:{card.task_id}"
            cards.show_closed(card, note=note, button=button, key=key, fallback=note)


def _told(finding: PendingAction) -> str:
    """What became of the query, and who said so."""
    last = finding.events.exclude(what__in=("comment", "assign")).exclude(by="system").last()
    state = finding.get_state_display()
    if last is None:
        return str(state)
    return f"{state}: {last.note} ({last.by})" if last.note else f"{state} ({last.by})"


def queried(event: RunEvent) -> None:
    """Ask the site by card; nothing where the query is settled already or a newer one was sent."""
    finding = _finding(event)
    if finding is None or finding.state != PendingAction.State.QUERIED:
        return
    show_as_it_stands(finding)
    number = queries(finding)
    asked = FindingEvent.objects.filter(finding=finding, what="query").last()
    if asked is not None and number == (event.payload or {}).get("number"):
        send_query_card(finding, asked.note, number)


def settled(event: RunEvent) -> None:
    """Take the buttons off the cards of a query that nobody has to answer any more."""
    if finding := _finding(event):
        show_as_it_stands(finding)


def _finding(event: RunEvent) -> PendingAction | None:
    rows = PendingAction.objects.select_related("project", "task_run")
    return rows.filter(pk__in=[(event.payload or {})["finding"]]).first()
