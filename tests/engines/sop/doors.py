"""The ways in which people decide: the same question through console, page of many, API, card and text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from engines.models import Review
from projects import tokens
from tests.engines.sop.kit import tell
from tests.wechat.working import click, deliver, outgoing, receive, work
from wechat.models import Card

RUNS = "/admin/engines/taskrun/"
BACKEND = "django.contrib.auth.backends.ModelBackend"


def console(userid: str) -> Client:
    client = Client()
    client.cookies["django_language"] = "en"
    client.force_login(User.objects.get(username=userid), backend=BACKEND)
    return client


def api(userid: str) -> APIClient:
    token = tokens.create(user=User.objects.get(username=userid), actor=userid)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


@dataclass(frozen=True)
class Said:
    """What somebody does at a door. `seen` None: what stands there now; `selected`: on the card."""

    who: str = "wanghushi"
    decision: str = "approve"
    reason: str = "已核对"
    password: str | None = None
    seen: str | None = None
    selected: str = "r_err"

    def form(self, review: Review) -> dict[str, str]:
        given = {"reason": self.reason, "seen": review.seen if self.seen is None else self.seen}
        return given if self.password is None else given | {"password": self.password}


def by_page(review: Review, said: Said) -> str:
    """The run's page in the console; the page that follows."""
    url = f"{RUNS}{review.task_run_id}/decide/"
    given = said.form(review) | {said.decision: "1"}
    return str(console(said.who).post(url, given, follow=True).content.decode())


def by_page_of_many(review: Review, said: Said) -> str:
    """The action on the list of runs; the page that follows."""
    opened = f"{review.pk}:{review.seen if said.seen is None else said.seen}"
    given = said.form(review) | {
        "action": f"{said.decision}_review",
        "_selected_action": [str(review.task_run_id)],
        "apply": "1",
        "opened": [opened],
    }
    return str(console(said.who).post(RUNS, given, follow=True).content.decode())


def by_api(review: Review, said: Said) -> str:
    """The API; status and body."""
    url = f"/api/v1/task-runs/{review.task_run_id}/{said.decision}/"
    answer: Any = api(said.who).post(url, said.form(review), format="json")
    return f"{answer.status_code} {answer.content.decode()}"


def by_card(review: Review, said: Said) -> str:
    """A tap; what the person is told."""
    tell()
    card = Card.objects.get(kind="review", ref=str(review.pk), version=review.version)
    if said.seen is not None:
        Card.objects.filter(pk=card.pk).update(seen=said.seen)
    click(card.task_id, said.decision, said.who, selected=said.selected)
    work()
    return "\n".join(outgoing(said.who))


def by_text(review: Review, said: Said) -> str:
    """同意 42, with the card at hand; what the person is told."""
    deliver()
    if said.seen is not None:
        Card.objects.filter(kind="review", ref=str(review.pk)).update(seen=said.seen)
    word = "同意" if said.decision == "approve" else "驳回"
    receive(f"{word} {review.pk} {said.reason}", user=said.who)
    work()
    return "\n".join(outgoing(said.who))


Door = Callable[[Review, Said], str]
WITH_PASSWORD: dict[str, Door] = {
    "page": by_page,
    "page of many": by_page_of_many,
    "API": by_api,
}
WITHOUT: dict[str, Door] = {"card": by_card, "text": by_text}
DOORS = WITH_PASSWORD | WITHOUT


def opened_on(page: str) -> list[str]:
    """What a page of the console lets a person decide."""
    return re.findall(r'name="opened" value="([^"]+)"', page)
