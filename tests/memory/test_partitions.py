"""The flow log by month on PostgreSQL (decisions.md, "flow log at scale")."""

from __future__ import annotations

from datetime import date, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.db.models import Model
from django.utils.timezone import localdate
from hypothesis import given
from hypothesis import strategies as st

from memory.log import partitions
from memory.models import ConversationHistory
from memory.tasks import prepare_partitions
from tests.house.kit import make_project

pytestmark = pytest.mark.database

needs_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="NOT RUN: PostgreSQL (set DATABASE_URL)"
)


@given(st.dates(date(1990, 1, 1), date(2100, 12, 31)), st.integers(1, 40))
def test_months_follow_each_other_without_gap(first: date, count: int) -> None:
    found = partitions.months(first, count)
    assert len(found) == count
    assert found[0][0] == first.replace(day=1)
    for (_, end), (start, _) in pairwise(found):
        assert end == start
    for start, end in found:
        assert start.day == end.day == 1
        assert 28 <= (end - start).days <= 31


def test_a_year_ends() -> None:
    assert partitions.months(date(2026, 11, 30), 3) == [
        (date(2026, 11, 1), date(2026, 12, 1)),
        (date(2026, 12, 1), date(2027, 1, 1)),
        (date(2027, 1, 1), date(2027, 2, 1)),
    ]


@pytest.mark.parametrize("default", ["", "DEFAULT gen_random_uuid() "])
def test_the_key_gets_the_time_as_postgresql_demands(default: str) -> None:
    key = f'"id" uuid {default}NOT NULL'
    sql = f'CREATE TABLE "t" ({key} PRIMARY KEY, "created_at" timestamptz NOT NULL)'
    assert partitions.partitioned(sql) == (
        f'CREATE TABLE "t" ({key}, "created_at" timestamptz NOT NULL, '
        'PRIMARY KEY ("id", "created_at")) PARTITION BY RANGE ("created_at")'
    )


@pytest.mark.parametrize("sql", ["", 'CREATE TABLE "t" ("id" bigint NOT NULL PRIMARY KEY)'])
def test_another_key_is_an_error_not_an_unpartitioned_table(sql: str) -> None:
    with pytest.raises(ValueError, match="primary key"):
        partitions.partitioned(sql)


@pytest.mark.django_db
def test_nothing_points_at_the_flow_log() -> None:
    """A foreign key would keep months from being dropped."""
    pointing = [
        f"{relation.related_model.__name__}.{relation.field.name}"
        for relation in ConversationHistory._meta.related_objects
        if isinstance(relation.related_model, type) and issubclass(relation.related_model, Model)
    ]
    assert pointing == []


@pytest.mark.django_db
def test_preparing_is_repeatable_everywhere() -> None:
    prepare_partitions()
    assert partitions.prepare() == []


def partition_of(row: ConversationHistory) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT tableoid::regclass::text FROM {partitions.TABLE} WHERE id = %s", [row.pk]
        )
        return str(cursor.fetchone()[0])


def row_at(moment: datetime) -> ConversationHistory:
    project = make_project(f"M{moment:%Y%m%d%H%M%S}")
    return ConversationHistory.objects.create(
        project=project, user_id="zhangyi", role="user", content="?", created_at=moment
    )


@needs_postgresql
@pytest.mark.django_db
def test_rows_land_in_their_month() -> None:
    today = localdate()
    for start, _ in partitions.months(today, 3):
        moment = datetime(start.year, start.month, 15, 12, tzinfo=ZoneInfo("UTC"))
        assert partition_of(row_at(moment)) == f"{partitions.TABLE}_{start:%Y_%m}"


@needs_postgresql
@pytest.mark.django_db
def test_a_row_of_a_month_that_was_not_prepared_is_kept_all_the_same() -> None:
    assert (
        partition_of(row_at(datetime(2019, 5, 5, tzinfo=ZoneInfo("UTC"))))
        == f"{partitions.TABLE}_default"
    )


@needs_postgresql
@pytest.mark.django_db
def test_a_month_whose_rows_came_first_does_not_keep_the_next_ones_from_being_made() -> None:
    first = partitions.months(localdate(), 6)[4][0]
    row_at(datetime(first.year, first.month, 10, tzinfo=ZoneInfo("UTC")))
    made = partitions.prepare(6)
    assert f"{partitions.TABLE}_{first:%Y_%m}" not in made
    assert len(made) == 2


@needs_postgresql
@pytest.mark.django_db
def test_more_months_can_be_made_and_their_rows_found_through_the_table() -> None:
    made = partitions.prepare(6)
    assert len(made) == 3
    start = partitions.months(localdate(), 6)[5][0]
    row = row_at(datetime(start.year, start.month, 1, tzinfo=ZoneInfo("UTC")))
    assert partition_of(row) == made[-1]
    assert ConversationHistory.objects.get(pk=row.pk).content == "?"
    assert ConversationHistory.objects.filter(created_at__gte=row.created_at).count() == 1
