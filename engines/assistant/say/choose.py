"""The model's plan of an answer: which lines, and which operations over them. It states nothing.

Only an answer of several parts or sources is worth a call. What comes back is a stranger's JSON: what is not on
the sheet is dropped, and what is left is worded by code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias, get_args

from pydantic import ValidationError

from core.llm import prompts
from engines.assistant.say.lines import text_of
from engines.assistant.say.plan import Op, Plan, Step
from engines.assistant.say.sheet import Sheet, Source
from study.protocol.terms import folded

Call: TypeAlias = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any] | None]
"""System text, user text, strict schema → the object, None for none."""

MOST = 6
"""Operations of a plan; of more the first are taken."""
HEADINGS = {
    Source.FACT: "【REDCap数据查询结果】",
    Source.DOCUMENT: "【研究方案文档检索结果】",
    Source.REPORT: "[History Context]",
}
"""What stands over the lines of a source (decisions.md, "prompt layout")."""
LONGEST_NOTE = 60
MOST_FIELDS = 60

# What a free note may not hold that its quote does not: closed classes of what changes a rule.
_CLAIMS = re.compile(
    r"\d+(?:\.\d+)?|[a-z]+|[零一二两三四五六七八九十百千半]+(?=[个次天日周月年级倍片例岁度%])"
    r"|[不没无未非勿别禁]|必须|应当?|可以|允许|建议|需要?|可能|能|要|得|最|都|全部|只有?|仅"
    r"|停|减|加|增|用|服|给|换|治|测|查|恢复|退出|入组|报告|高|低|大于|小于|超|以上|以下|以内|之前|之后|立即"
)


def schema(
    marks: Sequence[str], fields: Sequence[str], *, with_note: bool = False
) -> dict[str, Any]:
    """The strict JSON schema of `say`: closed objects, all keys required, enums of what there is."""

    def enums(names: Sequence[str]) -> dict[str, Any]:
        items = {"type": "string", "enum": list(names)} if names else {"type": "string"}
        return {"type": "array", "items": items}

    step = {
        "op": {"type": "string", "enum": list(get_args(Op))},
        "of": enums(marks),
        "to": enums(marks),
        "show": enums(fields),
        "end": {"type": "string", "enum": ["high", "low", "both"]},
    }
    whole: dict[str, Any] = {"say": {"type": "array", "items": _closed(step)}}
    return _closed(whole | ({"note": {"type": "string"}} if with_note else {}))


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def has_parts(sheet: Sheet) -> bool:
    """Whether there is something to choose: several questions, data beside prose, or several lines of prose."""
    prose = sum(line.source is not Source.FACT for line in sheet.lines)
    return len(sheet.answered) > 1 or bool(sheet.answered and prose) or prose > 1


def choose(sheet: Sheet, question: str, call: Call, *, with_note: bool = False) -> Plan | None:
    """A plan for the answer, by one call; None where none is worth it or none came back.

    `question`: as it may leave the house. An empty plan: no line answers. `with_note`: the model may add a few
    words of explanation to a quote (`Plan.note`), which hold nothing that the quote has not.
    """
    if not has_parts(sheet):
        return None
    marks = [line.mark for line in sheet.lines]
    labels = _fields(sheet)
    names = " ".join(f"{name}({label})" for name, label in labels.items()) or "无"
    prompt = prompts.load_prompt("say", fields=names)
    asked = f"{list_lines(sheet)}\n\n问题: {question}"
    data = call(prompt.text, asked, schema(marks, list(labels), with_note=with_note))
    plan = parsed(data, sheet)
    if plan is None or not with_note or not isinstance(data, Mapping):
        return plan
    return plan.model_copy(update={"note": noted(data.get("note"), plan, sheet)})


def list_lines(sheet: Sheet) -> str:
    """The lines as the prompt lists them, those of each source under its heading."""
    blocks = []
    for source, lines in groupby(sheet.lines, key=lambda line: line.source):
        blocks += [*filter(None, [HEADINGS.get(source)]), text_of(lines)]
    return "\n".join(blocks)


def _fields(sheet: Sheet) -> dict[str, str]:
    """The fields of lines that hold several values: what `show` may name."""
    rows = (line.facts for line in sheet.lines if len(line.facts) > 1)
    labels = {fact.field: fact.label for facts in rows for fact in facts if fact.field}
    return dict(list(labels.items())[:MOST_FIELDS])


def parsed(data: object, sheet: Sheet) -> Plan | None:
    """What a model sent, as far as it is a plan over this sheet; None where it is none at all."""
    if not isinstance(data, Mapping) or not isinstance(data.get("say"), list):
        return None
    found = (_step(one, sheet) for one in data["say"] if isinstance(one, Mapping))
    steps = list(dict.fromkeys(step for step in found if step is not None))
    return Plan(say=tuple(steps[:MOST]))


def _step(data: Mapping[str, Any], sheet: Sheet) -> Step | None:
    """An operation over lines that there are; None where none is left."""
    of, to = (_marks(data.get(key), sheet) for key in ("of", "to"))
    shown = {fact.field for line in sheet.lines for fact in line.facts}
    show = tuple(name for name in _strings(data.get("show")) if name in shown)
    end = data.get("end")
    kept = {
        "op": data.get("op"),
        "of": of or to,
        "to": to if of else (),
        "show": show,
        "end": end if end in ("high", "low") else "both",
    }
    try:
        return Step.model_validate(kept) if kept["of"] else None
    except ValidationError:
        return Step.model_validate(kept | {"op": "tell"})


def _marks(data: object, sheet: Sheet) -> tuple[str, ...]:
    names = (name.strip("[]【】 ") for name in _strings(data))
    return tuple(dict.fromkeys(name for name in names if sheet.line(name) is not None))


def _strings(data: object) -> list[str]:
    given = data if isinstance(data, list) else [data]
    return [one for one in given if isinstance(one, str)]


def noted(data: object, plan: Plan, sheet: Sheet) -> str:
    """The model's words under a quote, "" where they say anything that the quote does not.

    At most LONGEST_NOTE characters, and no digit, Latin word, subject, label, negation, modality, comparison or
    act that the quoted lines do not hold themselves.
    """
    text = " ".join(data.split()) if isinstance(data, str) else ""
    quotes = [step for step in plan.say if isinstance(step, Step) and step.op == "quote"]
    lines = [line for step in quotes for mark in step.of if (line := sheet.line(mark)) is not None]
    said = folded(" ".join(line.text for line in lines if line.source is not Source.FACT))
    if not text or not said or len(text) > LONGEST_NOTE:
        return ""
    labels = {fact.label for line in sheet.lines for fact in line.facts} | set(sheet.subjects)
    own = folded(text)
    claims = {
        *_CLAIMS.findall(own),
        *(folded(label) for label in labels if label and folded(label) in own),
    }
    return "" if any(claim not in said for claim in claims) else text
