"""WeCom's callback signature and AES (reference/wecom.md 1.2, 1.3), written apart from the product."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from typing import Any

from Crypto.Cipher import AES

BLOCK = 32
BAD_SIGNATURE, BAD_RECEIVE_ID, BAD_AES, BAD_BUFFER, BAD_BASE64 = (
    -40001,
    -40005,
    -40007,
    -40008,
    -40010,
)


class CryptoError(ValueError):
    """A message that WeCom's library would refuse, with the library's return code (1.3)."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


def signature(token: str, timestamp: str, nonce: str, encrypted: str) -> str:
    """The 40 lower-case hex digits of `msg_signature` (1.2)."""
    joined = "".join(sorted([token, timestamp, nonce, encrypted]))
    return hashlib.sha1(joined.encode(), usedforsecurity=False).hexdigest()


class Crypt:
    """Encrypts and decrypts for one EncodingAESKey and receiveid."""

    def __init__(self, aes_key: str, receive_id: str) -> None:
        self._key = base64.b64decode(aes_key + "=")
        if len(aes_key) != 43 or len(self._key) != 32:
            raise ValueError("EncodingAESKey must be 43 characters that decode to 32 bytes")
        self._receive_id = receive_id.encode()

    def _cipher(self) -> Any:
        return AES.new(self._key, AES.MODE_CBC, self._key[:16])

    def encrypt(self, message: str, prefix: bytes | None = None) -> str:
        """`message` as base64 ciphertext; `prefix` fixes the 16 random bytes for test vectors."""
        raw = message.encode()
        plain = (prefix or secrets.token_hex(8).encode()) + len(raw).to_bytes(4, "big")
        plain += raw + self._receive_id
        pad = BLOCK - len(plain) % BLOCK
        return base64.b64encode(self._cipher().encrypt(plain + bytes([pad]) * pad)).decode()

    def decrypt(self, encrypted: str) -> str:
        """The message in `encrypted`. Raises CryptoError."""
        return self._message(self._unpad(self._open(encrypted)))

    def _open(self, encrypted: str) -> bytes:
        try:
            data = base64.b64decode(encrypted, validate=True)
        except (binascii.Error, ValueError) as error:
            raise CryptoError(BAD_BASE64, "not base64") from error
        if not data or len(data) % BLOCK:
            raise CryptoError(BAD_AES, f"{len(data)} bytes are no multiple of {BLOCK}")
        return bytes(self._cipher().decrypt(data))

    @staticmethod
    def _unpad(plain: bytes) -> bytes:
        pad = plain[-1]
        if not 1 <= pad <= BLOCK or plain[-pad:] != bytes([pad]) * pad:
            raise CryptoError(BAD_AES, "bad padding")
        return plain[:-pad]

    def _message(self, plain: bytes) -> str:
        end = 20 + int.from_bytes(plain[16:20], "big")
        if len(plain) < 20 or end > len(plain):
            raise CryptoError(BAD_BUFFER, "length field does not fit")
        if plain[end:] != self._receive_id:
            raise CryptoError(BAD_RECEIVE_ID, "wrong receiveid")
        try:
            return plain[20:end].decode()
        except UnicodeDecodeError as error:
            raise CryptoError(BAD_BUFFER, "message is not UTF-8") from error
