"""Blinding that is switched on later hides what was made before; switched off, all is there again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from engines.models import AgentTrace, PendingAction, TaskRun
from memory.models import ConversationHistory, ProjectMemory, WeeklyReport
from projects.models import AuditEntry, Member
from study.blinding import services
from tests.study.blinding import life, prover, twins, workflows
from tests.study.blinding.conftest import Open
from tests.support.study import Study

TABLES = (TaskRun, PendingAction, AgentTrace, ConversationHistory, WeeklyReport, AuditEntry)


def seen(study: Study, name: str) -> set[str]:
    """Tables of which the reader sees a row that is there already."""
    member = Member.objects.select_related("project").get(pk=study[name].pk)
    user = User.objects.get(username=name)
    found = {table.__name__ for table in TABLES if table.objects.for_member(member).exists()}
    assert found == {table.__name__ for table in TABLES if table.objects.for_user(user).exists()}
    return found


@pytest.fixture
def lived(open_twin: Open) -> Study:
    """An open study in which something happened."""
    study = open_twin("a")
    skill = life.skill(study, "qc_process:level", workflows.TELLING)
    for record_id in life.SUBJECTS:
        life.run_of(study, skill, record_id)
    prover.asked("ask", [{"user": "admin", "text": "P001的药盒号"}], "--json", lines=True)
    return study


@pytest.mark.full
def test_old_rows_are_hidden_from_the_blinded_until_the_study_is_open_again(lived: Study) -> None:
    memory = ProjectMemory.objects.get(project=lived.project)
    content = f"{memory.content}\nP003 在试验组"
    ProjectMemory.objects.filter(pk=memory.pk).update(content=content)
    before = seen(lived, "admin")
    assert before >= {"TaskRun", "PendingAction", "ConversationHistory", "AuditEntry"}
    services.switch_on(project=lived.project, fields=twins.fields(), actor="test")
    hidden = seen(lived, "admin")
    assert hidden <= {"AuditEntry"}
    member = Member.objects.select_related("project").get(pk=lived["admin"].pk)
    rows = AuditEntry.objects.for_member(member)
    assert {row.action for row in rows} <= {"blinding.on"}
    memory.refresh_from_db()
    assert "试验组" not in memory.content
    assert "P003 在" in memory.content
    services.switch_off(project=lived.project, actor="test", reason="end")
    assert seen(lived, "admin") == before


def test_a_word_that_is_added_later_hides_again_and_the_same_words_do_not(study: Study) -> None:
    first = study.project.blinded_since
    services.switch_on(project=study.project, fields=twins.fields(), actor="test")
    assert study.project.blinded_since == first
    more = twins.fields()
    more[0].words += "\n丙药"
    services.switch_on(project=study.project, fields=more, actor="test")
    assert first
    assert study.project.blinded_since
    assert study.project.blinded_since > first
