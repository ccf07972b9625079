"""The demo study in the test database."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.utils.timezone import now

from demo import runfile, seed, stand_ins
from projects.models import Member, Project
from study import dictionary, roster
from study.models import Dictionary, Reading, ReadingState, SyncState
from tests.support.stand_ins import StandIns

SEEDED_APPS = ("auth", "django_celery_beat", "projects", "study", "skills", "memory")


@dataclass
class Study:
    """The seeded study, its people and the stand-ins it talks to."""

    project: Project
    stand_ins: StandIns
    run: dict[str, Any]
    members: dict[str, Member] = field(default_factory=dict)

    def __getitem__(self, userid: str) -> Member:
        return self.members[userid]


@dataclass
class Seeded:
    """What the first seeding of this process left in the tables; later tests get a copy of it."""

    run: dict[str, Any]
    rows: list[tuple[type[models.Model], list[models.Model]]]

    @classmethod
    def now(cls, run: dict[str, Any]) -> Seeded:
        found = [(model, list(model._base_manager.all())) for model in _models()]
        return cls(run, [(model, rows) for model, rows in found if rows])

    @cached_property
    def statements(self) -> list[tuple[str, Any]]:
        """What inserts the rows under their own keys; rolled back, because it is only to be had by doing it."""
        told: list[tuple[str, Any]] = []

        def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            told.append((sql, params))
            return execute(sql, params, many, context)

        with transaction.atomic(), connection.execute_wrapper(note):
            for model, rows in self.rows:
                model._base_manager.bulk_create(rows, ignore_conflicts=True)
            transaction.set_rollback(True)
        touched = [model for model, _rows in self.rows]
        resets = connection.ops.sequence_reset_sql(no_style(), touched)
        inserts = [(sql, params) for sql, params in told if sql.startswith("INSERT")]
        return [*inserts, *((sql, None) for sql in resets)]

    def copy(self) -> None:
        """Put the rows into the tables, so that only the database does the work."""
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute(self._as_one)
                return
            for sql, params in self.statements:
                cursor.execute(sql, params)

    @cached_property
    def _as_one(self) -> str:
        with connection.cursor() as cursor:
            return ";".join(cursor.mogrify(sql, params) for sql, params in self.statements)


_first: list[Seeded] = []


def _models() -> list[type[models.Model]]:
    """Tables of the seeding, those that others point at first."""
    found = (model for app in SEEDED_APPS for model in apps.get_app_config(app).get_models())
    todo = [model for model in found if model not in (Permission, Reading, ReadingState)]
    done: list[type[models.Model]] = []
    while todo:
        for model in todo:
            needs = {f.related_model for f in model._meta.fields if f.is_relation} - {model}
            if not needs & set(todo):
                done.append(model)
                todo.remove(model)
                break
    return done


def seed_study(servers: StandIns) -> Study:
    """Seed, tell the stand-ins, read dictionary and subjects."""
    if _first and not Project.objects.exists():
        run = _first[0].run
        runfile.save(run)
        _first[0].copy()
        # As if it had been read just now: a suite takes longer than a roster stays fresh.
        Dictionary.objects.update(read_at=now())
        SyncState.objects.update(roster_at=now())
        stand_ins.configure(run, det_url="", today=seed.day(run))
    else:
        run = _seed()
        if not _first:
            _first.append(Seeded.now(run))
    return _of(run, servers)


def seed_afresh(servers: StandIns) -> Study:
    """Seed another study than the demo's; no later test gets a copy of it."""
    return _of(_seed(), servers)


def _of(run: dict[str, Any], servers: StandIns) -> Study:
    members = {m.wecom_userid: m for m in Member.objects.select_related("project", "person__user")}
    return Study(Project.objects.get(code=seed.CODE), servers, run, members)


def _seed() -> dict[str, Any]:
    run = runfile.load()
    today = seed.day(run)
    run["demo_today"] = today.isoformat()
    runfile.save(run)
    project = seed.seed(run, today)
    stand_ins.configure(run, det_url="", today=today)
    dictionary.refresh(project)
    roster.sync_roster(project)
    seed.fill(project, today)
    return run
