"""A model that is not there: an OpenAI-protocol server that stays silent or answers from recorded replies.

A recorded reply is one that a capable model gave to the product's own request. It is found by what the request
asks (all messages but the system's, and the schema or tools offered), so that it outlives a change of the
prompt's wording; the prompt it was given under is kept beside it (`recorded/*.jsonl`).
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]

RECORDED = Path(__file__).parent / "recorded"
PROMPTS = Path(__file__).parents[2] / "core" / "llm" / "prompts"
# The marks around data are made with a house's own key.
_DATA = re.compile(r"<(/?)data [0-9a-f]+>")
# Which source lines come from changes nothing of what is asked.
_HEADING = re.compile(r"(?:【REDCap数据查询结果】|【研究方案文档检索结果】|\[History Context\])\\n")


SAID = "said"
"""Where a request in `Model.asked` keeps the reply."""


@dataclass
class Model:
    """What the server answers and what it was asked."""

    replies: Mapping[str, Json] = field(default_factory=dict)
    asked: list[Json] = field(default_factory=list)
    unknown: dict[str, Json] = field(default_factory=dict)
    url: str = ""

    def answer(self, body: Json) -> Json:
        """The reply to a request: a recorded one, else an empty text."""
        key = key_of(body)
        found = self.replies.get(key)
        if found is None:
            self.unknown.setdefault(key, body)
            found = {"content": ""}
        said = found.get("content") or json.dumps(found.get("tool_calls") or "", ensure_ascii=False)
        self.asked.append(body | {SAID: said})
        return found


def key_of(body: Mapping[str, Any]) -> str:
    """The name of a request."""
    said = [message for message in body["messages"] if message.get("role") != "system"]
    text = json.dumps([said, purpose_of(body)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(_DATA.sub(r"<\1data>", _HEADING.sub("", text)).encode()).hexdigest()[:16]


def purpose_of(body: Mapping[str, Any]) -> str:
    """What a request is for: the prompt of the product that its rules begin like, "" for none."""
    told = next((str(m.get("content")) for m in body["messages"] if m.get("role") == "system"), "")
    return next((name for name, begins in _beginnings().items() if told.startswith(begins)), "")


@cache
def _beginnings() -> dict[str, str]:
    """How the newest version of each prompt begins, up to what is filled in."""
    found: dict[str, str] = {}
    for path in sorted(PROMPTS.glob("*.v*.txt")):
        found[path.stem.rpartition(".v")[0]] = (
            path.read_text("utf-8").partition("{")[0][:24].strip()
        )
    return {name: begins for name, begins in found.items() if len(begins) > 7}


def prompt_of(body: Mapping[str, Any]) -> str:
    """The name of a request's rules: what its system messages say, as a short hash."""
    told = [str(one.get("content")) for one in body["messages"] if one.get("role") == "system"]
    return hashlib.sha256(_DATA.sub("", "\n".join(told)).encode()).hexdigest()[:8]


def recorded(folder: Path = RECORDED) -> dict[str, Json]:
    """All replies on record by the key of their request."""
    return {row["key"]: row for path in sorted(folder.glob("*.jsonl")) for row in _rows(path)}


def _rows(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def put_on_record(folder: Path, target: Path, day: str) -> int:
    """Take over what was answered to the requests of a folder (`req/KEY.json`, `rep/KEY.json`); how many."""
    known = {row["key"]: row for row in _rows(target)} if target.exists() else {}
    for path in sorted((folder / "rep").glob("*.json")):
        asked = json.loads((folder / "req" / path.name).read_text("utf-8"))
        purpose = purpose_of(asked)
        known[path.stem] = {
            "key": path.stem,
            "date": day,
            "prompt": prompt_of(asked),
            "version": version_of(purpose),
            **({"said": str(asked["messages"][-1]["content"])} if purpose == "ask" else {}),
            **json.loads(path.read_text("utf-8")),
        }
    told = [json.dumps(row, ensure_ascii=False) + "\n" for _key, row in sorted(known.items())]
    target.parent.mkdir(exist_ok=True)
    target.write_text("".join(told), "utf-8")
    return len(known)


def version_of(purpose: str) -> str:
    """The newest version of the product's prompt for a purpose, "" where it has none of that name."""
    versions = [path.stem for path in PROMPTS.glob(f"{purpose}.v*.txt")] if purpose else []
    return max(versions, key=lambda name: int(name.rpartition(".v")[2]), default="")


@contextmanager
def served() -> Iterator[Model]:
    """A server on a port of its own; its URL is in the model."""
    model = Model()

    class Handler(_Handler):
        serves = model

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    serves: Model

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "recorded", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = self.serves.answer(body)
        calls = [
            {"id": f"call_{n}", "type": "function", "function": {**call, "arguments": _text(call)}}
            for n, call in enumerate(found.get("tool_calls") or ())
        ]
        message: Json = {"role": "assistant", "content": found.get("content")}
        if calls:
            message["tool_calls"] = calls
        asked = sum(len(str(one.get("content") or "")) for one in body["messages"])
        said = len(str(found.get("content") or calls))
        self._send(
            {
                "id": "chatcmpl-recorded",
                "object": "chat.completion",
                "created": 0,
                "model": body.get("model"),
                "choices": [
                    {
                        "index": 0,
                        "message": message,
                        "finish_reason": "tool_calls" if calls else "stop",
                    }
                ],
                "usage": {
                    "prompt_tokens": asked,
                    "completion_tokens": said,
                    "total_tokens": asked + said,
                },
            }
        )

    def _send(self, answer: Json) -> None:
        data = json.dumps(answer, ensure_ascii=False).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _text(call: Json) -> str:
    arguments = call["arguments"]
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
