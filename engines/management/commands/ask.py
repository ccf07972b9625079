"""`manage.py ask`: the same path and rows as a WeCom message, without the outbox (contracts.md)."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.house.jsonlines import answer_lines
from engines.api.chat import QuestionSerializer
from engines.assistant.chat import ChatReply, answer_message, refuse
from memory import session
from projects.models import Person

BAD_TEXT = 2
UNKNOWN_USER = 3
OUTSIDE_DOWN = 4
_LINE = {"user", "text", "project", "new"}


class Command(BaseCommand):
    help = (
        "Ask the assistant as a WeCom user, or many questions with --lines: one JSON object a line. "
        "Exit 0; 3 unknown user; 4 an outside system is down."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", metavar="USERID")
        parser.add_argument("--project", metavar="CODE")
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--lines", action="store_true", help="questions on standard input")
        parser.add_argument("text", metavar="TEXT", nargs="?")

    def handle(self, *args: Any, **options: Any) -> None:
        one = options["user"] is not None and options["text"] is not None
        if options["lines"] == one or (options["lines"] and (options["user"] or options["text"])):
            raise CommandError("Give --user USERID and TEXT, or --lines.", returncode=BAD_TEXT)
        if options["lines"]:
            answer_lines(sys.stdin, self.stdout, lambda line: _of_line(line, options["json"]))
            return
        if why := _refusal(options["text"]):
            raise CommandError(f"TEXT: {why}", returncode=BAD_TEXT)
        reply = _answer(options["user"], options["text"], options["project"])
        if options["json"]:
            self.stdout.write(json.dumps(_told(reply), ensure_ascii=False))
        else:
            self.stdout.write(reply.text)
        if code := _code(reply):
            sys.exit(code)


def _of_line(line: dict[str, Any], whole: bool) -> dict[str, Any]:
    """The answer to one line. Raises ValueError for a line that is no question."""
    user, text, project = (line.get(name) for name in ("user", "text", "project"))
    if unknown := sorted(line.keys() - _LINE):
        raise ValueError(f"unknown keys: {', '.join(unknown)}")
    if not (isinstance(user, str) and isinstance(text, str) and isinstance(project, str | None)):
        raise ValueError("user, text and project must be strings")
    if why := _refusal(text):
        return {"error": why, "code": BAD_TEXT}
    if line.get("new") and (person := Person.objects.by_userid(user)):
        session.end(person)
    reply = _answer(user, text, project)
    if code := _code(reply):
        return {"error": reply.text, "code": code}
    return _told(reply) if whole else {"reply": reply.text}


def _answer(userid: str, text: str, code: str | None) -> ChatReply:
    person = Person.objects.by_userid(userid)
    if person is None:
        return refuse(userid, code)
    return answer_message(person=person, text=text, project_code=code)


def _code(reply: ChatReply) -> int:
    """The exit status that belongs to a reply; 0 for an answer."""
    return UNKNOWN_USER if reply.refused else OUTSIDE_DOWN if reply.outside_down else 0


def _refusal(text: str) -> str:
    """Why the API would refuse a text; "" where it would not."""
    question = QuestionSerializer(data={"text": text})
    return "" if question.is_valid() else str(question.errors["text"][0])


def _told(reply: ChatReply) -> dict[str, Any]:
    return {
        "reply": reply.text,
        "intents": reply.intents,
        "record_ids": reply.record_ids,
        "task_run_ids": reply.task_run_ids,
        "tokens": reply.tokens,
        "calls": reply.calls,
        "sources": reply.sources,
        "asked_back": reply.asked_back,
    }
