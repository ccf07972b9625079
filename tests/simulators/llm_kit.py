"""The LLM stand-in over HTTP, asked through the openai SDK as an independent check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from openai import OpenAI

from demo.simulators.llm.service import LlmService
from demo.simulators.server import start_in_thread
from demo.simulators.state import State


def tool(name: str, description: str, required: list[str], **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


RECORD = {"type": "string", "description": "受试者编号"}
TOOLS = [
    tool("read_clinical_data", "读取受试者的临床数据", ["record_id"], record_id=RECORD),
    tool(
        "search_protocol", "检索研究方案文档", ["query"],
        query={"type": "string", "description": "检索词"},
    ),
    tool("get_project_stats", "项目统计：入组人数、进度、质疑数量", []),
    tool("check_visit_window", "检查受试者的访视窗口", ["record_id"], record_id=RECORD),
]  # fmt: skip


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def called(name: str, arguments: Any, result: Any) -> list[dict[str, Any]]:
    """A tool call and its result."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": function}
    content = json.dumps(result, ensure_ascii=False)
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]


@dataclass
class Llm:
    """The stand-in: through the SDK, as raw JSON, and its control API."""

    url: str
    sdk: OpenAI
    http: httpx.Client

    def create(self, *messages: dict[str, Any], **more: Any) -> Any:
        create: Any = self.sdk.chat.completions.create
        return create(model="local", messages=list(messages), **more)

    def ask(self, *messages: dict[str, Any], **more: Any) -> str:
        return str(self.create(*messages, **more).choices[0].message.content)

    def calls(self, *messages: dict[str, Any], **more: Any) -> list[tuple[str, dict[str, Any]]]:
        message = self.create(*messages, **{"tools": TOOLS, **more}).choices[0].message
        found = message.tool_calls or []
        return [(c.function.name, json.loads(c.function.arguments)) for c in found]

    def filled(self, schema: dict[str, Any], *messages: dict[str, Any], **more: Any) -> Any:
        form = {"type": "json_schema", "json_schema": {"name": "form", "schema": schema}}
        return json.loads(self.ask(*messages, response_format=form, **more))

    def raw(self, body: Any, **headers: str) -> httpx.Response:
        base = {"Authorization": "Bearer k"}
        url = f"{self.url}/llm/v1/chat/completions"
        sent = {"content": body} if isinstance(body, (bytes, str)) else {"json": body}
        return self.http.post(url, headers={**base, **headers}, **sent)

    def script(self, *rows: dict[str, Any]) -> None:
        answer = self.http.post(f"{self.url}/_control/llm/script", json=list(rows))
        assert answer.status_code == 200, answer.text

    def silence(self) -> None:
        answer = self.http.post(f"{self.url}/_control/llm/script", json={"silent": True})
        assert answer.status_code == 200, answer.text

    def configure(self, **settings: Any) -> httpx.Response:
        return self.http.post(f"{self.url}/_control/configure", json={"llm": settings})


@contextmanager
def serve_llm() -> Iterator[Llm]:
    state = State()
    running = start_in_thread(state, [LlmService(state)])
    sdk = OpenAI(base_url=f"{running.url}/llm/v1", api_key="k", max_retries=0, timeout=20)
    with httpx.Client(trust_env=False, timeout=20) as http:
        yield Llm(running.url, sdk, http)
    sdk.close()
    running.stop()
