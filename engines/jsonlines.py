"""One JSON line out per line in (contracts.md, "Commands")."""

import json
from collections.abc import Callable, Iterable
from typing import Any, TextIO

Handler = Callable[[dict[str, Any]], dict[str, Any]]

# What a handler or a bad line may raise; anything else is a fault of the program.
BAD_LINE = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)


def answer_lines(stdin: Iterable[str], stdout: TextIO, handler: Handler) -> None:
    """Write `handler(object)` or `{"error": message}` for each line, in order, flushed.

    A line must hold one JSON object; a blank line is a bad line too. Lone surrogates leave as
    JSON escapes, so any output encoding takes them.
    """
    for line in stdin:
        stdout.write(_encode(_answer(line, handler)) + "\n")
        stdout.flush()


def _answer(line: str, handler: Handler) -> dict[str, Any]:
    try:
        return handler(_object(line))
    except BAD_LINE as error:
        return {"error": str(error) or type(error).__name__}


def _object(line: str) -> dict[str, Any]:
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("a line must be a JSON object")
    return value


def _encode(answer: dict[str, Any]) -> str:
    text = json.dumps(answer, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(answer)
    return text
