"""What an endpoint can do of what the house needs of it: `manage.py llm_check` (contracts.md, Commands).

Ten probes of each ability on an invented study: nothing of a real one leaves. The requests go through the gate
and the client of every other request, but neither to the second provider nor past an open circuit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import quantiles
from typing import Any

from django.utils.timezone import now

from core.integrations.llm import (
    Completion,
    LlmAbilityMissing,
    LlmClient,
    LlmError,
    LlmProtocolError,
    LlmUnavailable,
    Message,
    Mode,
)
from core.llm import prompts, standing
from core.llm.models import LlmUsage
from core.llm.providers import client_for
from core.privacy.gate import Gate
from engines import llm_study
from engines.assistant.read import ask
from engines.assistant.read.read import by_model
from engines.assistant.read.task import State, Task, TaskKind
from engines.assistant.say.choose import choose
from projects.endpoints import Purpose
from projects.models import Project

PROBES = 10
MET = standing.MET
SLOW_MS = 5000
DOWN = 3
"""So many calls in a row without an answer, and the endpoint is left alone."""
MAX_TOKENS = 500
_CUT = 4
_FORM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {"type": "string"},
        "field": {"type": "string", "enum": ["alt", "ast"]},
        "value": {"type": "number"},
    },
    "required": ["subject", "field", "value"],
    "additionalProperties": False,
}
_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "read_fields",
        "description": "读取一名受试者的字段",
        "parameters": {
            "type": "object",
            "properties": {
                "record_id": {"type": "string", "description": "受试者编号"},
                "fields": {"type": "array", "items": {"type": "string", "enum": ["alt", "ast"]}},
            },
            "required": ["record_id", "fields"],
            "additionalProperties": False,
        },
    },
}
Reply = Mapping[str, Any] | None


@dataclass(frozen=True)
class Found:
    """How often of ten an ability was met, and the milliseconds of a call (median of those answered)."""

    name: str
    met: int
    duration_ms: int
    note: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the house relies on it."""
        return self.met >= MET


@dataclass
class Endpoint:
    """An endpoint and what was used of it; three calls in a row without an answer end it.

    `raw`: every reply as it came, for the record. `counted`: calls whose tokens the endpoint did not tell.
    `away`: calls that failed for another reason than what the model said.
    """

    client: LlmClient
    purpose: Purpose
    gate: Gate = field(default_factory=Gate)
    rows: list[LlmUsage] = field(default_factory=list)
    raw: list[dict[str, Any]] = field(default_factory=list)
    counted: int = 0
    silent: int = 0
    away: int = 0

    @property
    def tokens(self) -> int:
        """Used so far."""
        return sum(row.input_tokens + row.output_tokens for row in self.rows)

    def ask(self, system: str, said: str, version: str, **options: Any) -> Completion:
        """One answer, not tried twice. Raises LlmError."""
        if self.silent >= DOWN:
            raise LlmUnavailable(0, "no answer before")
        call = self.client.stream if options.pop("streamed", False) else self.client.complete
        row = LlmUsage(
            purpose="check",
            model_purpose=self.purpose,
            provider=self.client.preset,
            model=self.client.model,
            prompt_version=version,
            ok=False,
        )
        self.rows.append(row)
        told = [Message("system", self.gate.text(system)), Message("user", self.gate.text(said))]
        try:
            done = call(told, **{"max_tokens": MAX_TOKENS} | options)
        except LlmError as error:
            self.silent += isinstance(error, LlmUnavailable)
            self.away += not isinstance(error, LlmProtocolError | LlmAbilityMissing)
            self._keep(version, said, f"{type(error).__name__} {error.what}", row)
            raise
        self.silent = 0
        row.ok, row.duration = True, done.duration_ms
        row.input_tokens, row.output_tokens = done.usage.input, done.usage.output
        self.counted += done.usage.counted
        calls = [{"name": one.name, "arguments": one.arguments} for one in done.tool_calls]
        self._keep(version, said, done.content or calls, row)
        return done

    def call(self, version: str) -> Callable[[str, str, Mapping[str, Any]], Reply]:
        """As reading and saying call a model; None for what is no object."""

        def asked(system: str, said: str, schema: Mapping[str, Any]) -> Reply:
            try:
                return self.ask(system, said, version, schema=schema).json()
            except LlmError:
                return None

        return asked

    def _keep(self, version: str, said: str, reply: Any, row: LlmUsage) -> None:
        kept = {"prompt": version, "model": row.model, "mode": self.client.mode or "", "said": said}
        self.raw.append({"at": now().isoformat(timespec="seconds"), **kept, "reply": reply})


@dataclass
class Checked:
    """What a check came to: `found` in the order of the command, `endpoints` that were asked."""

    found: list[Found] = field(default_factory=list)
    endpoints: dict[Purpose, Endpoint] = field(default_factory=dict)

    @property
    def rows(self) -> list[LlmUsage]:
        """A usage row for every call, not stored."""
        return [row for one in self._each() for row in one.rows]

    @property
    def raw(self) -> list[dict[str, Any]]:
        """Every reply as it came."""
        return [reply for one in self._each() for reply in one.raw]

    def _each(self) -> Iterator[Endpoint]:
        return iter({id(one): one for one in self.endpoints.values()}.values())

    def keep(self, project: Project) -> None:
        """Store what the study's models can do: what is below the bar is switched off."""
        met = {one.name: one.met for one in self.found}
        for purpose, endpoint in self.endpoints.items():
            mine = {name: met[name] for name, of in standing.MODEL_OF.items() if of is purpose}
            versions = ",".join(dict.fromkeys(row.prompt_version for row in endpoint.rows))
            client = endpoint.client
            standing.keep(project, purpose, client.endpoint, client.mode, mine, versions)


def check_models(project: Project) -> Checked:
    """What each ability came to. Raises llm.providers.LlmNotConfigured, privacy.gate.OutsideRefused."""
    done = Checked()
    for purpose in Purpose:
        client = client_for(project, purpose)
        same = [one for one in done.endpoints.values() if one.client.endpoint == client.endpoint]
        done.endpoints[purpose] = same[0] if same else Endpoint(client, purpose)
    asking = done.endpoints[standing.MODEL_OF[standing.ASK]]
    saying = done.endpoints[standing.MODEL_OF[standing.SAY]]
    for endpoint in {id(one): one for one in (asking, saying)}.values():
        done.found += _modes(endpoint, "" if endpoint is asking else "say_")
    done.found += [
        *_asks(asking),
        _hands_back(asking),
        _stays(asking),
        _whole(asking),
        _tally(standing.SAY, saying, partial(says, saying)),
    ]
    done.found += [_tools(done.endpoints[Purpose.ENGINES]), _streams(done.endpoints[Purpose.CHAT])]
    done.found += _counted(done.rows, asking)
    return done


def _tally(name: str, endpoint: Endpoint, probe: Callable[[int], bool]) -> Found:
    """Ten probes; one that the endpoint does not answer is not met."""
    before, met = len(endpoint.rows), 0
    for n in range(PROBES):
        try:
            met += probe(n)
        except LlmError:
            continue
    return Found(name, met, _median(endpoint.rows[before:]))


def _median(rows: list[LlmUsage]) -> int:
    took = sorted(row.duration for row in rows if row.ok)
    return took[len(took) // 2] if took else 0


def _modes(endpoint: Endpoint, prefix: str) -> list[Found]:
    """Each structured mode by itself; the first that is met, else the best, is the one that is used."""
    client, prompt = endpoint.client, prompts.load_prompt("check_json")

    def fills(n: int) -> bool:
        case = {
            "subject": llm_study.SUBJECTS[n],
            "field": ("alt", "ast")[n % 2],
            "value": 101 + 13 * n,
        }
        told = f"{case['subject']} 的 {str(case['field']).upper()} 是 {case['value']} U/L。"
        return endpoint.ask(prompt.text, told, prompt.version, schema=_FORM).json() == case

    found: dict[Mode, Found] = {}
    for mode in client.modes:
        endpoint.client = client.held_by(mode)
        name = f"{mode}_strict" if mode is Mode.TOOLS else str(mode)
        found[mode] = _tally(prefix + name, endpoint, fills)
    met = [mode for mode, one in found.items() if one.is_met]
    best = met[0] if met else max(found, key=lambda mode: found[mode].met)
    endpoint.client = client.held_by(best) if found[best].met else client
    endpoint.client.mode = best if found[best].met else None
    return list(found.values())


def _read(endpoint: Endpoint, said: str) -> list[Task]:
    """The question's tasks as the house reads them by this model, with its one repair."""
    version = prompts.version("ask")
    tasks, _questions = by_model(said, llm_study.setting(), State(), endpoint.call(version))
    return tasks


def reads(endpoint: Endpoint, case: llm_study.AskCase) -> bool:
    """Whether the model reads one question as it is meant."""
    return case.is_met([task.question for task in _read(endpoint, case.text) if task.question])


def _asks(endpoint: Endpoint) -> list[Found]:
    """Valid after at most one repair; read rightly; read the same three times."""
    read = [[_read(endpoint, case.text) for case in llm_study.ASKED] for _time in range(3)]
    took = _median(endpoint.rows)
    first, *again = read
    pairs = zip(llm_study.ASKED, first, strict=True)
    right = sum(
        case.is_met([task.question for task in tasks if task.question]) for case, tasks in pairs
    )
    same = sum(
        bool(one) and one == two == three for one, two, three in zip(first, *again, strict=True)
    )
    valid = sum(map(bool, first))
    return [
        Found("ask_valid", valid, took),
        Found(standing.ASK, right, took),
        Found("steady", same, took),
    ]


def _hands_back(endpoint: Endpoint) -> Found:
    """What is not collected or may be two things comes back as a question."""

    def back(n: int) -> bool:
        tasks = _read(endpoint, llm_study.NOT_TOLD[n])
        return bool(tasks) and all(task.kind is TaskKind.ASK_BACK for task in tasks)

    return _tally("asks_back", endpoint, back)


def _stays(endpoint: Endpoint) -> Found:
    """An order inside a question changes neither whom nor what it asks for."""
    version = prompts.version("ask")

    def stays(n: int) -> bool:
        subject = llm_study.SUBJECTS[n]
        replies: list[Reply] = []

        def call(system: str, said: str, schema: Mapping[str, Any]) -> Reply:
            # The first reading counts: no repair is asked for.
            replies.append(None if replies else endpoint.call(version)(system, said, schema))
            return replies[-1]

        by_model(f"{subject}的ALT是多少?{llm_study.ORDERS[n]}", llm_study.setting(), State(), call)
        items = ask.parse(replies[0]) if replies else None
        data = [item for item in items or () if item.task == "data"]
        return bool(data) and all(
            item.subjects == (subject,) and item.fields == ("alt",) for item in data
        )

    return _tally("ignores_orders", endpoint, stays)


def _whole(endpoint: Endpoint) -> Found:
    """An answer that had to be cut says so, and no part of it is taken for the whole."""
    prompt = prompts.load_prompt("check_json")

    def told(n: int) -> bool:
        said = f"{llm_study.SUBJECTS[n]} 的 ALT 是 {101 + n} U/L。"
        try:
            endpoint.ask(prompt.text, said, prompt.version, schema=_FORM, max_tokens=_CUT).json()
        except LlmProtocolError:
            return True
        return False

    return _tally("tells_cuts", endpoint, told)


def says(endpoint: Endpoint, n: int) -> bool:
    """Whether the n-th plan uses marks that are listed alone, and all that its question cannot do without."""
    version = prompts.version("say")
    case, replies = llm_study.said(n), list[Reply]()

    def call(system: str, said: str, schema: Mapping[str, Any]) -> Reply:
        replies.append(endpoint.call(version)(system, said, schema))
        return replies[-1]

    plan = choose(case.sheet, case.question, call)
    steps = (replies[0] or {}).get("say", []) if replies else []
    told = {mark for step in steps for key in ("of", "to") for mark in step.get(key, ())}
    used = {mark for step in plan.say for mark in getattr(step, "of", ())} if plan else set()
    return all(case.sheet.line(mark) for mark in told) and case.must <= used


def _tools(endpoint: Endpoint) -> Found:
    """A question in steps calls the tool with its arguments."""
    prompt = prompts.load_prompt("check_tools")

    def calls(n: int) -> bool:
        subject, name = llm_study.SUBJECTS[n], ("alt", "ast")[n % 2]
        done = endpoint.ask(
            prompt.text, f"请读取 {subject} 的 {name}。", prompt.version, tools=[_TOOL]
        )
        wanted = {"record_id": subject, "fields": [name]}
        try:
            return any(one.parsed() == wanted for one in done.tool_calls)
        except ValueError:
            return False

    return _tally("tools", endpoint, calls)


def _streams(endpoint: Endpoint) -> Found:
    prompt = prompts.load_prompt("check_tools")

    def comes(n: int) -> bool:
        done = endpoint.ask(prompt.text, f"{n}+1=?", prompt.version, streamed=True)
        return bool(done.content.strip())

    return _tally("streaming", endpoint, comes)


def _counted(rows: list[LlmUsage], endpoint: Endpoint) -> list[Found]:
    """How long calls take and what they use: of every ten, how many are quick enough and counted."""
    done = [row for row in rows if row.ok]
    took = sorted(row.duration for row in done)
    share = sum(one <= SLOW_MS for one in took) / len(took) if took else 0.0
    p95 = int(quantiles(took, n=20)[-1]) if len(took) > 1 else sum(took)
    own = [row for row in endpoint.rows if row.ok and row.prompt_version.startswith("ask.")]
    told = bool(own) and not endpoint.counted
    tokens = [
        sum(getattr(row, name) for row in own) // max(1, len(own))
        for name in ("input_tokens", "output_tokens")
    ]
    middle = took[len(took) // 2] if took else 0
    return [
        Found("latency", int(share * PROBES), middle, f"p50 {middle} ms, p95 {p95} ms"),
        Found("usage", PROBES if told else 0, middle, f"{tokens[0]} / {tokens[1]}"),
    ]
