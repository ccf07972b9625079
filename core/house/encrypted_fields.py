"""Columns with a rule of their own: text that is encrypted at rest, keys that the database makes."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import Any

from django.core.exceptions import FieldError
from django.db import models
from django.utils.translation import gettext as _

from core.house.crypto import DecryptionError, decrypt, encrypt
from core.house.key_ring import SealedColumn, require

logger = logging.getLogger(__name__)


_reading: ContextVar[bool] = ContextVar("reading", default=False)


class Unopened(str):
    """Stands for a cell that no key opens; saved again, it is the ciphertext that was there."""

    token: str

    @classmethod
    def of(cls, token: str) -> Unopened:
        """What a reader sees in its place."""
        new = cls(_("[cannot be decrypted]"))
        new.token = token
        return new


class UnopenedJSON(Unopened):
    """The same for a value with parts: it can be shown, and who asks for a part gets the error."""

    def __iter__(self) -> Iterator[str]:
        raise DecryptionError("no configured key opens this value")

    def __getitem__(self, key: Any) -> Any:
        raise DecryptionError("no configured key opens this value")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise DecryptionError("no configured key opens this value")


@contextmanager
def reading() -> Iterator[None]:
    """While a page is shown, a cell that cannot be opened is an `Unopened`, and the others are shown."""
    before = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(before)


def json_in(text: str) -> Any:
    """The value of a column of text that holds JSON. Raises house.crypto.DecryptionError."""
    if isinstance(text, Unopened):
        raise DecryptionError("no configured key opens this value")
    return json.loads(text)


def _open(token: str) -> str:
    try:
        return decrypt(token)
    except DecryptionError:
        if not _reading.get():
            raise
        logger.error("a cell cannot be decrypted")
        return Unopened.of(token)


def _seal(text: str) -> str:
    require()
    return encrypt(text)


class _Sealed(SealedColumn):
    """A column of ciphertext: look-ups are refused.

    A look-up would compare plain text with ciphertext and find nothing: that silence is what we refuse.
    """

    name: str

    def get_lookup(self, lookup_name: str) -> Any:
        """Only `isnull`. Raises FieldError for everything else."""
        if lookup_name == "isnull":
            return super().get_lookup(lookup_name)  # type: ignore[misc]
        raise FieldError(f"{self.name} is encrypted: it cannot be searched ({lookup_name})")

    def get_transform(self, lookup_name: str) -> Any:
        """None works on ciphertext. Raises FieldError."""
        raise FieldError(f"{self.name} is encrypted: it cannot be searched ({lookup_name})")


class EncryptedTextField(_Sealed, models.TextField):
    """Stores AES-GCM ciphertext; a wrong key is an error, a blank stays blank.

    `is_source`: answers are worked out of it. It is opened or an error, for pages too: what is missing
    must not look like data that are not there.
    """

    def __init__(self, *args: Any, is_source: bool = False, **kwargs: Any) -> None:
        """As Django's; `is_source` is nothing of the database's."""
        self.is_source = is_source
        super().__init__(*args, **kwargs)

    def get_prep_value(self, value: Any) -> Any:
        """Ciphertext of a non-blank value."""
        if isinstance(value, Unopened):
            return value.token
        text = super().get_prep_value(value)
        return _seal(text) if text else text

    def from_db_value(self, value: str | None, *_unused: object) -> str | None:
        """The plain text. Raises house.crypto.DecryptionError, but for `reading`."""
        if not value:
            return value
        return decrypt(value) if self.is_source else _open(value)


class EncryptedJSONField(_Sealed, models.JSONField):
    """Stores a JSON value as ciphertext in a text column; None is NULL."""

    def get_internal_type(self) -> str:
        """The column is text: no database knows what is in it."""
        return "TextField"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """Ciphertext of the value as JSON."""
        if value is None or isinstance(value, Unopened):
            return value and value.token
        return _seal(json.dumps(value, cls=self.encoder, ensure_ascii=False))

    def from_db_value(self, value: str | None, *_unused: object) -> Any:
        """The value. Raises house.crypto.DecryptionError, but for `reading`."""
        if value is None:
            return None
        text = _open(value)
        if isinstance(text, Unopened):
            return UnopenedJSON.of(value)
        return json.loads(text, cls=self.decoder)


def is_sealed(field: object) -> bool:
    """Whether a column holds ciphertext: it can be neither searched nor ordered by the database."""
    return isinstance(field, _Sealed)


class DigestField(models.CharField[str, str]):
    """The hash of the secret in another column: what is encrypted can be looked up by it.

    A plain hash: it is for secrets of many random bits, which nobody guesses.
    """

    def __init__(self, *args: Any, of: str, **kwargs: Any) -> None:
        """`of` names the column of the secret."""
        self.of = of
        super().__init__(*args, **{"max_length": 64, "editable": False} | kwargs)

    def deconstruct(self) -> Any:
        """As Django's, with the column."""
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, kwargs | {"of": self.of}

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        """Follows the secret."""
        digest = self.digest(getattr(model_instance, self.of))
        setattr(model_instance, self.attname, digest)
        return digest

    @staticmethod
    def digest(secret: str) -> str:
        """What is stored of a secret."""
        return sha256(secret.encode("utf-8", "replace")).hexdigest()


class RandomUuid(models.Func):
    """A version 4 UUID made by the database, for rows that SQL inserts without a key (seed 002, 2.2)."""

    template = "gen_random_uuid()"
    output_field = models.UUIDField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, Any]:
        """SQLite keeps a UUID as 32 hexadecimal digits; version and variant stand at their places."""
        parts = [
            "hex(randomblob(6))",
            "'4'",
            "substr(hex(randomblob(2)), 2)",
            "substr('89AB', 1 + (random() & 3), 1)",
            "substr(hex(randomblob(2)), 2)",
            "hex(randomblob(6))",
        ]
        return self.as_sql(compiler, connection, template=f"(lower({' || '.join(parts)}))", **extra)
