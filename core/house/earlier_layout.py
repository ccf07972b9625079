"""A database that was made before the apps house, llm and study stood by themselves.

Their migrations, and the first ones of the other apps, were then written anew: what a database of commit
b217bbc has differs from where they begin by one table and by what belongs to which app. Landed migrations
are not edited again (tests/upgrade), so this is the only such place.
"""

from __future__ import annotations

import json

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model
from django.utils.translation import gettext as _

from core.house.crypto import decrypt

LEAVES = {
    ("engines", "0012_open_questions"),
    ("memory", "0007_encrypted"),
    ("projects", "0016_models_by_purpose"),
    ("skills", "0002_documented_defaults"),
    ("study", "0001_readings"),
    ("wechat", "0008_table_of_an_answer"),
}
STANDING = [("house", "0001_initial"), ("llm", "0001_initial"), ("study", "0001_initial")]
MOVED = {
    "house": ("projects", ["brokermessage", "cronfiring", "heartbeat"]),
    "llm": ("engines", ["llmusage"]),
    "study": (
        "projects",
        [
            *("dictionary", "protocolchunk", "protocoldocument", "subject"),
            *("syncstate", "visitplanentry"),
        ],
    ),
}
EVENTS = {
    "asked": "review_requested",
    "joined": "review_joined",
    "decided": "review_decided",
    "finished": "run_finished",
}


class UnknownMigrations(Exception):
    """The database holds migrations that are not in this tree."""


def adopt(connection: BaseDatabaseWrapper) -> None:
    """Bring a database of that layout to the first migrations of today; any other is left as it is.

    A second call changes nothing. Raises UnknownMigrations for one of a state that never landed, of one
    before that layout, or of a newer version.
    """
    recorder = MigrationRecorder(connection)
    recorded = set(recorder.applied_migrations())
    executor = MigrationExecutor(connection)
    if recorded >= LEAVES and not recorded & {*STANDING}:
        with connection.schema_editor() as editor:  # in one transaction
            _stand_apart(editor, executor)
            for one in recorded - _known(executor):
                recorder.record_unapplied(*one)
            for one in STANDING:
                recorder.record_applied(*one)
        return
    if unknown := sorted(recorded - _known(executor)):
        names = ", ".join(".".join(one) for one in unknown[:5])
        raise UnknownMigrations(
            _(
                "The database was made by another version: it holds migrations that this one does not "
                "know (%(names)s). Nothing was changed. Update with the version that made it, or a later "
                "one; a database from before 23 November 2026 is first migrated by commit b217bbc."
            )
            % {"names": names}
        )


def _known(executor: MigrationExecutor) -> set[tuple[str, str]]:
    """Every migration there is, and those that it replaces; of packages whatever is recorded."""
    loader = executor.loader
    known = {*loader.disk_migrations}
    for migration in loader.disk_migrations.values():
        known.update(migration.replaces)
    ours = {app.label for app in apps.get_app_configs() if "site-packages" not in app.path}
    return known | {one for one in loader.applied_migrations if one[0] not in ours}


def _stand_apart(editor: BaseDatabaseSchemaEditor, executor: MigrationExecutor) -> None:
    state = executor.loader.project_state(("engines", "0001_initial")).apps
    editor.create_model(state.get_model("engines", "RunEvent"))
    with editor.connection.cursor() as cursor:
        for app, (before, models) in MOVED.items():
            for model in models:
                cursor.execute(
                    "UPDATE django_content_type SET app_label = %s WHERE app_label = %s AND model = %s",
                    [app, before, model],
                )
    _move_events(editor.connection, state.get_model("engines", "RunEvent"))


def _move_events(connection: BaseDatabaseWrapper, run_event: type[Model]) -> None:
    """What had not been told of a run was a message of the outbox; it is told from its own table now."""
    outbox = "FROM iit_wechat_outbox WHERE kind = 'event'"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT project_id, payload {outbox} AND status = 'pending' ORDER BY id")
        waiting = cursor.fetchall()
    for project, payload in waiting:
        event = json.loads(decrypt(payload))["message"]
        run_event._default_manager.using(connection.alias).create(
            project_id=project,
            run_id=event["run"],
            review_id=event.get("review"),
            version=event.get("version"),
            kind=EVENTS[event["what"]],
        )
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE {outbox}")
