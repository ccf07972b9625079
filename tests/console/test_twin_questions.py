"""A question about another site's subject and one about nobody leave the same behind, in every door.

The twins differ in what their reader typed and in nothing else (design.md 9.7).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from core.llm.models import LlmUsage
from engines.models import AgentTrace
from memory.models import ConversationHistory
from projects.models import ApiToken
from study.models import Subject
from tests.api.conftest import login
from tests.api.test_lists import ALL
from tests.engines.chat.kit import ask, call, calls, prompts, say
from tests.engines.liar.kit import note
from tests.support.study import Study

READER, OWN = "crc_b", "P022"
IDS = [
    ("P001", "P999"),
    ("p001", "p999"),
    ("\uff30\uff10\uff10\uff11", "\uff30\uff19\uff19\uff19"),
    ("P-001", "P-999"),
    ("P 001", "P 999"),
    ("P\u200b001", "P\u200b999"),
    ("7号患者", "8号患者"),
]
QUESTIONS = [
    "{} 入组了吗?",
    "{} 依从性怎么样,需要每天提醒吗",
    "对{}进行质控",
    "帮我查下{}后来怎么样了是哪个病人",
    "{}、{} 和 P022 的 ALT",
    "上次讨论过{}吗",
    "写首关于{}的诗",
    "记住:{}要重点关注",
]
_MOMENT = re.compile(
    r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\b[0-9a-f]{6}\b|[A-Za-z0-9]{64}|nonce-[^'\"]+"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+\d\d:\d\d|Z)?"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}, (?:\d{1,2}(?::\d\d)? [ap]\.m\.|noon|midnight)|\d+\.\d+ s"
)
# How many tokens data take depends on the random marks around them.
_OWN_TIME = re.compile(r"\"(?:tokens|duration)\": \d+|'data': \d+|&#x27;data&#x27;: \d+")


def same(text: str, *typed: str) -> str:
    """Without moments, random marks and what the reader typed, however a page escapes it."""
    text = _OWN_TIME.sub("", _MOMENT.sub("<moment>", text))
    for one in typed:
        for way in (one, json.dumps(one)[1:-1], one.replace("\u200b", ""), one.upper()):
            text = re.sub(re.escape(way).replace("\\ ", r"(?:\ |\+|%20)"), "<it>", text)
    text = re.sub(r"P001|P999", "<it>", text)
    bare = typed[0].endswith("号患者")
    return re.sub(r"(?<!\d)[78](?!\d)", "<it>", text) if bare else text


def pages(client: Client) -> dict[str, str]:
    """Every list of the console and the newest row of each; those with questions in them searched, too."""
    request = client.get("/admin/").wsgi_request
    found: dict[str, str] = {}
    for model, page in admin.site._registry.items():
        # The test itself makes the reader a token for each question.
        if model is ApiToken or not page.has_view_permission(request):
            continue
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        url = reverse(f"admin:{name}_changelist")
        found[name] = _main(client.get(url))
        if model in (AgentTrace, ConversationHistory):
            found[f"{name} searched"] = _main(client.get(url, {"q": "#1"}))
        rows = page.get_queryset(request)
        # A question and its answer are of one moment: which of them is the newest row is chance.
        each = rows.order_by("role") if model is ConversationHistory else [*rows[:1]]
        for place, row in enumerate(each):
            change = reverse(f"admin:{name}_change", args=[row.pk])
            found[f"{name} row {place}"] = _main(client.get(change, follow=True))
    return found


def _main(answer: Any) -> str:
    shown = re.sub(r"<(script|style|svg)\b.*?</\1>", "", answer.content.decode(), flags=re.S)
    return f"{answer.status_code} {shown}"


def left_behind(
    study: Study, as_user: Callable[..., Client], question: str, typed: str, *, everywhere: bool
) -> dict[str, str]:
    """What the reader is shown of one question, and what the trace keeps; `everywhere`: on all pages."""
    for model in (AgentTrace, LlmUsage, ConversationHistory):
        model._default_manager.all().delete()
    cache.clear()
    asked = len(prompts(study))
    reply = ask(READER, question)
    found = {
        "reply": reply.text,
        "sources": json.dumps(reply.sources),
        "ids": json.dumps([reply.record_ids, len(reply.task_run_ids), reply.intents]),
        "sent": json.dumps(prompts(study)[asked:], ensure_ascii=False),
        "stored": _stored(),
    }
    api = login(READER)
    resources = ALL if everywhere else ("agent-traces", "conversations", "task-runs")
    found |= {f"api {name}": api.get(f"/api/v1/{name}/").content.decode() for name in resources}
    found |= pages(as_user(READER)) if everywhere else {}
    return {where: _sorted(same(text, typed)) for where, text in found.items()}


def _sorted(text: str) -> str:
    """A question and its answer are of one moment: which row comes first is chance."""
    return "\n".join(sorted(re.split(r"[\n{}]", text)))


def _trace_page() -> str:
    return reverse("admin:engines_agenttrace_change", args=[AgentTrace.objects.get().pk])


def _stored() -> str:
    row = AgentTrace.objects.get()
    kept = [row.query, row.trace, row.left_out, [one["kind"] for one in row.replaced], row.success]
    return json.dumps(kept, ensure_ascii=False)


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    assert one.keys() == other.keys()
    return [
        f"{where}: {at(one[where], other[where])}" for where in one if one[where] != other[where]
    ]


def at(one: str, other: str) -> str:
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return f"{one[max(0, place - 40) : place + 60]!r} | {other[max(0, place - 40) : place + 60]!r}"


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_foreign_id_and_one_of_nobody(
    study: Study, as_user: Callable[..., Client], question: str
) -> None:
    foreign, absent = IDS[QUESTIONS.index(question) % len(IDS)]
    _same_behind(study, as_user, question, foreign, absent, everywhere=question == QUESTIONS[1])


@pytest.mark.full
@pytest.mark.parametrize(("foreign", "absent"), IDS)
def test_however_the_id_is_spelled(
    study: Study, as_user: Callable[..., Client], foreign: str, absent: str
) -> None:
    _same_behind(study, as_user, QUESTIONS[3], foreign, absent)


def _same_behind(
    study: Study,
    as_user: Callable[..., Client],
    question: str,
    foreign: str,
    absent: str,
    *,
    everywhere: bool = False,
) -> None:
    twins = []
    for typed in (foreign, absent):
        study.stand_ins.script(
            calls(call("read_clinical_data", record_id=typed, fields=["ALT"])),
            *[say("没有找到相关信息。")] * 6,
        )
        asked = question.replace("{}", typed)
        twins.append(left_behind(study, as_user, asked, typed, everywhere=everywhere))
        study.stand_ins.script()
    assert differing(*twins) == []


@pytest.mark.full
@pytest.mark.parametrize("field", ["subject_name", "hospital_no", "phone"])
def test_a_foreign_name_or_number_and_one_of_nobody(
    study: Study, as_user: Callable[..., Client], field: str
) -> None:
    """What leaves and what is stored is masked where it is known; the reader is shown no difference."""
    subject = Subject.objects.get(project=study.project, record_id="P001")
    known = str(json.loads(subject.identifiers)[field])
    unknown = {"subject_name": "测试丙九"}.get(field, known[:-3] + "876")
    twins = []
    for typed in (known, unknown):
        study.stand_ins.script(*[say("没有找到相关信息。")] * 6)
        question = f"帮我查下{typed}后来怎么样了是哪个病人"
        everywhere = field == "subject_name"
        behind = left_behind(study, as_user, question, typed, everywhere=everywhere)
        study.stand_ins.script()
        twins.append(
            {where: text for where, text in behind.items() if where not in ("sent", "stored")}
        )
    assert differing(*twins) == []


@pytest.mark.full
def test_an_id_in_a_note_of_ones_own_subject(study: Study, as_user: Callable[..., Client]) -> None:
    """Who may write into REDCap could else ask the house who there is."""
    twins = []
    for typed in ("P001", "P999"):
        note(study, OWN, medical_history_text=f"与 {typed} 同病房")
        twins.append(left_behind(study, as_user, f"{OWN} 的病史", typed, everywhere=False))
    assert differing(*twins) == []


@pytest.mark.full
def test_who_sees_all_sites_sees_the_whole_trace(
    study: Study, as_user: Callable[..., Client]
) -> None:
    ask(READER, f"{OWN} 入组了吗?")
    shown = login("admin").get("/api/v1/agent-traces/").json()["results"][0]
    assert OWN in shown["query"]
    assert OWN in as_user("admin").get(_trace_page()).content.decode()
    mine = login(READER).get("/api/v1/agent-traces/").json()["results"][0]
    assert (mine["query"], mine["trace"], mine["user_id"]) == ("", [], READER)
