"""One JSON object a line in, JSON lines out (contracts.md, Commands)."""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from django.utils.translation import gettext as _
from pydantic import ValidationError

Answers = Mapping[str, Any] | Iterable[Mapping[str, Any]]


class Out(Protocol):
    """A text stream to write to."""

    def write(self, text: str, /) -> object:
        """Write text."""

    def flush(self) -> object:
        """Hand on what was written."""


def answer_lines(
    stdin: Iterable[str], stdout: Out, handler: Callable[[dict[str, Any]], Answers]
) -> None:
    """Write what `handler` returns for each input line, in order, flushed.

    A line that is no JSON object, or one `handler` refuses with a ValueError, gives
    `{"error": …}` and the next line is read; so does one whose answer would be no JSON in UTF-8.
    """
    if isinstance(stdin, io.TextIOWrapper):  # JSON is UTF-8 whatever the locale says
        stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape")
    if reconfigure := getattr(stdout, "reconfigure", None):
        reconfigure(encoding="utf-8")
    for line in stdin:
        for answer in _answers(line, handler):
            stdout.write(answer + "\n")
        stdout.flush()


def _answers(line: str, handler: Callable[[dict[str, Any]], Answers]) -> list[str]:
    try:
        value = json.loads(line, object_pairs_hook=unique_keys)
        if not isinstance(value, dict):
            raise ValueError("a line must hold one JSON object")
        answers = handler(value)
        return [_json(one) for one in ([answers] if isinstance(answers, Mapping) else answers)]
    except ValidationError as error:
        reason = explain(error)
    except (ValueError, RecursionError) as error:
        reason = str(error)
    return [_json({"error": reason.encode("utf-8", "backslashreplace").decode()})]


def _json(answer: Mapping[str, Any]) -> str:
    """Raises ValueError for a lone surrogate, NaN and infinity."""
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
    text.encode()
    return text


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `object_pairs_hook`: a doubled key would silently drop its first value. Raises ValueError."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(_("An object has the same key twice: %(keys)s") % {"keys": list(found)})
    return found


def explain(error: ValidationError) -> str:
    """Place and message of each mistake, without the values, which may be patient data."""
    return "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or 'input'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    )
