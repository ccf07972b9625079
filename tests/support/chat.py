"""Asking through the API, as a program does."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from engines.assistant import chat_queue
from engines.models import Question

URL = "/api/v1/chat/"


def chat(client: Client, **body: Any) -> Any:
    """The answer to `POST chat/`, once a worker has worked it out."""
    answer = client.post(URL, json.dumps(body), content_type="application/json")
    if answer.status_code != 202:
        return answer
    work()
    return client.get(f"{URL}{answer.json()['conversation_id']}/")


def work() -> None:
    """Answer what waits, as a worker does whose wakes came in any order."""
    for pk in Question.objects.filter(status__in=Question.UNFINISHED).values_list("pk", flat=True):
        chat_queue.answer_question(pk)
