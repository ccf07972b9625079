"""AES-256-GCM with a list of keys: the first encrypts, all decrypt (FIELD_ENCRYPTION_KEYS)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
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


def encrypt(text: str) -> str:
    """Base64 of version, key id, nonce, tag and ciphertext."""
    key = keys()[0]
    nonce = os.urandom(_NONCE)
    sealed = _cipher(key).encrypt(nonce, text.encode("utf-8", "surrogatepass"), _VERSION)
    body, tag = sealed[:-_TAG], sealed[-_TAG:]
    return base64.b64encode(_VERSION + _key_id(key) + nonce + tag + body).decode("ascii")


def decrypt(token: str) -> str:
    """The text that `encrypt` was given. Raises DecryptionError, never returns ciphertext."""
    try:
        raw = base64.b64decode(token, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DecryptionError("not an encrypted value") from error
    head = 1 + _KEY_ID
    if len(raw) < head + _NONCE + _TAG or raw[:1] != _VERSION:
        raise DecryptionError("not an encrypted value")
    nonce, tag = raw[head : head + _NONCE], raw[head + _NONCE : head + _NONCE + _TAG]
    for key in keys():
        if _key_id(key) != raw[1:head]:
            continue
        try:
            plain = _cipher(key).decrypt(nonce, raw[head + _NONCE + _TAG :] + tag, _VERSION)
        except InvalidTag as error:
            raise DecryptionError("the value was changed") from error
        return plain.decode("utf-8", "surrogatepass")
    raise DecryptionError("no configured key opens this value")


def digest(text: str) -> str:
    """Keyed hash for look-ups and logs; the value cannot be read back from it."""
    return hmac.new(keys()[-1], text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


@lru_cache(maxsize=32)
def _derived(key: bytes, purpose: str) -> bytes:
    """A key for one purpose: what is signed for it is worth nothing for another, nor for encryption."""
    return HKDF(SHA256(), 32, salt=None, info=purpose.encode()).derive(key)


def sign(purpose: str, text: bytes) -> str:
    """HMAC under the newest key: nobody without the keys can make it."""
    return hmac.digest(_derived(keys()[0], purpose), text, "sha256").hex()


def is_signed(purpose: str, text: bytes, signature: str) -> bool:
    """Whether one of the keys made this signature: those before a rotation count as well."""
    given = signature.encode("utf-8", "surrogatepass")
    made = (hmac.digest(_derived(key, purpose), text, "sha256").hex().encode() for key in keys())
    return any(hmac.compare_digest(one, given) for one in made)
