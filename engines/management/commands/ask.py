"""`manage.py ask`: the same path and rows as a WeCom message, without the outbox (contracts.md)."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from engines.chat import ChatReply, answer_message
from engines.chat_api import QuestionSerializer

BAD_TEXT = 2
UNKNOWN_USER = 3
OUTSIDE_DOWN = 4


class Command(BaseCommand):
    help = "Ask the assistant as a WeCom user. Exit 0; 3 unknown user; 4 an outside system is down."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, metavar="USERID")
        parser.add_argument("--project", metavar="CODE")
        parser.add_argument("--json", action="store_true")
        parser.add_argument("text", metavar="TEXT")

    def handle(self, *args: Any, **options: Any) -> None:
        _check(options["text"])
        reply = answer_message(
            userid=options["user"], text=options["text"], project_code=options["project"]
        )
        self.stdout.write(_line(reply) if options["json"] else reply.text)
        if reply.refused:
            sys.exit(UNKNOWN_USER)
        if reply.outside_down:
            sys.exit(OUTSIDE_DOWN)


def _check(text: str) -> None:
    """Refuse what the API would refuse. Raises CommandError."""
    question = QuestionSerializer(data={"text": text})
    if not question.is_valid():
        raise CommandError(f"TEXT: {question.errors['text'][0]}", returncode=BAD_TEXT)


def _line(reply: ChatReply) -> str:
    body = {
        "reply": reply.text,
        "intents": reply.intents,
        "record_ids": reply.record_ids,
        "task_run_ids": reply.task_run_ids,
        "tokens": reply.tokens,
        "sources": reply.sources,
    }
    return json.dumps(body, ensure_ascii=False)
