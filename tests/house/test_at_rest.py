"""What people say and what subjects are called stands nowhere in clear, in no table and no file.

Every column of every table is read as the database gives it, those to come as well: a column may hold free text
in clear only where CLEAR names it.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction
from django.test import Client
from pytest_django import Settings

from core.house.encrypted_fields import is_sealed
from engines import sop
from engines.models import PendingAction, Question
from memory.models import ConversationHistory, UserMemory
from projects import checks
from study import roster
from study.models import Subject
from tests.engines.sop import doors
from tests.engines.sop.kit import begin, change, qc, review_of, run_qc
from tests.house.kit import make_project
from tests.memory.agent.kit import extracted, item, save
from tests.support.chat import chat
from tests.support.study import Study
from tests.support.tasks import drain
from tests.wechat.working import outgoing, receive, work

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.django_db, pytest.mark.database]
SUBJECT = "P012"
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")

CLEAR = {
    "what every member of the study may read": {
        "iit_protocol_chunks.content",
        "iit_protocol_documents.text",
        "iit_protocol_uploads.text",
        "iit_dictionaries.answers",
        "iit_dictionaries.content",
    },
    "how the study is set up: names of fields, rules, the house's own words": {
        "iit_form_template_versions.field_schema",
        "iit_form_template_versions.keywords",
        "iit_blinded_fields.words",
        "iit_form_templates.field_schema",
        "iit_form_templates.keywords",
        "iit_projects.quality_limits",
        "iit_projects.synonyms",
        "iit_projects.synopsis",
        "iit_quality_rules.logic",
        "iit_quality_rules.reason",
        "iit_quality_rules.rule",
        "iit_skill_drafts.config",
        "iit_skill_drafts.refused",
        "iit_skill_versions.config",
        "iit_skills.config",
        "iit_task_run.config",
    },
    "ids, names of fields, numbers and hashes, no text of anybody": {
        "iit_agent_trace.models_asked",
        "iit_api_tokens.scopes",
        "iit_agent_trace.replaced",
        "iit_batches.record_ids",
        "iit_protocol_uploads.warnings",
        "iit_broker_messages.body",
        "iit_conversation_history.entities",
        "iit_llm_check.found",
        "iit_model_acceptance.endpoints",
        "iit_llm_usage.replaced",
        "iit_memory_tombstones.evidence",
        "iit_reading_states.missing_columns",
        "iit_memory_tombstones.sketch",
        "iit_reviews.open_keys",
        "iit_pending_actions.witnesses",
        "iit_reviews.reviewers",
        "iit_user_profiles.completeness",
        "iit_wechat_outbox.notice",
        "iit_weekly_reports.metrics",
    },
    "de-identified knowledge of the study for every prompt, edited by people and searched": {
        "iit_agent_trace.left_out",
        "iit_project_memory.content",
        "iit_project_memory_versions.content",
        "iit_weekly_report_versions.content",
        "iit_weekly_reports.summary",
    },
    "the house's own words about a failure": {
        "iit_sync_state.error",
    },
    "questions and answers about the invented study of the demo, of nobody": {
        "iit_model_acceptance.cases",
    },
    "encrypted for WeCom": {
        "iit_wechat_inbox.passive_reply",
    },
    "sealed by the key ring itself, which the columns that seal rest on": {
        "iit_sealed_keys.value",
    },
}
"""Columns that hold text in clear, by the reason why they may."""


def cells() -> Iterator[tuple[str, bytes]]:
    """`table.column` and content of all that the database holds."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        for table in tables:
            described = connection.introspection.get_table_description(cursor, table)
            for column in [one.name for one in described]:
                cursor.execute(f'SELECT CAST("{column}" AS text) FROM "{table}"')
                for (value,) in cursor.fetchall():
                    if value is not None:
                        yield f"{table}.{column}", str(value).encode("utf-8", "surrogatepass")


def says(content: bytes, word: str) -> bool:
    """Whether a word stands there, as it is or in base64, which is no encryption."""
    wanted = word.encode()
    if wanted in content:
        return True
    return any(wanted in decoded(part) for part in _BASE64.findall(content))


def decoded(part: bytes) -> bytes:
    try:
        return base64.b64decode(part + b"=" * (-len(part) % 4), altchars=None)
    except (binascii.Error, ValueError):
        return b""


def places(*words: str) -> set[str]:
    """The columns in which one of the words stands."""
    return {name for name, content in cells() for word in words if says(content, word)}


def files() -> Iterator[tuple[str, bytes]]:
    """The database's own files, byte for byte; none where it is a server's."""
    if connection.vendor == "sqlite":
        name = Path(connection.settings_dict["NAME"])
        for path in name.parent.glob(f"{name.name}*"):
            yield path.name, path.read_bytes()


@pytest.fixture
def word() -> str:
    return f"canary{secrets.token_hex(6)}"


@pytest.fixture
def phone(study: Study) -> str:
    """A number that REDCap marks as an identifier."""
    number = f"139{secrets.randbelow(10**8):08}"
    change(study, SUBJECT, "screening_arm_1", phone=number)
    roster.sync_roster(study.project)
    assert number in Subject.objects.get(record_id=SUBJECT).identifiers
    return number


def by_api(study: Study, word: str, phone: str) -> None:
    """Asked, answered, fetched."""
    said = chat(doors.api("zhangyi"), text=f"{SUBJECT} 的电话是 {phone} 吗?{word}")
    assert said.status_code == 200, said.content
    assert any(word in row.text for row in Question.objects.all())


def by_wecom(study: Study, word: str, phone: str) -> None:
    """Several tasks in one message, of which one is remembered."""
    receive(f"查一下 {SUBJECT} 的数据, 电话 {phone}; 请记住: {word} 先说结论")
    work()
    receive(f"{word} 你好", user="wanghushi")
    work()
    assert outgoing("zhangyi")
    assert any(word in row.content for row in ConversationHistory.objects.all())


def by_memory(study: Study, word: str, phone: str) -> None:
    """A fact, its newer value, and two at once."""
    study.stand_ins.script(extracted(item("currentJobTitle", word, f"我现在做{word}")))
    save("zhangyi", f"我现在做{word}, 电话 {phone}")
    assert any(word in row.content for row in UserMemory.objects.all())


def by_reasons(study: Study, word: str, phone: str) -> None:
    """What people type when they decide, cancel and close."""
    # Two subjects: what was rejected of one is not asked again.
    decided = (("reject", doors.by_api, SUBJECT), ("approve", doors.by_page, "P002"))
    for decision, door, subject in decided:
        review = review_of(run_qc(study, subject))
        door(review, doors.Said(decision=decision, reason=f"{word} {phone}"))
        review.refresh_from_db()
        assert word in review.reason
    run = begin(study, qc(study), "P001")
    sop.cancel(run=run, actor=study["zhangyi"], reason=f"{word} {phone}")
    finding = PendingAction.objects.filter(open_key__isnull=False).first()
    assert finding
    closed = {"resolution": f"{word} {phone}"}
    url = f"/api/v1/pending-actions/{finding.pk}/resolve/"
    assert doors.api("zhangyi").post(url, closed, format="json").status_code == 200


def by_workflow(study: Study, word: str, phone: str) -> None:
    """A question and the values that it shows."""
    run_qc(study, SUBJECT)


WAYS = {way.__name__: way for way in (by_api, by_wecom, by_memory, by_reasons, by_workflow)}


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", WAYS)
def test_nothing_stands_in_clear(
    study: Study, word: str, phone: str, way: str, settings: Settings
) -> None:
    settings.MEMORY_SCHEMA = "immigration"
    WAYS[way](study, word, phone)
    drain()
    assert places(word, phone) == set()
    for name, content in files():
        assert word.encode() not in content, name
        assert phone.encode() not in content, name


@pytest.mark.full
@pytest.mark.parametrize("told", ["{}", "x {} y", '{{"a": ["{}"]}}'])
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_the_search_sees_what_stands_in_clear(word: str, told: str, is_wrapped: bool) -> None:
    text = told.format(word)
    text = base64.b64encode(text.encode()).decode() if is_wrapped else text
    make_project(synopsis=text)
    assert places(word) == {"iit_projects.synopsis"}


def test_only_named_columns_hold_free_text_in_clear() -> None:
    """A new column of text is encrypted, or says here why it is not."""
    open_to_read = {
        f"{model._meta.db_table}.{field.column}"
        for model in apps.get_models()
        if model._meta.db_table.startswith("iit_")
        for field in model._meta.concrete_fields
        if isinstance(field, models.TextField | models.JSONField) and not is_sealed(field)
    }
    assert open_to_read == set().union(*CLEAR.values())


@pytest.mark.full
def test_the_triggers_secret_is_not_in_the_table() -> None:
    project = make_project()
    assert places(project.redcap_det_secret) == set()
    assert Client().post(f"/redcap/det/{project.redcap_det_secret}/").status_code == 200
    assert Client().post(f"/redcap/det/{project.redcap_det_digest}/").status_code == 404
    with pytest.raises(IntegrityError), transaction.atomic():
        make_project("BETA", redcap_det_secret=project.redcap_det_secret)


@pytest.mark.full
@pytest.mark.parametrize("command", ["migrate", "createcachetable"])
def test_what_is_written_belongs_to_its_owner_alone(command: str, tmp_path: Path) -> None:
    """The folder and files of before as well."""
    var = tmp_path / "house"
    var.mkdir(mode=0o755)
    (var / "old.log").touch(mode=0o644)
    env = os.environ | {"VAR_DIR": str(var), "DEBUG": "1", "DATABASE_URL": "", "REDIS_URL": ""}
    started = ["sh", "-c", f"umask 022; exec {sys.executable} manage.py {command} --verbosity 0"]
    subprocess.run(started, cwd=ROOT, env=env, check=True, timeout=300)
    found = {path.name: path.stat().st_mode & 0o777 for path in (var, *var.rglob("*"))}
    assert {"iit.sqlite3", "old.log"} <= found.keys()
    assert {name for name, mode in found.items() if mode & 0o077} == set()


def test_a_folder_that_others_read_is_said(settings: Settings) -> None:
    settings.VAR_DIR.chmod(0o700)
    assert checks.private_folder() == []
    settings.VAR_DIR.chmod(0o750)
    assert [found.id for found in checks.private_folder()] == ["iit.W004"]
