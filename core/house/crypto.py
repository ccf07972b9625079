"""AES-256-GCM with a list of keys: the first encrypts, all decrypt (FIELD_ENCRYPTION_KEYS)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

_VERSION = b"\x01"
_KEY_ID = 4
_NONCE = 12
_TAG = 16


class DecryptionError(Exception):
    """No configured key opens this value, or it was changed."""


@lru_cache(maxsize=8)
def _parse(encoded: tuple[str, ...]) -> tuple[bytes, ...]:
    keys = []
    for item in encoded:
        try:
            key = base64.b64decode(item, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ImproperlyConfigured("FIELD_ENCRYPTION_KEYS: not base64") from error
        if len(key) != 32:
            raise ImproperlyConfigured("FIELD_ENCRYPTION_KEYS: every key has 32 bytes")
        keys.append(key)
    if not keys:
        raise ImproperlyConfigured("FIELD_ENCRYPTION_KEYS is not set")
    return tuple(keys)


def keys() -> tuple[bytes, ...]:
    """The configured keys, newest first. Raises ImproperlyConfigured."""
    return _parse(tuple(settings.FIELD_ENCRYPTION_KEYS))


@lru_cache(maxsize=8)
def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"key-id" + key).digest()[:_KEY_ID]


@lru_cache(maxsize=8)
def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key)


def encrypt(text: str, place: int = 0) -> str:
    """Base64 of version, key id, nonce, tag and ciphertext; by the newest key unless told otherwise."""
    key = keys()[place]
    nonce = os.urandom(_NONCE)
    sealed = _cipher(key).encrypt(nonce, text.encode("utf-8", "surrogatepass"), _VERSION)
    body, tag = sealed[:-_TAG], sealed[-_TAG:]
    return base64.b64encode(_VERSION + _key_id(key) + nonce + tag + body).decode("ascii")


def decrypt(token: str) -> str:
    """The text that `encrypt` was given. Raises DecryptionError, never returns ciphertext."""
    number, sealed = _read(token)
    if number is None:
        raise DecryptionError("no configured key opens this value")
    nonce, tag, body = sealed[:_NONCE], sealed[_NONCE : _NONCE + _TAG], sealed[_NONCE + _TAG :]
    try:
        plain = _cipher(keys()[number]).decrypt(nonce, body + tag, _VERSION)
    except InvalidTag as error:
        raise DecryptionError("the value was changed") from error
    return plain.decode("utf-8", "surrogatepass")


def place(token: str) -> int | None:
    """Which of the configured keys sealed this, 0 the newest; None: none of them. Raises DecryptionError."""
    return _read(token)[0]


def _read(token: str) -> tuple[int | None, bytes]:
    try:
        raw = base64.b64decode(token, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DecryptionError("not an encrypted value") from error
    head = 1 + _KEY_ID
    if len(raw) < head + _NONCE + _TAG or raw[:1] != _VERSION:
        raise DecryptionError("not an encrypted value")
    known = [_key_id(key) for key in keys()]
    return known.index(raw[1:head]) if raw[1:head] in known else None, raw[head:]
