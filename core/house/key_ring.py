"""The keys behind digests and signatures: kept in the database, sealed with FIELD_ENCRYPTION_KEYS.

The ring outlives a rotation: digests are made with its last key, for ever the same one; signatures with its
first, and all of it checks them. It begins as the keys that were configured when it was first needed, so what
was made before there was a ring holds. And it is a canary: keys that do not open it are not this database's,
and nothing may be written with them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from contextlib import suppress
from functools import lru_cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection, models, transaction
from django.db.models.functions import Cast

from core.house import crypto

NAME = "ring"
_opened: dict[tuple[str, ...], tuple[bytes, ...]] = {}


class SealedColumn:
    """What marks a column of ciphertext (house.encrypted_fields)."""


class WrongKeys(Exception):
    """FIELD_ENCRYPTION_KEYS are not those that this database was written with."""


def ring(*, fresh: bool = False) -> tuple[bytes, ...]:
    """The keys, newest first; read once a process, with `fresh` again. Raises WrongKeys."""
    configured = tuple(settings.FIELD_ENCRYPTION_KEYS)
    if fresh or configured not in _opened:
        _opened[configured] = _read() or _begin()
    return _opened[configured]


def require() -> None:
    """Before something is sealed. Raises WrongKeys; nothing where the ring's table is still to be made."""
    if tuple(settings.FIELD_ENCRYPTION_KEYS) not in _opened and _is_there():
        ring()


def check() -> None:
    """Read the ring, or where there is none yet some rows: do the keys open them? Raises WrongKeys.

    Before the first migration nothing can be wrong. Raises DatabaseError where the database is away.
    """
    crypto.keys()
    if _is_there() and _read() is None:
        _try_rows()


def renew() -> None:
    """Seal the ring with the newest key, with a new first key: what is signed from now on is signed with it.

    Nothing where the newest key has sealed it already. Of two at once one renews it: the other's key would be
    lost, and with it all that it has signed.
    """
    before = ring(fresh=True)
    rows = _table()._base_manager.filter(name=NAME)
    stored = rows.values_list("value", flat=True).get()
    if crypto.place(stored) != 0:
        rows.filter(value=stored).update(value=_sealed((os.urandom(32), *before)))
    ring(fresh=True)


def digest(text: str) -> str:
    """Keyed hash for look-ups; the value cannot be read back from it, and no rotation changes it."""
    return hmac.new(ring()[-1], text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def sign(purpose: str, text: bytes) -> str:
    """HMAC under the newest key of the ring: nobody without the keys can make it."""
    return hmac.digest(_derived(ring()[0], purpose), text, "sha256").hex()


def is_signed(purpose: str, text: bytes, signature: str) -> bool:
    """Whether a key of the ring made this signature; another process may have renewed it meanwhile."""
    return _matches(ring(), purpose, text, signature) or _matches(
        ring(fresh=True), purpose, text, signature
    )


def _matches(keys: tuple[bytes, ...], purpose: str, text: bytes, signature: str) -> bool:
    given = signature.encode("utf-8", "surrogatepass")
    made = (hmac.digest(_derived(key, purpose), text, "sha256").hex().encode() for key in keys)
    return any(hmac.compare_digest(one, given) for one in made)


@lru_cache(maxsize=64)
def _derived(key: bytes, purpose: str) -> bytes:
    """A key for one purpose: what is signed for it is worth nothing for another, nor for encryption."""
    return HKDF(SHA256(), 32, salt=None, info=purpose.encode()).derive(key)


def _table() -> type[models.Model]:
    # By name: the columns of models.py seal what they hold with what stands here.
    return apps.get_model("house", "SealedKeys")


def _is_there() -> bool:
    return _table()._meta.db_table in connection.introspection.table_names()


def _read() -> tuple[bytes, ...] | None:
    stored = _table()._base_manager.filter(name=NAME).values_list("value", flat=True).first()
    if stored is None:
        return None
    try:
        return tuple(base64.b64decode(key) for key in json.loads(crypto.decrypt(stored)))
    except crypto.DecryptionError as error:
        raise WrongKeys("FIELD_ENCRYPTION_KEYS do not open what the database holds") from error


def _sealed(keys: tuple[bytes, ...]) -> str:
    return crypto.encrypt(json.dumps([base64.b64encode(key).decode() for key in keys]))


def _begin() -> tuple[bytes, ...]:
    _try_rows()
    new = {"value": _sealed(crypto.keys())}
    _table()._base_manager.get_or_create(name=NAME, defaults=new)
    return _read() or crypto.keys()


def _try_rows() -> None:
    """The oldest and the newest row of every sealed column, where there are any. Raises WrongKeys."""
    for model in apps.get_models():
        sealed = [
            field.name for field in model._meta.concrete_fields if isinstance(field, SealedColumn)
        ]
        for name in sealed:
            try:
                with transaction.atomic():
                    stored = _ends(model, name)
            except DatabaseError:  # a later migration makes this column
                continue
            for token in stored:
                with suppress(crypto.DecryptionError):  # a cell that somebody has changed
                    if crypto.place(token) is None:
                        raise WrongKeys(f"FIELD_ENCRYPTION_KEYS do not open {model._meta.db_table}")


def _ends(model: type[models.Model], name: str) -> list[str]:
    rows = model._base_manager.annotate(stored=Cast(name, models.TextField())).exclude(
        models.Q(stored="") | models.Q(stored=None)
    )
    return [
        token
        for order in ("pk", "-pk")
        for token in rows.order_by(order).values_list("stored", flat=True)[:1]
    ]
