"""WeCom's callback signature and AES, strict where its own libraries are lax (wecom.md 1.2, 1.3, 2.4)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from enum import IntEnum
from typing import Any

from Crypto.Cipher import AES

BLOCK = 32
KEY_CHARS = 43
_HEAD = 20  # 16 random bytes and the length of the message


class Code(IntEnum):
    """Return codes of WeCom's own library (wecom.md 1.3)."""

    SIGNATURE = -40001
    KEY = -40004
    RECEIVE_ID = -40005
    DECRYPT = -40007
    BUFFER = -40008
    BASE64 = -40010


class CryptoError(Exception):
    """A message that is not genuine or a key that is none; `code` as WeCom's library returns it."""

    def __init__(self, code: Code, reason: str) -> None:
        self.code = code
        super().__init__(f"{int(code)}: {reason}")


def decode_key(aes_key: str) -> bytes:
    """The 32 key bytes of an EncodingAESKey. Raises CryptoError(KEY).

    Only lengths are checked: WeCom's own keys are non-canonical base64 (wecom.md 2.3).
    """
    try:
        key = base64.b64decode(aes_key + "=", validate=True)
    except (binascii.Error, ValueError) as error:
        raise CryptoError(Code.KEY, "the AES key is not base64") from error
    if len(aes_key) != KEY_CHARS or len(key) != 32:
        raise CryptoError(Code.KEY, f"the AES key needs {KEY_CHARS} characters")
    return key


def signature(token: str, timestamp: str, nonce: str, encrypted: str) -> str:
    """`msg_signature`: 40 lower-case hex digits over the four sorted strings."""
    parts = sorted(part.encode() for part in (token, timestamp, nonce, encrypted))
    return hashlib.sha1(b"".join(parts), usedforsecurity=False).hexdigest()


class Crypt:
    """Signs, checks, encrypts and decrypts for one token, key and receiveid.

    `receive_id` is the corpid for a self-built app and blank for an aibot. Raises CryptoError(KEY).
    """

    def __init__(self, token: str, aes_key: str, receive_id: str) -> None:
        self._token = token
        self._key = decode_key(aes_key)
        self._receive_id = receive_id.encode()

    def __repr__(self) -> str:
        return "Crypt(***)"

    def sign(self, timestamp: str, nonce: str, encrypted: str) -> str:
        """The signature of an envelope of ours."""
        return signature(self._token, timestamp, nonce, encrypted)

    def is_signed(self, given: str, timestamp: str, nonce: str, encrypted: str) -> bool:
        """Whether `given` is the signature, in constant time; a blank part is never signed (1.2)."""
        if not all((self._token, given, timestamp, nonce, encrypted)):
            return False
        expected = self.sign(timestamp, nonce, encrypted)
        return hmac.compare_digest(expected.encode(), given.encode())

    def encrypt(self, message: bytes, random: bytes | None = None) -> str:
        """`message` as base64 ciphertext; `random` (16 bytes) is given by test vectors only."""
        head = (random or secrets.token_hex(8).encode()) + len(message).to_bytes(4, "big")
        plain = head + message + self._receive_id
        pad = BLOCK - len(plain) % BLOCK
        cipher = self._cipher().encrypt(plain + bytes([pad]) * pad)
        return base64.b64encode(cipher).decode("ascii")

    def decrypt(self, encrypted: str) -> bytes:
        """The message. Raises CryptoError for bad base64, size, padding, length or receiveid."""
        try:
            cipher = binascii.a2b_base64(encrypted, strict_mode=True)
        except (binascii.Error, ValueError) as error:
            raise CryptoError(Code.BASE64, "not base64") from error
        if len(encrypted) % 4:  # one "=" too many is no error for binascii
            raise CryptoError(Code.BASE64, "not base64")
        if not cipher or len(cipher) % BLOCK:
            raise CryptoError(Code.DECRYPT, f"no multiple of {BLOCK} bytes")
        return self._message(_unpad(self._cipher().decrypt(cipher)))

    def _cipher(self) -> Any:
        return AES.new(self._key, AES.MODE_CBC, iv=self._key[:16])

    def _message(self, plain: bytes) -> bytes:
        end = _HEAD + int.from_bytes(plain[16:_HEAD], "big")
        if len(plain) < _HEAD or end > len(plain):
            raise CryptoError(Code.BUFFER, "the length does not fit")
        if not hmac.compare_digest(plain[end:], self._receive_id):
            raise CryptoError(Code.RECEIVE_ID, "meant for somebody else")
        return plain[_HEAD:end]


def _unpad(plain: bytes) -> bytes:
    """PKCS#7 to 32 bytes; every padding byte counts (N2-N4)."""
    pad = plain[-1]
    if not 1 <= pad <= BLOCK or plain[-pad:] != bytes([pad]) * pad:
        raise CryptoError(Code.DECRYPT, "bad padding")
    return plain[:-pad]
