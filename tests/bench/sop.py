"""SOP runs per second on PostgreSQL against LangGraph's PostgresSaver, interleaved in rounds.

One run: rule -> rule -> suspend -> resume -> end. Both sides evaluate the same two rules with the
same compiled rule engine on the same row of about 2 kB, one process, one connection each, on the
same server with the same settings (fsync and synchronous_commit as they are); every step that a
crash must not lose is committed before the next.

Ours is the product's own path: `sop.start(data=…)`, as console, API and chat call it, which goes as
far as the review in the transaction that creates the run, and `sop.decide(actor=the CRC)`; with the
journal, the data snapshot (encrypted), the review with what was shown, fencing, permissions and
sites, and what happened is a row of the run events in each of the two transactions.
What a worker makes of them (the card, its change, two messages to who ordered the run) is no part of
the run, as the peer has none of it; a row of its own counts it in. The study has no REDCap address: the
decision's second reading of the subject ends at once ("could not be read") and no HTTP is in the timed
part, as none is in the peer's. The messages that wake who tells the events go to Redis, as in
production, and where there is none to a broker in memory; they carry no state.

The ratio grows with what a commit costs, which is printed: on a server whose commits are free (no
disk behind them) only the processors are compared.

The row without the audit chain runs the same with `projects.audit.record` silenced; the row with it
is the product as it is.

LangGraph: a StateGraph of two rule nodes and one that calls `interrupt()`, PostgresSaver made by
`from_conn_string`, `durability="sync"`, `invoke` and `invoke(Command(resume=…))`. It writes neither
journal, events nor audit, checks no permission and has no fencing.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, TypedDict
from unittest import mock
from uuid import UUID, uuid4

from tests.bench import _data
from tests.bench._database import ABSENT, temporary
from tests.bench._measure import Row, interleaved, missing, ratio, row, seconds

if TYPE_CHECKING:
    from projects.models import Project
    from skills.models import Skill

RUNS = 25
ROUNDS = 12
COMMITS = 200
RECORD = "P002"
USUAL = "redis://127.0.0.1:6379/0"
QUEUE = f"bench-{os.getpid()}"
OURS = {"journal and events": 1.2, "journal, events and audit chain": 1.2}
TOLD = "all of it and the messages made of the events"
NAME = "sop: rule, rule, suspend, resume, end on PostgreSQL, {what}, runs/s"
RULES: list[list[dict[str, Any]]] = [
    [{"id": "A", "field": "age_0", "logic": {"<=": [18, {"var": "age_0"}, 75]}, "message": "m"}],
    [{"id": "B", "field": "ecog_0", "logic": {"in": [{"var": "ecog_0"}, [0, 1]]}, "message": "m"}],
]
Go = Callable[[], None]


def run() -> list[Row]:
    """Runs per second, with the audit chain and without."""
    with _broker(), temporary() as url:
        if url is None:
            return [
                missing(NAME.format(what=what), _peer_name(), f">= {goal} x", ABSENT)
                for what, goal in OURS.items()
            ]
        return _measured(url)


@contextmanager
def _broker() -> Iterator[None]:
    """A queue of our own in Redis, if one answers; Django must not be set up yet."""
    import redis

    url = os.environ.get("REDIS_URL") or USUAL
    server = redis.Redis.from_url(url)
    try:
        server.ping()
    except redis.RedisError:
        yield
        return
    os.environ["REDIS_URL"] = url
    try:
        yield
    finally:
        server.delete(QUEUE, *server.scan_iter(f"_kombu.binding*{QUEUE}"))


def _measured(url: str) -> list[Row]:
    ours, with_messages = _ours()
    works = {
        "journal and events": _timer(ours, silent=True),
        "journal, events and audit chain": _timer(ours),
        TOLD: _timer(with_messages),
    }
    with _langgraph(url) as peer:
        if peer:
            works["peer"] = _timer(peer)
        spent = interleaved(works, ROUNDS)
    _check_side_effects()
    told = row(NAME.format(what=TOLD), _per_second(spent[TOLD]))
    commit = row("sop: commit of one row on this server, median ms", _commit_ms(url))
    return [*(_row(what, goal, spent) for what, goal in OURS.items()), told, commit]


def _commit_ms(url: str) -> float:
    """What the ratio rests on: the peer commits each step, we commit what a crash must not part."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE bench_commit (number int)")
        add = "INSERT INTO bench_commit VALUES (1)"
        spent = [seconds(lambda: connection.execute(add)) for _ in range(COMMITS)]
        connection.execute("DROP TABLE bench_commit")
    return round(median(spent) * 1000, 3)


def _row(what: str, goal: float, spent: dict[str, list[float]]) -> Row:
    peer = spent.get("peer")
    times = ratio(peer, spent[what]) if peer else None
    return row(
        NAME.format(what=what),
        _per_second(spent[what]),
        peer=_peer_name(),
        of_peer=_per_second(peer) if peer else None,
        times=times,
        goal=f">= {goal} x",
        met=times is not None and times >= goal,
    )


def _per_second(spent: list[float]) -> float:
    return round(RUNS / median(spent), 1)


def _timer(go: Go, *, silent: bool = False) -> Callable[[], float]:
    def many() -> None:
        for _ in range(RUNS):
            go()

    def timed() -> float:
        if not silent:
            return seconds(many)
        with mock.patch("projects.audit.record", _unheard):
            return seconds(many)

    return timed


def _unheard(*_given: object, **_named: object) -> None:
    """A mock would keep every call, and cost as much."""


def _row_of_data() -> dict[str, str]:
    row_ = {**_data.exported(1)[0], "record_id": RECORD, "age_0": "50", "ecog_0": "1"}
    return row_ | {"note_0": "既往史无特殊。" * 80}


def _ours() -> tuple[Go, Go]:
    """A run, and a run whose events are made into messages as soon as they are there."""
    from django.utils.timezone import now

    from engines import sop
    from study.records import RecordData
    from tests.bench import _study

    _wake_by_our_queue()
    project = _study.project()
    crc = _study.people(project)["wanghushi"]
    skill, asked = _skill(project), _asked()
    row_, numbers = _row_of_data(), itertools.count()

    def go(tell: Callable[[UUID], object] = _later) -> None:
        # Of values that were decided upon nobody is asked again.
        rows = ({**row_, "note_0": f"{row_['note_0']}{next(numbers)}"},)
        data = RecordData(RECORD, "site_a", rows, now(), (), True)
        run = sop.start(
            project=project,
            skill=skill,
            record_id=RECORD,
            triggered_by="zhangyi",
            data=data,
        )
        tell(run.pk)
        number, seen = asked[run.pk]
        run = sop.decide(review_id=number, actor=crc, decision="approve", reason="bench", seen=seen)
        tell(run.pk)
        if run.final_state != "end_success":
            raise RuntimeError(f"the run ended as {run.final_state}")

    return go, lambda: go(_at_once)


def _later(_run: UUID) -> None:
    """The run's events wait for a worker."""


def _at_once(run: UUID) -> None:
    """What a worker does when it is woken for the run's lane: nothing of it goes to WeCom."""
    from engines.sop import run_events

    run_events.tell_lane(run)


def _wake_by_our_queue() -> None:
    from django.conf import settings

    from iit_manager.celery import app

    app.conf.task_default_queue = QUEUE
    if not settings.REDIS_URL:
        app.conf.broker_url, app.conf.broker_transport_options = "memory://", {}


def _skill(project: Project) -> Skill:
    from skills.models import Skill
    from skills.services import save_skill

    nodes = {
        "first": {"type": "hard_rule", "rules": RULES[0], "on_pass": "second"},
        "second": {"type": "hard_rule", "rules": RULES[1], "on_pass": "person"},
        "person": {"type": "human_review", "description": "请复核"},
    }
    config = {"name": "bench", "start_node": "first", "nodes": nodes}
    skill = Skill(project=project, skill_type="qc_process", name="bench", config=config)
    return save_skill(skill=skill, actor="admin")


def _asked() -> dict[UUID, tuple[int, str]]:
    """Filled with number and hash of each run's review, as the card brings them back."""
    from engines.sop import run_events

    asked: dict[UUID, tuple[int, str]] = {}
    keep = run_events.keep_event

    def noted(kind: Any, run: Any, review: Any = None, payload: Any = None) -> None:
        if review:
            asked[run.pk] = review.pk, review.seen
        keep(kind, run, review, payload)

    mock.patch.object(run_events, "keep_event", noted).start()
    return asked


def _check_side_effects() -> None:
    """Every run has its journal and events, and those told card, changed card and messages: else no figure."""
    from engines.models import RunEvent, SopStep, TaskRun
    from wechat.models import OutboxMessage

    runs, steps = TaskRun.objects.count(), SopStep.objects.count()
    events, messages = RunEvent.objects.count(), OutboxMessage.objects.count()
    told = RunEvent.objects.filter(told_at__isnull=False).count()
    if steps != 4 * runs or events != 2 * runs or not told or messages != 2 * told:
        raise RuntimeError(
            f"{runs} runs, {steps} steps, {events} events, {told} of them told, {messages} messages"
        )


def _peer_name() -> str:
    try:
        return f"LangGraph {version('langgraph')} PostgresSaver, sync"
    except ImportError:
        return "LangGraph PostgresSaver, sync"


class State(TypedDict, total=False):
    """What the peer keeps between its nodes: the same row and what the rules said."""

    rows: list[dict[str, str]]
    first: list[str]
    second: list[str]
    decision: str


@contextmanager
def _langgraph(url: str) -> Iterator[Go | None]:
    try:
        from langgraph.checkpoint.postgres import PostgresSaver
        from langgraph.graph import END, START, StateGraph
        from langgraph.types import Command, interrupt
    except ImportError:
        yield None
        return
    first, second = _judge(RULES[0]), _judge(RULES[1])
    graph = StateGraph(State)
    graph.add_node("a", lambda state: {"first": first(state["rows"])})
    graph.add_node("b", lambda state: {"second": second(state["rows"])})
    graph.add_node("person", lambda _state: {"decision": interrupt("请复核")})
    edges = [START, "a", "b", "person", END]
    for source, target in pairwise(edges):
        graph.add_edge(source, target)
    rows = [_row_of_data()]
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        compiled = graph.compile(checkpointer=saver)

        def go() -> None:
            thread = {"configurable": {"thread_id": str(uuid4())}}
            compiled.invoke({"rows": rows}, thread, durability="sync")
            ended = compiled.invoke(Command(resume="approve"), thread, durability="sync")
            if ended["decision"] != "approve" or ended["first"] + ended["second"] != ["PASS"] * 2:
                raise RuntimeError(f"the peer ended with {ended}")

        yield go


def _judge(rules: list[dict[str, Any]]) -> Callable[[list[dict[str, str]]], list[str]]:
    from datetime import date

    from core.rules.context import StudyContext
    from core.rules.ruleset import compile_rule_set

    rule_set = compile_rule_set(rules, StudyContext.build(_data.dictionary()))
    today = date(2024, 6, 1)
    return lambda rows: [str(r.outcome) for r in rule_set.evaluate(RECORD, rows, today)]
