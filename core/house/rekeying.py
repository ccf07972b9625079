"""Sealing what is encrypted anew, after a new first key (`manage.py rekey`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.db import connection, models, transaction
from django.db.models.functions import Cast

from core.house import audit_guard, crypto, key_ring
from core.house.encrypted_fields import Unopened, is_sealed

ATTEMPTS = 3


@dataclass
class Table:
    """What was done to a table."""

    name: str
    rows: int = 0
    sealed: int = 0
    unopened: int = 0
    missed: int = 0
    """Cells that others wrote at each attempt, maybe with an older key: the next run takes them."""


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
    yield _second_factors()
    key_ring.renew()


def _second_factors() -> Table:
    """Secrets of second factors, which allauth keeps as parts of a JSON column (projects.login.adapters)."""
    done = Table(Authenticator._meta.db_table)
    for pk in [*Authenticator.objects.order_by("pk").values_list("pk", flat=True)]:
        done.rows += 1
        rows = Authenticator.objects.filter(pk=pk)
        for name in ("secret", "seed"):
            _seal(_Secret(rows, name), done)
    return done


class _Place(Protocol):
    """Where a sealed text stands."""

    def read(self) -> str:
        """What stands there now; blank where there is nothing any more."""

    def write(self, old: str, new: str) -> int:
        """Replace what was read, where it is still there; how many rows were."""


@dataclass
class _Secret:
    """A part of the JSON of a second factor."""

    rows: models.QuerySet[Authenticator]
    name: str
    _data: dict[str, Any] = field(default_factory=dict)

    def read(self) -> str:
        self._data = self.rows.values_list("data", flat=True).first() or {}
        return str(self._data.get(self.name, ""))

    def write(self, old: str, new: str) -> int:
        return self.rows.filter(data=self._data).update(data=self._data | {self.name: new})


@dataclass
class _Cell:
    """A column of a row."""

    rows: models.QuerySet[Any]
    name: str
    stored: str | None
    """As it was read with the batch; the first look needs no other."""

    def read(self) -> str:
        found, self.stored = self.stored, None
        if found is None:
            found = self.rows.values_list("stored", flat=True).first()
        return found or ""

    def write(self, old: str, new: str) -> int:
        return self.rows.filter(stored=old).update(**{self.name: Unopened.of(new)})


def _seal(place: _Place, done: Table) -> None:
    """Not over what somebody has written meanwhile: that is read again."""
    for _attempt in range(ATTEMPTS):
        token = place.read()
        try:
            if not token or crypto.place(token) == 0:
                return
            new = crypto.encrypt(crypto.decrypt(token))
        except crypto.DecryptionError:
            done.unopened += 1
            return
        if place.write(token, new):
            done.sealed += 1
            return
    done.missed += 1


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
                        _seal(
                            _Cell(_rows(model, name, row["pk"]), name, row[f"stored_{name}"]), done
                        )
        done.rows += len(some)
        if len(some) < batch:
            return done
        last = some[-1]["pk"]


def _rows(model: type[models.Model], name: str, pk: object) -> models.QuerySet[Any]:
    return model._base_manager.annotate(stored=Cast(name, models.TextField())).filter(pk=pk)


@contextmanager
def _unguarded(model: type[models.Model]) -> Iterator[None]:
    """The trail's triggers are gone inside of this transaction only; its hashes cover what the cells say."""
    if model._meta.db_table != audit_guard.TABLE:
        yield
        return
    audit_guard.remove(connection)
    yield
    audit_guard.install(connection)
