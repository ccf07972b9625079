"""The card of a query to the site: answered by a button with its reason (redcap_dify.md 1.12; wecom.md 3.3).

`ref` is the finding, `version` counts its queries: a card of an earlier one answers no later one.
"""

from __future__ import annotations

from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines import sop
from engines.models import PendingAction
from engines.sop import corrections, finding_life
from memory.visibility import told_to
from projects.models import Member, Role
from wechat.models import Card
from wechat.models.cards import CODE_CHARS
from wechat.outbound import cards
from wechat.outbound.cards import Click, fit_card, link
from wechat.outbound.outbox import tell

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
    people = concerned(finding, question)
    if not people:
        return
    with translation.override(people[0].language):
        cards.send(
            kind=KIND,
            ref=finding.pk,
            version=number,
            project=finding.project,
            to=[one.wecom_userid for one in people],
            content=_content(finding, question),
            fallback=_in_words(finding, question),
        )
    for one in people:
        if one.plain_text:
            with translation.override(one.language):
                key = f"query:{finding.pk}@{number}:{one.wecom_userid}"
                tell(to=one, content=_in_words(finding, question), key=key)


def concerned(finding: PendingAction, question: str) -> list[Member]:
    """The assignee, else the coordinators of the subject's site, else those of all sites.

    Only who sees the finding, may read all of the question, and can be reached.
    """
    text = f"{question} {finding.message}"
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
    url = _page_of(finding)
    facts = [(_("Project"), finding.project.code), (_("Subject"), finding.record_id or "-")]
    shown: list[dict[str, Any]] = [
        {"keyname": fit_card(name, "keyname"), "value": fit_card(value, "value")}
        for name, value in facts
    ]
    more = {
        "keyname": fit_card(_("Finding"), "keyname"),
        "value": fit_card(_("Open console"), "value"),
    }
    return {
        "card_type": "button_interaction",
        "source": {"desc": "IIT Manager", "desc_color": 2},
        "main_title": {
            "title": fit_card(_("Query to the site"), "title"),
            "desc": fit_card(finding.message, "desc"),
        },
        "sub_title_text": fit_card(question, "sub_title"),
        "horizontal_content_list": [*shown, {"type": 1, "url": url, **more}],
        "card_action": {"type": 1, "url": url},
        "button_selection": cards.selection(QUESTION, _("Answer"), answers()),
        "button_list": [
            {"text": fit_card(_("Send the answer"), "button"), "style": 1, "key": "answer"}
        ],
    }


def _in_words(finding: PendingAction, question: str) -> str:
    head = f"{finding.project.code} {finding.record_id or ''}".strip()
    about = f"{_('Query to the site')}: {head} {finding.message}"
    return "\n".join([about, question, f"{_('Answer it in the console:')} {_page_of(finding)}"])


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
    chosen = click.incoming.selected.get(QUESTION, ())
    answer = answers().get(chosen[0], "") if len(chosen) == 1 else ""
    if not answer:
        return _("Please choose an answer first.")
    if code := click.incoming.response_code:
        Card.objects.filter(pk=click.card.pk).update(response_code=code[:CODE_CHARS])
    try:
        corrections.move(finding=finding, step="answer", actor=click.member, reason=answer)
    except finding_life.NoSuchStep:  # somebody was faster
        finding.refresh_from_db()
        show_as_it_stands(finding)
        return _told(finding)
    except finding_life.Unfit as error:  # the card stays open: it can be answered otherwise
        return str(error)
    return ""


def _visible(click: Click) -> PendingAction | None:
    """The finding, for one who was asked, sees it still and has a role that answers."""
    member = click.member
    if member.wecom_userid not in click.card.to_user.split("|") or member.role not in sop.DECIDERS:
        return None
    rows = PendingAction.objects.for_member(member).select_related("project", "task_run")
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
