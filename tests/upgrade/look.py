"""`python -m tests.upgrade.look`: migrate the database of the environment, twice; what it is then, as JSON."""

from __future__ import annotations

import json
import os

import django
from django.core.management import call_command


def look() -> dict[str, object]:
    from django.apps import apps
    from django.contrib.contenttypes.models import ContentType
    from django.db import connection

    from projects import audit_watch

    for _ in range(2):
        call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        tables = {
            table: sorted(
                (column.name, str(column.type_code), column.display_size, column.null_ok)
                for column in connection.introspection.get_table_description(cursor, table)
            )
            for table in connection.introspection.table_names(cursor)
        }
    return {
        "tables": tables,
        # Every row is read, and with it every encrypted cell opened.
        "rows": {
            model._meta.label: len([*model._base_manager.all()]) for model in apps.get_models()
        },
        "types": sorted(f"{one.app_label}.{one.model}" for one in ContentType.objects.all()),
        "faults": [str(fault) for fault in audit_watch.verify()],
    }


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
    django.setup()
    print(json.dumps(look()))
