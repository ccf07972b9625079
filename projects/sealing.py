"""For migrations: the rows of columns that are encrypted from there on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import migrations, models
from django.db.models.functions import Cast

from projects.fields import EncryptedJSONField

Columns = Mapping[str, Sequence[str]]


def seal_rows(app: str, columns: Columns) -> migrations.RunPython:
    """Encrypt what stands in clear in the `columns` {model: names}, which are encrypted ones already."""

    def forwards(apps: Any, _editor: Any) -> None:
        for model, names in _models(apps, app, columns):
            for pk, stored in _stored(model, names):
                values = {name: _value(model, name, text) for name, text in stored.items()}
                model.objects.filter(pk=pk).update(**values)

    def backwards(apps: Any, _editor: Any) -> None:
        for model, names in _models(apps, app, columns):
            for row in list(model.objects.only(*names)):
                values = {name: _clear(row, name) for name in names}
                model.objects.filter(pk=row.pk).update(**values)

    return migrations.RunPython(forwards, backwards)


def _models(apps: Any, app: str, columns: Columns) -> list[tuple[Any, Sequence[str]]]:
    return [(apps.get_model(app, name), names) for name, names in columns.items()]


def _stored(model: Any, names: Sequence[str]) -> list[tuple[Any, dict[str, str]]]:
    """Each row's key, and what its columns hold as it is: read as encrypted ones it would be an error."""
    raw = [Cast(name, models.TextField()) for name in names]
    rows = list(model.objects.values_list("pk", *raw))
    return [(pk, dict(zip(names, texts, strict=True))) for pk, *texts in rows]


def _value(model: Any, name: str, text: str | None) -> Any:
    is_json = isinstance(model._meta.get_field(name), EncryptedJSONField)
    return json.loads(text) if text is not None and is_json else text


def _clear(row: Any, name: str) -> Any:
    """A column's value as it goes into the database in clear."""
    value = getattr(row, name)
    is_json = isinstance(row._meta.get_field(name), EncryptedJSONField)
    text = json.dumps(value, ensure_ascii=False) if is_json and value is not None else value
    return models.Value(text, output_field=models.TextField())
