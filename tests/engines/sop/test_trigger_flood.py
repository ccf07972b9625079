"""A flood of REDCap's trigger: kept as rows, read a few at a time, and nobody's question waits behind it.

Told by the order in which a worker takes its work, never by time.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.test import Client
from kombu import Consumer, Message

from core.house import task_queue
from engines import tasks
from engines.assistant import chat_queue
from engines.models import TaskRun
from iit_manager.celery import app
from projects.models import Project
from study import change_handlers, readings
from study.models import ChangedSubject, Reading, Subject, SyncState
from tests.engines.sop.kit import hard, new_skill, rule
from tests.support.study import Study
from tests.support.tasks import drain, purge, running

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "engines.tasks.answer_question"
READ = "engines.tasks.read_changed"
FOLLOW = "engines.tasks.follow_changes"


@pytest.fixture
def quiet(study: Study) -> Study:
    """Read to the end, nothing queued."""
    readings.read_all(study.project)
    Reading.objects.update(is_followed=True)
    purge()
    study.stand_ins.post("configure", {"llm": {"empty_content": True, "latency_s": 0}})
    return study


def flood(study: Study, posts: int) -> list[str]:
    """So many posts, of subjects that are there and of others; the ids."""
    there = [*Subject.objects.values_list("record_id", flat=True)]
    ids = [*there, *(f"X{number}" for number in range(posts - len(there)))][:posts]
    client, address = Client(), f"/redcap/det/{study.project.redcap_det_secret}/"
    for record_id in ids:
        assert client.post(address, {"record": record_id}).status_code == 200
    return ids


def question(study: Study) -> None:
    person = study["zhangyi"].person
    chat_queue.put_question(person=person, login="zhangyi", text="P001 入组了吗?", project_code="")


def records_read(study: Study) -> list[str]:
    """How often the stand-in was asked for records."""
    bodies = [str(one["body"]) for one in study.stand_ins.requests("redcap")]
    return [body for body in bodies if "content=record&" in body or "'content': 'record'" in body]


@pytest.mark.full
def test_a_question_is_answered_before_the_flood_is_read(quiet: Study) -> None:
    flood(quiet, 100)
    question(quiet)
    order = [*running()]
    assert order.index(QUESTION) <= 2
    assert order.count(READ) > 3
    assert not ChangedSubject.objects.exists()


@pytest.mark.full
def test_many_posts_are_one_task_a_study(quiet: Study) -> None:
    ids = flood(quiet, 60)
    flood(quiet, 60)
    assert ChangedSubject.objects.count() == len(set(ids))
    task_queue.flush()
    with app.connection_for_read() as connection, connection.SimpleQueue("changes") as queue:
        assert queue.qsize() == 1
    before = len(records_read(quiet))
    assert drain().count(READ) <= 60 // change_handlers.AT_ONCE_READ + 1
    assert len(records_read(quiet)) - before <= 60 // change_handlers.AT_ONCE_READ + 1


def test_a_worker_takes_of_each_queue_in_turn() -> None:
    """The consumer that a worker has, with whatever broker there is."""
    purge()
    for number in range(30):
        for task in (READ, FOLLOW, "engines.tasks.drive_run"):
            app.signature(task, args=(f"{number}",)).delay()
    app.signature(QUESTION, args=(1,)).delay()
    taken: list[str] = []

    def take(message: Message) -> None:
        taken.append(message.headers["task"])
        message.ack()

    with app.connection_for_read() as connection:
        consumer = Consumer(connection, [*app.amqp.queues.values()], on_message=take)
        consumer.qos(prefetch_count=1)
        with consumer:
            while QUESTION not in taken:
                connection.drain_events(timeout=30)
    purge()
    assert len(taken) <= len(app.amqp.queues)


@pytest.mark.full
def test_each_queue_gets_its_own_messages_only() -> None:
    exchanges = {queue.exchange.name for queue in app.amqp.queues.values()}
    assert len(exchanges) == len(app.amqp.queues) == 3
    for name, route in app.conf.task_routes.items():
        app.loader.import_default_modules()
        assert name in app.tasks
        assert route["queue"] in app.amqp.queues


@pytest.mark.full
def test_what_is_noted_while_it_is_read_is_read_again(quiet: Study) -> None:
    project, seen = quiet.project, list[list[str]]()

    def read(_project: Project, ids: Sequence[str]) -> None:
        seen.append([*ids])
        if len(seen) == 1:
            change_handlers.note_changed_subject(project, "P001")
            # Another task finds this one at work and leaves the row to it.
            assert change_handlers.read_changed_subjects(project, read) is False

    change_handlers.note_changed_subject(project, "P001")
    assert change_handlers.read_changed_subjects(project, read) is True
    assert change_handlers.read_changed_subjects(project, read) is False
    assert seen == [["P001"], ["P001"]]
    assert not ChangedSubject.objects.exists()


@pytest.mark.full
def test_an_outage_keeps_the_rows_for_the_sweeper(quiet: Study) -> None:
    flood(quiet, 3)
    quiet.stand_ins.fault("redcap", "status", 403, times=None)
    drain()
    assert ChangedSubject.objects.count() == 3
    assert SyncState.objects.get(project=quiet.project).drained_until is None
    quiet.stand_ins.post("reset", {})
    tasks.sweep_runs()
    assert READ in drain()
    assert not ChangedSubject.objects.exists()


@pytest.mark.full
def test_one_that_fails_stops_no_other(quiet: Study) -> None:
    for number in range(change_handlers.AT_ONCE_READ + 1):
        change_handlers.note_changed_subject(quiet.project, f"X{number}")

    def fail(_project: Project, _ids: Sequence[str]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change_handlers.read_changed_subjects(quiet.project, fail)
    assert ChangedSubject.objects.count() == 1
    tasks.sweep_runs()
    drain()
    assert not ChangedSubject.objects.exists()


@pytest.mark.full
def test_what_follows_comes_in_slices_too(quiet: Study) -> None:
    Reading.objects.filter(is_current=True).update(is_followed=False)
    subjects = Reading.objects.filter(is_followed=False).values("record_id").distinct().count()
    app.signature(FOLLOW, args=(str(quiet.project.pk),)).delay()
    question(quiet)
    order = [*running()]
    assert order.count(FOLLOW) == subjects // change_handlers.AT_ONCE + 1
    assert order.index(QUESTION) <= 2
    assert not Reading.objects.filter(is_followed=False).exists()


@pytest.mark.full
def test_every_subject_of_a_flood_starts_its_skill_once(quiet: Study) -> None:
    nodes = {"a": hard(rules=[rule()])}
    new_skill(quiet, nodes, "listens", trigger_type="event", event="record_changed")
    ids = flood(quiet, 30)
    flood(quiet, 30)
    drain(2000)
    runs = TaskRun.objects.filter(skill__skill_type="listens").values_list("record_id", flat=True)
    assert sorted(runs) == sorted(ids)


@pytest.mark.full
def test_a_process_that_is_ended_leaves_what_it_was_reading(quiet: Study) -> None:
    flood(quiet, 30)

    def ended(project: Project, ids: Sequence[str]) -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        change_handlers.read_changed_subjects(quiet.project, ended)
    assert ChangedSubject.objects.count() == 30


@pytest.mark.full
def test_what_cannot_be_worked_on_blocks_nobody(quiet: Study) -> None:
    flood(quiet, 30)

    def broken(project: Project, ids: Sequence[str]) -> None:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        change_handlers.read_changed_subjects(quiet.project, broken)
    assert ChangedSubject.objects.count() == 30 - change_handlers.AT_ONCE_READ
