"""Everything a blinded reader can be told of a study, as text by where it comes from.

What is truly random is normalised: keys, hashes and secrets, tokens of forms, the stand-in's port, times of day
and the minutes since, how long things took, and which of two messages of one instant comes first. So are the
numbers of rows, whose gaps tell that hidden rows exist (THREAT_MODEL.md, "Blinding"). Nothing else is:
versions, order and counts stay as they are.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import NoReverseMatch, reverse

from core.privacy.gate import Gate
from engines.assistant.tools import ToolContext, registry
from projects.models import Member
from study.identities import gate_for
from study.request_cache import Reader
from tests.answers.play import load
from tests.study.blinding import workflows
from tests.support import addresses
from tests.support.study import Study
from tests.support.tasks import drain
from wechat.models import OutboxMessage

CASES = Path(__file__).parents[2] / "answers" / "chat_public.jsonl"
RANDOM = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<key>"),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "<hash>"),
    # The number of a printed report, drawn anew for each.
    (re.compile(r"\b[0-9a-f]{16}\b"), "<number>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<stand-in>"),
    (re.compile(r"DTSTAMP:\d{8}T\d{6}Z"), "DTSTAMP:<time>"),
    (re.compile(r'(data-label="耗时\(毫秒\)">|"duration": ?)\d+'), r"\1<ms>"),
    (re.compile(r"(>耗时\(毫秒\)<.{0,400}?readonly[^>]*>)\d+", re.DOTALL), r"\1<ms>"),
    # Numbers of rows, which have gaps where hidden rows stand (THREAT_MODEL.md, "Blinding").
    (re.compile(r"(复核 ?#|[ ,\n\[>]#|/review/|review_|\"id\": ?)\d+"), r"\1<n>"),
    (re.compile(r'((?:_selected_action|-id)" value="|auditentry/)\d+'), r"\1<n>"),
    # What the whole study used, the unblinded too (THREAT_MODEL.md); which calls lie within moments of a trace.
    (re.compile(r"(今日 Token</a><span>)\d+"), r"\1<tokens>"),
    (re.compile(r"<tbody><tr><td>(?:对话回答|消息意图判断).*?</tbody>", re.DOTALL), "<calls>"),
    (re.compile(r"刚刚|\d+\s*分钟前"), "<age>"),
    (re.compile(r"(/redcap/det/)[\w-]+"), r"\1<secret>"),
    (re.compile(r'(csrfmiddlewaretoken" value="|X-CSRFToken":? ")[^"]+'), r"\1<token>"),
    (re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"), "<time>"),
]
QUERIES: list[dict[str, Any]] = [
    {"subjects": ["P001"], "select": ["enrollment", "ae", "conmed", "medical_history", "labs"]},
    {"select": ["ae_term", "cm_indication", "medical_history_text"]},
    {"aggregate": "count"},
    {"aggregate": "count", "by": ["arm"]},
    {"where": [{"field": "arm", "op": "=", "value": "1"}]},
    {"where": [{"field": "marker", "op": ">", "value": 50}], "select": ["@site"]},
    {"where": [{"field": "ae_term", "op": "contains", "value": "试验组"}]},
    {"where": [{"field": "ae_term", "op": "contains", "value": "KT-1"}], "aggregate": "count"},
    {"where": [{"field": "cm_indication", "op": "filled"}], "aggregate": "count"},
    {"select": ["@findings.status", "@findings.rule", "@findings.text"]},
    {"select": ["@reviews.question", "@runs.status", "@runs.final_state", "@runs.reason"]},
    {"select": ["@visits.state", "@status"], "rows": "latest"},
    {"select": ["ae_term"], "order": {"by": "ae_term"}},
    {"aggregate": "count", "by": ["@findings.status"]},
]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_clinical_data", {"record_id": "P001"}),
    ("read_clinical_data", {"record_id": "P003", "fields": ["分组", "药盒号", "ae"]}),
    ("read_clinical_data", {"record_id": "P003", "fields": ["ae"]}),
    ("search_protocol", {"query": "随机分组"}),
    ("get_project_stats", {}),
    ("check_visit_window", {"record_id": "P001"}),
    ("query_study", {"select": ["arm"]}),
    ("list_due_visits", {}),
]
LEVEL = {"project": "LUNG-IIT", "skill_type": "qc_process:level"}
CONFIG = {"project": "LUNG-IIT", "config": workflows.TELLING}
CHECKS = {"project": "LUNG-IIT", "skill_type": "qc_std"}
IMPORTED = {"skill_type": "qc_process:mine", "name": "mine", "config": workflows.TELLING}
ORDERS: list[tuple[str, dict[str, Any]]] = [
    ("chat/", {"text": "P001的分组"}),
    ("chat/", {"text": "试验组有几个人"}),
    ("task-runs/dry-run/", CHECKS | {"record_id": "P003"}),
    ("task-runs/dry-run/", LEVEL | {"record_id": "P003"}),
    ("task-runs/dry-run/", CONFIG | {"record_id": "P003"}),
    ("task-runs/dry-run/", CONFIG | {"record_id": "P004"}),
    ("task-runs/start/", CHECKS | {"record_id": "P006"}),
    ("task-runs/start/", LEVEL | {"record_id": "P006"}),
    ("task-runs/start/", LEVEL | {"record_id": "P007"}),
    ("task-runs/start-batch/", LEVEL | {"record_ids": ["P008", "P009"]}),
    ("skills/import/", {"project": "LUNG-IIT", "skills": [IMPORTED]}),
]
"""What a reader may order, the subjects of both arms in each twin; what is refused is refused alike."""
DONE = {"comment": {"text": "请核对"}, "reject": {"reason": "无"}}
"""What a reader may do with a row of the API."""
USAGE = "/admin/llm/llmusage/"
"""The operator's pages of tokens, those of the unblinded as well (THREAT_MODEL.md, "Blinding")."""
NEWEST = 5
"""Of each table so many rows have their pages opened; the lists show them all."""
ASKED = [
    "P001的分组是什么",
    "P003用的药盒号",
    "试验组有几个人",
    "P003的不良事件",
    "谁用了甲药",
    "P001既往史",
]


def normal(text: str) -> str:
    """The text without what is random."""
    for found, instead in RANDOM:
        text = found.sub(instead, text)
    return text


def told(study: Study, readers: tuple[str, ...]) -> dict[str, str]:
    """All that these readers are told."""
    before = len(study.stand_ins.requests("llm"))
    found = chat(study)
    for name in readers:
        found |= {f"{name} {where}": text for where, text in _of(study, name)}
    for place, row in enumerate(study.stand_ins.requests("llm")[before:]):
        found[f"llm {place}"] = normal(str(row["body"]))
    return found


def told_one(study: Study, name: str) -> dict[str, str]:
    """What one reader is told besides chat."""
    return dict(_of(study, name))


def chat(study: Study) -> dict[str, str]:
    """Every chat case, and questions about what is blinded."""
    lines = []
    for case in load(CASES):
        for turns in (case["turns"], case.get("twin", [])):
            new = True
            for text in turns:
                new = new or text == "---"
                if text != "---":
                    lines.append({"user": case["user"], "text": text, "new": new})
                    new = False
    users = ("zhangyi", "wanghushi")
    lines += [{"user": user, "text": text, "new": True} for user in users for text in ASKED]
    answers = asked("ask", lines, "--json", lines=True)
    return {
        f"chat {place} {line['user']} {line['text']}": normal(answer)
        for place, (line, answer) in enumerate(zip(lines, answers, strict=True))
    }


def asked(name: str, rows: list[Any], *words: str, **options: Any) -> list[str]:
    given = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in rows)
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(given))
        call_command(name, *words, stdout=out, **options)
    return out.getvalue().splitlines()


def _of(study: Study, name: str) -> Iterator[tuple[str, str]]:
    member = study.members.get(name)
    if member is not None:
        member = Member.objects.select_related("project", "person__user").get(pk=member.pk)
        yield from _tools(study, member)
        for query, answer in zip(QUERIES, asked("query", QUERIES, user=name), strict=True):
            yield f"query {query}", normal(answer)
    client = Client()
    client.cookies["django_language"] = "zh-hans"
    user = User.objects.get(username=name)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    yield from _orders(client)
    yield from _pages(client)
    yield from _api(client)
    yield from _sent(name)


def _tools(study: Study, member: Member) -> Iterator[tuple[str, str]]:
    gate: Gate = gate_for(Reader(study.project, member))
    context = ToolContext(study.project, member, gate)
    for name, arguments in CALLS:
        result = registry.execute(context, name, arguments, allowed=registry.tools())
        yield f"tool {name} {arguments}", normal(repr(result))


def _orders(client: Client) -> Iterator[tuple[str, str]]:
    """What comes of orders by the API, and of work with the newest findings and runs there."""
    for place, (path, body) in enumerate(ORDERS):
        yield f"order {place} {path}", _posted(client, path, body)
    drain()
    for path, deed in (("pending-actions", "comment"), ("task-runs", "reject")):
        listed = client.get(f"/api/v1/{path}/", {"project": "LUNG-IIT"}).json().get("results", [])
        for place, row in enumerate(_by_time(listed)):
            shown = client.get(f"/api/v1/{path}/{row['id']}/").json()
            said = DONE[deed] | {"seen": (shown.get("review") or {}).get("seen", "")}
            answer = _posted(client, f"{path}/{row['id']}/{deed}/", said)
            yield f"{deed} {place}", answer
    drain()


def _posted(client: Client, path: str, body: dict[str, Any]) -> str:
    return _text(client.post(f"/api/v1/{path}", json.dumps(body), "application/json"))


def _by_time(rows: list[Any]) -> list[Any]:
    """The newest rows, in an order that tells nobody anything."""
    ordered = sorted(rows, key=lambda row: (str(row.get("created_at")), str(row.get("role"))))
    return ordered[-NEWEST:]


def _sent(name: str) -> Iterator[tuple[str, str]]:
    rows = OutboxMessage.objects.filter(to_user=name).order_by("pk")
    for place, row in enumerate(rows):
        yield f"outbox {place}", normal(row.payload)


def _pages(client: Client) -> Iterator[tuple[str, str]]:
    """Every address of the console that names no row, each list with its export, and each row's pages."""
    for one in addresses.addresses():
        if (
            not one.path.startswith("/api/")
            and not one.parameters
            and not one.path.startswith(USAGE)
        ):
            yield from _got(client, one.path)
    request = client.get("/admin/").wsgi_request
    for model in admin.site._registry:
        named = f"{model._meta.app_label}_{model._meta.model_name}"
        page = admin.site._registry[model]
        if not page.has_view_permission(request):
            continue
        rows = [*page.get_queryset(request).order_by("pk")] if _is_ours(model) else []
        ordered = sorted(rows, key=_in_order)[-NEWEST:]
        for place, row in enumerate(ordered):
            for view in ("change", "history", "blinding"):
                try:
                    address = reverse(f"admin:{named}_{view}", args=[row.pk])
                except NoReverseMatch:
                    continue
                for _where, text in _got(client, address):
                    yield f"{named} {place} {view}", text
    for query in ("q=试验组", "q=P001", "q=KT-1"):
        for label in ("engines_taskrun", "engines_pendingaction", "memory_conversationhistory"):
            yield from _got(client, f"{reverse(f'admin:{label}_changelist')}?{query}")


def _is_ours(model: Any) -> bool:
    return model._meta.app_label in {"engines", "projects", "study", "memory", "wechat", "skills"}


def _in_order(row: Any) -> tuple[str, str, str]:
    """Rows with random keys by their time, which tells nobody anything."""
    at = next((getattr(row, name) for name in ("created_at", "at") if hasattr(row, name)), "")
    number = row.pk if isinstance(row.pk, int) else getattr(row, "number", 0)
    return f"{at} {getattr(row, 'role', '')}", f"{number:09}", ""


def _api(client: Client) -> Iterator[tuple[str, str]]:
    for one in addresses.addresses():
        if not one.path.startswith("/api/") or one.parameters:
            continue
        first = client.get(one.path, {"project": "LUNG-IIT"})
        if first.status_code in {405, 406}:
            continue
        yield one.path, _unordered(one.path, _text(first))
        if first.status_code != 200 or "json" not in first.headers.get("Content-Type", ""):
            continue
        found = first.json()
        rows = found.get("results", []) if isinstance(found, Mapping) else []
        for place, row in enumerate(_by_time(rows)):
            if "id" in row:
                yield f"{one.path} {place}", _text(client.get(f"{one.path}{row['id']}/"))


def _got(client: Client, address: str) -> Iterator[tuple[str, str]]:
    answer = client.get(address)
    if answer.status_code != 405:
        yield address, _unordered(address, _text(answer))


def _unordered(address: str, text: str) -> str:
    """Question and answer bear the same time: their order in a list is that of random keys."""
    parts = re.split(r"\n|(?<=}),|(?<=results\":\[)", text) if "conversation" in address else [text]
    return "\n".join(sorted(part.strip("[]}") for part in parts) if len(parts) > 1 else parts)


def _text(answer: Any) -> str:
    content = answer.getvalue() if answer.streaming else answer.content
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            parts = (n for n in sorted(book.namelist()) if not n.startswith("docProps"))
            content = b"\n".join(book.read(name) for name in parts)
    return normal(f"{answer.status_code} {content.decode('utf-8', 'replace')}")
