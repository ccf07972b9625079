"""Sealing what is encrypted anew, after a new first key (`manage.py rekey`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection, models, transaction
from django.db.models.functions import Cast

from core.house import audit_guard, crypto, key_ring
from core.house.encrypted_fields import Unopened, is_sealed


@dataclass
class Table:
    """What was done to a table."""

    name: str
    rows: int = 0
    sealed: int = 0
    unopened: int = 0


def rekey(batch: int) -> Iterator[Table]:
    """Seal every cell of every table that an older key sealed with the first one; last of all the ring.

    What is sealed with it already is passed over, so a run that was cut short goes on. The ring then has a new
    key for signatures, and keeps those of before to check them. Raises key_ring.WrongKeys.
    """
    key_ring.ring(fresh=True)
    for model in apps.get_models():
        names = [field.name for field in model._meta.concrete_fields if is_sealed(field)]
        if names and model._meta.managed and not model._meta.proxy:
            yield _table(model, names, batch)
    key_ring.renew()


def _table(model: type[models.Model], names: list[str], batch: int) -> Table:
    done = Table(model._meta.db_table)
    stored = {f"stored_{name}": Cast(name, models.TextField()) for name in names}
    rows = model._base_manager.annotate(**stored).order_by("pk").values("pk", *stored)
    last: Any = None
    while True:
        with transaction.atomic():
            some = list((rows.filter(pk__gt=last) if last is not None else rows)[:batch])
            with _unguarded(model):
                for row in some:
                    for name in names:
                        _cell(model, name, row, done)
        done.rows += len(some)
        if len(some) < batch:
            return done
        last = some[-1]["pk"]


def _cell(model: type[models.Model], name: str, row: dict[str, Any], done: Table) -> None:
    token = row[f"stored_{name}"]
    try:
        if not token or crypto.place(token) == 0:
            return
        new = Unopened.of(crypto.encrypt(crypto.decrypt(token)))
    except crypto.DecryptionError:
        done.unopened += 1
        return
    # Not what somebody has written meanwhile.
    cells = model._base_manager.annotate(stored=Cast(name, models.TextField()))
    done.sealed += cells.filter(pk=row["pk"], stored=token).update(**{name: new})


@contextmanager
def _unguarded(model: type[models.Model]) -> Iterator[None]:
    """The trail's triggers are gone inside of this transaction only; its hashes cover what the cells say."""
    if model._meta.db_table != audit_guard.TABLE:
        yield
        return
    audit_guard.remove(connection)
    yield
    audit_guard.install(connection)
