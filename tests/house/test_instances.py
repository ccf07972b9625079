"""Rows made without `Model.__init__` are the rows that it makes."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.db import models

from engines.models import SopStep, TaskRun
from house.instances import row_of, stored_row
from projects.models import AuditEntry, Member
from tests.house.kit import make_member, make_project
from wechat.models import OutboxMessage

OURS = [model for model in apps.get_models() if model._meta.db_table.startswith("iit_")]


def columns(row: models.Model) -> dict[str, Any]:
    """Without what is made anew for each row: keys, random ids and times."""
    fields = row._meta.concrete_fields
    return {
        field.attname: getattr(row, field.attname)
        for field in fields
        if not (field.primary_key or isinstance(field, models.DateTimeField | models.UUIDField))
        and "secret" not in field.attname
    }


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_a_row_starts_with_what_the_model_says(model: type[models.Model]) -> None:
    made, usual = row_of(model), model()

    assert columns(made) == columns(usual)
    assert type(made.pk) is type(usual.pk)
    assert made._state.adding is usual._state.adding is True
    assert made._state.db is usual._state.db is None
    assert made.__dict__.keys() == usual.__dict__.keys()


def test_two_rows_share_nothing_that_can_change() -> None:
    first, second = row_of(TaskRun), row_of(TaskRun)

    assert first.pk != second.pk
    assert first._state is not second._state
    for model in OURS:
        one, other = row_of(model), row_of(model)
        for name, value in one.__dict__.items():
            if isinstance(value, dict | list | set):
                assert value is not other.__dict__[name], f"{model.__name__}.{name}"


def test_what_is_given_counts_and_a_wrong_name_is_an_error() -> None:
    step = row_of(SopStep, seq=3, node="a", result={"x": 1})
    assert (step.seq, step.node, step.result) == (3, "a", {"x": 1})
    with pytest.raises(TypeError, match="nodes"):
        row_of(SopStep, nodes="a")
    with pytest.raises(TypeError, match="project"):
        row_of(OutboxMessage, project=None)
    assert row_of(AuditEntry, number=1).number == 1


@pytest.mark.django_db
def test_a_stored_row_reads_what_it_was_not_given() -> None:
    member = make_member(make_project(), "zhangyi", site="site_a")
    found = stored_row(Member, ["id", "wecom_userid"], (member.pk, "zhangyi"))

    assert not found._state.adding
    assert (found.pk, found.wecom_userid, found.site) == (member.pk, "zhangyi", "site_a")
    assert found == member
    found.site = "site_b"
    found.save(update_fields=["site"])
    assert Member.objects.get().site == "site_b"
