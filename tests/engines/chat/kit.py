"""What the chat tests share."""

from __future__ import annotations

import json
from typing import Any

from engines.assistant.chat import ChatReply, answer_message, refuse
from engines.models import AgentTrace
from projects.models import Person
from tests.support.study import Study

UNREAD = "P003最近整体状况咋样"
"""What the rules do not read, so that a model is asked, with all that comes with every prompt."""


def ask(userid: str, text: str, **more: Any) -> ChatReply:
    """Ask as a WeCom user; who is none of ours is refused as the command does it."""
    person = Person.objects.by_userid(userid)
    if person is None:
        return refuse(userid, more.get("project_code"))
    return answer_message(person=person, text=text, **more)


def say(text: str) -> dict[str, str]:
    return {"content": text}


def call(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    """A tool call as the model writes it."""
    written = json.dumps(arguments, ensure_ascii=False)
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": written},
    }


def calls(*made: dict[str, Any]) -> dict[str, Any]:
    return {"content": None, "tool_calls": list(made)}


def prompts(study: Study) -> list[dict[str, Any]]:
    """The bodies of all LLM requests."""
    rows = study.stand_ins.requests("llm")
    return [json.loads(r["body"]) if isinstance(r["body"], str) else r["body"] for r in rows]


def sent(study: Study, service: str = "llm") -> str:
    """Everything a service received, as one text."""
    rows = study.stand_ins.requests(service)
    return "\n".join(
        r["body"] if isinstance(r["body"], str) else json.dumps(r["body"], ensure_ascii=False)
        for r in rows
    )


def trace() -> AgentTrace:
    found = AgentTrace.objects.order_by("-created_at").first()
    assert found is not None
    return found


def mute(study: Study) -> None:
    """The LLM answers with empty content from now on."""
    study.stand_ins.post("configure", {"llm": {"empty_content": True, "latency_s": 0}})


def reasons(study: Study, *messages: dict[str, Any]) -> None:
    """What the LLM says next: that a question takes several steps, then these."""
    asked = {"tasks": [{"task": "reason", "search": "病人"}]}
    study.stand_ins.script(say(json.dumps(asked, ensure_ascii=False)), *messages)


def steps(study: Study) -> list[dict[str, Any]]:
    """The requests of the ReAct engine."""
    return [body for body in prompts(study) if "ReAct" in str(body["messages"][0]["content"])]


def silenced(study: Study) -> None:
    """The LLM is down from now on: what is answered all the same needs no model."""
    study.stand_ins.fault("llm", "status", 503, times=None)


def record(study: Study, record_id: str) -> dict[str, str]:
    """What the stand-in's data hold about a subject, first value of each field, codes."""
    from study.records import read_record

    data = read_record(project=study.project, record_id=record_id)
    assert data is not None
    found: dict[str, str] = {}
    for row in data.rows:
        for name, value in row.items():
            if str(value) and name not in found:
                found[name] = str(value)
    return found
