"""A query that was sent, or that is settled, becomes messages; what is true is read as it is told."""

from __future__ import annotations

from engines.models import FindingEvent, PendingAction, RunEvent
from wechat.findings import query_cards


def queried(event: RunEvent) -> None:
    """Ask the site by card; nothing where the query is settled already or a newer one was sent."""
    finding = _finding(event)
    if finding is None or finding.state != PendingAction.State.QUERIED:
        return
    query_cards.show_as_it_stands(finding)
    number = query_cards.queries(finding)
    asked = FindingEvent.objects.filter(finding=finding, what="query").last()
    if asked is not None and number == (event.payload or {}).get("number"):
        query_cards.send_query_card(finding, asked.note, number)


def settled(event: RunEvent) -> None:
    """Take the buttons off the cards of a query that nobody has to answer any more."""
    if finding := _finding(event):
        query_cards.show_as_it_stands(finding)


def _finding(event: RunEvent) -> PendingAction | None:
    rows = PendingAction.objects.select_related("project", "task_run")
    return rows.filter(pk__in=[(event.payload or {})["finding"]]).first()
