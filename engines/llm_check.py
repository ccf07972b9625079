"""What an endpoint can do of what the house needs of it: `manage.py llm_check` (contracts.md, Commands).

Ten probes of each ability, on invented data: nothing of a study leaves. The requests go through the gate and
the client of every other request, but neither to the second provider nor past an open circuit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from engines.assistant.tools import definitions
from integrations.llm import Completion, LlmClient, LlmError, LlmUnavailable, Message
from llm import prompts
from llm.models import LlmUsage
from llm.providers import client_for
from privacy.gate import Gate
from projects.endpoints import Purpose
from projects.models import Project
from study.query.errors import QueryError
from study.query.schema import StudyQuery, parse

PROBES = 10
MET = 8
SLOW_MS = 5000
DOWN = 3
"""So many calls in a row without an answer, and the endpoint is left alone."""
MAX_TOKENS = 300
_TOOL = "read_clinical_data"
_QUERY: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "query_study",
        "description": "查询研究数据",
        "parameters": StudyQuery.model_json_schema(),
    },
}
_FORM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {"type": "string"},
        "visit": {"type": "string"},
        "value": {"type": "number"},
    },
    "required": ["subject", "visit", "value"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Invented:
    """One made-up reading among others, and the mark of its line."""

    subject: str
    visit: str
    value: int
    mark: str
    lines: tuple[str, ...]

    @property
    def question(self) -> str:
        """What asks for this reading, and no other."""
        return f"{self.subject} 在 {self.visit} 的谷丙转氨酶ALT是多少?"

    @classmethod
    def number(cls, n: int) -> Invented:
        """The n-th of the ten: others of the subject and of other subjects stand around it."""
        subject, other = f"X9{10 + n}", f"X9{30 + n}"
        value, at = 101 + 13 * n, n % 4
        told = [
            f"{subject} · 谷丙转氨酶ALT(U/L) · V1 · 2026-08-02 = {21 + n}",
            f"{other} · 谷丙转氨酶ALT(U/L) · V2 · 2026-09-04 = {53 + n} (高于上限 40)",
            f"{subject} · 谷草转氨酶AST(U/L) · V2 · 2026-09-03 = {31 + n}",
        ]
        told.insert(at, f"{subject} · 谷丙转氨酶ALT(U/L) · V2 · 2026-09-03 = {value} (高于上限 40)")
        lines = tuple(f"[F{k}] {text}" for k, text in enumerate(told, 1))
        return cls(subject, "V2", value, f"[F{at + 1}]", lines)


@dataclass(frozen=True)
class Found:
    """How often of ten an ability was met, and the milliseconds of a call (median of those answered)."""

    name: str
    met: int
    duration_ms: int

    @property
    def is_met(self) -> bool:
        """Whether the house relies on it."""
        return self.met >= MET


@dataclass
class Endpoint:
    """One purpose's endpoint and what was used of it; three calls in a row without an answer end it."""

    purpose: Purpose
    client: LlmClient
    gate: Gate = field(default_factory=Gate)
    rows: list[LlmUsage] = field(default_factory=list)
    silent: int = 0

    def ask(self, system: prompts.Prompt, question: str, **options: Any) -> Completion:
        """One answer, not tried twice. Raises LlmError."""
        if self.silent >= DOWN:
            raise LlmUnavailable(0, "no answer before")
        call = self.client.stream if options.pop("streamed", False) else self.client.complete
        row = LlmUsage(
            purpose="check",
            model_purpose=self.purpose,
            provider=self.client.preset,
            model=self.client.model,
            prompt_version=system.version,
            ok=False,
        )
        self.rows.append(row)
        messages = [
            Message("system", self.gate.text(system.text)),
            Message("user", self.gate.text(question)),
        ]
        try:
            done = call(messages, max_tokens=MAX_TOKENS, **options)
        except LlmUnavailable:
            self.silent += 1
            raise
        self.silent = 0
        row.ok, row.duration = True, done.duration_ms
        row.input_tokens, row.output_tokens = done.usage.input, done.usage.output
        return done


Judge = Callable[[Completion, Invented], bool]


@dataclass(frozen=True)
class _Probe:
    name: str
    purpose: Purpose
    judge: Judge
    prompt: Callable[[Invented], prompts.Prompt]
    question: Callable[[Invented], str] = lambda case: case.question
    options: Mapping[str, Any] = field(default_factory=dict)


def check(project: Project) -> tuple[list[Found], list[LlmUsage]]:
    """What each ability came to, in the order of the command, and a usage row a call, not stored.

    Raises llm.providers.LlmNotConfigured, privacy.gate.OutsideRefused.
    """
    by_purpose = {one: Endpoint(one, client_for(project, one)) for one in Purpose}
    found: list[Found] = []
    for probe in _PROBES:
        done = list(_run(probe, by_purpose[probe.purpose]))
        found.append(_found(probe.name, done, probe.judge))
        if probe is _CITES:
            answered = done
    found.append(_found("latency", answered, lambda one, _case: one.duration_ms <= SLOW_MS))
    found.append(_found("usage", answered, lambda one, _case: not one.usage.counted))
    return found, [row for endpoint in by_purpose.values() for row in endpoint.rows]


def _run(probe: _Probe, endpoint: Endpoint) -> Iterator[tuple[Invented, Completion | None]]:
    for n in range(PROBES):
        case = Invented.number(n)
        try:
            options = dict(probe.options)
            yield (
                case,
                endpoint.ask(probe.prompt(case), probe.question(case), **options),
            )
        except LlmError:
            yield case, None


def _found(name: str, done: list[tuple[Invented, Completion | None]], judge: Judge) -> Found:
    answered = [(case, one) for case, one in done if one is not None]
    took = int(median(one.duration_ms for _case, one in answered)) if answered else 0
    return Found(name, sum(judge(one, case) for case, one in answered), took)


def cites(done: Completion, case: Invented) -> bool:
    """Whether the value stands there with its line's mark behind it, and no line that says nothing of it."""
    marks = set(re.findall(r"\[[FDWMH]\d+[a-z]?\]", done.content))
    stated = re.search(
        rf"(?<!\d){case.value}(?!\d)[^\[\d。;；\n]*{re.escape(case.mark)}", done.content
    )
    return stated is not None and marks == {case.mark}


def _asks(done: Completion, case: Invented) -> bool:
    for call in done.tool_calls:
        try:
            query = parse(call.parsed())
        except (QueryError, ValueError):
            continue
        place = (query.place,) if isinstance(query.place, str) else query.place or ()
        if query.subjects == (case.subject,) and case.visit in place and "alt" in query.select:
            return call.name == "query_study"
    return False


def _fills(done: Completion, case: Invented) -> bool:
    try:
        said = done.json()
    except LlmError:
        return False
    return said == {"subject": case.subject, "visit": case.visit, "value": case.value}


def _calls(done: Completion, case: Invented) -> bool:
    try:
        return any(
            call.name == _TOOL and call.parsed().get("record_id") == case.subject
            for call in done.tool_calls
        )
    except ValueError:
        return False


def _sources(case: Invented) -> prompts.Prompt:
    return prompts.load("check_cite", lines="\n".join(case.lines))


_CITES = _Probe("cites", Purpose.CHAT, cites, _sources)
_PROBES = (
    _CITES,
    _Probe(
        "study_query",
        Purpose.SMALL,
        _asks,
        lambda case: prompts.load("check_query", fields="alt(谷丙转氨酶) ast(谷草转氨酶)"),
        options={"tools": [_QUERY]},
    ),
    _Probe(
        "json_schema",
        Purpose.SMALL,
        _fills,
        lambda case: prompts.load("check_json"),
        lambda case: f"{case.subject} 在 {case.visit} 的谷丙转氨酶ALT是 {case.value} U/L。",
        {"schema": _FORM},
    ),
    _Probe(
        "tools",
        Purpose.ENGINES,
        _calls,
        lambda case: prompts.load("check_tools"),
        lambda case: f"请读取 {case.subject} 的 alt。",
        {"tools": definitions((_TOOL,))},
    ),
    _Probe(
        "streaming",
        Purpose.CHAT,
        lambda done, case: bool(done.content.strip()),
        _sources,
        options={"streamed": True},
    ),
)
