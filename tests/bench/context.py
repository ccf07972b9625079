"""Assembling a prompt in a study that has run for ten years: p95 in milliseconds, on PostgreSQL.

The database holds 1,000,000 flow-log rows and 520 weekly reports of one study, 200 subjects with
names, a hot memory of about 1,500 tokens, 20 removed lines; the reader has said 12 things about
themselves and is in the middle of a talk of three rounds. Timed is what happens between a message and the first
outside call: `engines.assistant.chat.turn.prepare` (intents and names on the raw text, privacy gate, hot
memory for this reader, own facts, session), the history book (`memory.reports.history.book`) with as
many of its lines as an answer is given, masked line by line as they are there, and
`engines.assistant.context.assemble`, de-identification included. The first message of a process, which builds
the tables that later ones share, is not among the timed ones. No outside system is asked: roster
and dictionary are fresh.

The second row is the same for a question that reads no history.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.bench._database import ABSENT, temporary
from tests.bench._measure import Row, missing, row, seconds

ROWS = 1_000_000
WEEKS = 520
ROUNDS = 120
GOAL_MS = 15.0
QUESTIONS = {
    "query_history": "上个月为什么入组变慢了,当时讨论了哪些措施?",
    "general_chat": "你好,请问你能帮我做什么?",
}
HISTORY = frozenset({"query_history"})
NAME = "context: prompt of {task}, 1,000,000 flow-log rows and 520 weeks, p95 ms"


def run() -> list[Row]:
    """p95 of assembling a prompt."""
    with temporary() as url:
        if url is None:
            goal = f"< {GOAL_MS:g} ms"
            return [missing(NAME.format(task=task), "-", goal, ABSENT) for task in QUESTIONS]
        member = _fill()
        return [_row(task, text, member) for task, text in QUESTIONS.items()]


def _row(task: str, text: str, member: Any) -> Row:
    taken = [seconds(lambda: _answering(task, text, member)) for _ in range(ROUNDS + 5)][5:]
    p95 = sorted(taken)[int(len(taken) * 0.95)] * 1000
    return row(NAME.format(task=task), round(p95, 2), goal=f"< {GOAL_MS:g} ms", met=p95 < GOAL_MS)


def _answering(task: str, text: str, member: Any) -> None:
    """As a message is answered: what was read for it is not read again."""
    from core.house.request_cache import remembered

    with remembered():
        _assemble(task, text, member)


def _assemble(task: str, text: str, member: Any) -> None:
    from core.llm import prompts
    from engines.assistant.chat.handlers.passage import MOST_LINES, MOST_NEAR
    from engines.assistant.chat.sheets import Sources, material_of, reader_of
    from engines.assistant.chat.turn import prepare
    from engines.assistant.context import assemble
    from engines.assistant.say.choose import list_lines
    from engines.assistant.say.quotes import reports
    from memory.reports.history import book

    turn = prepare(member.project, member, text, datetime.now(UTC))
    pages = book(turn.project, turn.member, scope=turn.scope) if task in HISTORY else []
    sources = Sources(turn, reader_of(turn, turn.limit))
    found = reports({page.name: page.text for page in pages})
    sources.add([*found][: MOST_LINES + MOST_NEAR])
    lines = list_lines(sources.sheet())
    prompt = assemble(
        gate=turn.gate,
        system=prompts.load_prompt("say", fields=""),
        question=turn.gate.text(f"{lines}\n{turn.resolved(text)}", own=True),
        material=material_of(turn, session=True),
    )
    wanted = {"system", "hot", "facts", "session", "question"}
    if {name for name, size in prompt.parts.items() if size} != wanted:
        raise RuntimeError(f"not the prompt that was meant: {prompt.parts}")


def _fill() -> Any:
    from django.db import connection
    from django.utils.timezone import now

    from core.house.crypto import encrypt
    from study.models import SyncState
    from tests.bench import _study

    project = _study.project()
    reader = _study.people(project)["wanghushi"]
    _memory(project)
    _reports(project)
    with connection.cursor() as cursor:
        cursor.execute(_FLOW_LOG, [project.pk, encrypt("受试者今天随访完成。" * 4), ROWS])
    _said(reader)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    # Filling takes its time; an old roster would be read again.
    SyncState.objects.filter(project=project).update(roster_at=now())
    return reader


_FLOW_LOG = """
INSERT INTO iit_conversation_history
  (id, project_id, user_id, record_id, role, content, intent, created_at)
SELECT gen_random_uuid(), %s, 'user' || n %% 40, 'P' || lpad((n %% 200 + 1)::text, 3, '0'),
  CASE n %% 2 WHEN 0 THEN 'user' ELSE 'assistant' END, %s,
  'query_record', now() - make_interval(mins => 5 * n)
FROM generate_series(1, %s) AS n
"""


def _memory(project: Any) -> None:
    from memory.models import ProjectMemory

    rules = "\n".join(f"- 第{n}条:不要在回答中给出未经核实的结论" for n in range(20))
    profile = "## 张医生 (user_id: zhangyi)\n- 回复简短\n- 先说结论"
    current = "\n".join(f"- 2026-05-{n:02}: P{n:03} 完成第 {n} 次随访" for n in range(1, 29))
    faq = "\n".join(f"- 问:第{n}项检查什么时候做? 答:每次随访前一天" for n in range(15))
    content = (
        f"# 系统禁令\n{rules}\n# 用户画像\n{profile}\n# 当前状态\n{current}\n# 常见问题\n{faq}"
    )
    ProjectMemory.objects.create(project=project, content=content, last_updated_by="admin")


def _said(reader: Any) -> None:
    """What the reader said about themselves, what people removed from memory, and the running talk."""
    from core.house.db import atomic
    from memory import session
    from memory.hot import tombstones
    from memory.models import UserMemory

    UserMemory.objects.bulk_create(
        UserMemory(
            project=reader.project,
            user_id=reader.identity,
            memory_type=UserMemory.Kind.PREFERENCE,
            importance=60,
            field="statement",
            content=f"我负责第{n}组的随访,周{n}上午不在医院,希望回复先说结论",
        )
        for n in range(1, 13)
    )
    with atomic():
        for n in range(20):
            line = f"- 第{n}中心每周二上午开入组例会,不再使用第{n}版知情同意书"
            tombstones.bury(project=reader.project, line=line, actor="admin")
    for n in range(1, session.ROUNDS + 1):
        session.remember(
            reader,
            question=f"P{n:03} 最近一次随访是什么时候?有没有不良事件需要上报?",
            answer=f"P{n:03} 最近一次随访为 2026-05-12(访视 3),无不良事件记录。" * 3,
            record_ids=[f"P{n:03}"],
        )


def _reports(project: Any) -> None:
    from memory.models import WeeklyReport

    first = datetime(2016, 1, 4, tzinfo=UTC)
    WeeklyReport.objects.bulk_create(
        WeeklyReport(
            project=project,
            week_number=week,
            week_start=first + timedelta(days=7 * (week - 1)),
            week_end=first + timedelta(days=7 * week, microseconds=-1),
            summary=_summary(week, first + timedelta(days=7 * (week - 1))),
            metrics={"enrolled": week % 3},
            created_by="system_scheduler",
        )
        for week in range(1, WEEKS + 1)
    )


def _summary(week: int, start: datetime) -> str:
    return (
        f"## Week {week} ({start:%Y-%m-%d})\n- 入组 {week % 3} 例,累计 {week} 例\n"
        f"- P{week % 200 + 1:03} 完成访视,无不良事件\n### 关键决策\n- 入组变慢:增加门诊筛查,放宽访视窗"
    )
