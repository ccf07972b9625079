"""The stand-in's own AES and signature against published vectors (reference/wecom.md section 2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo.simulators.wecom.crypto import Crypt, CryptoError, signature

VECTORS = json.loads((Path(__file__).parent / "wecom_vectors.json").read_text(encoding="utf-8"))
GOOD = [vector for vector in VECTORS if not vector["expect"]]
BAD = [vector for vector in VECTORS if vector["expect"]]
KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"


def _name(vector: dict[str, Any]) -> str:
    return str(vector["id"])


def test_all_published_vectors_are_here() -> None:
    assert {v["id"] for v in GOOD} >= {"A1", "A2", "A3", "A4", "B1", "B2", "B3", "C", "S1", "S7"}
    assert len(BAD) == 8


@pytest.mark.parametrize("vector", VECTORS, ids=_name)
def test_signature(vector: dict[str, Any]) -> None:
    parts = (vector["token"], vector["timestamp"], vector["nonce"], vector["encrypted"])
    assert signature(*parts) == vector["signature"]
    assert signature(*parts[:2], "1", parts[3]) != vector["signature"]


@pytest.mark.parametrize("vector", GOOD, ids=_name)
def test_decrypts(vector: dict[str, Any]) -> None:
    crypt = Crypt(vector["aes_key"], vector["receive_id"])
    assert crypt.decrypt(vector["encrypted"]) == vector["plain"]


@pytest.mark.parametrize("vector", BAD, ids=_name)
def test_refuses_with_the_library_code(vector: dict[str, Any]) -> None:
    with pytest.raises(CryptoError) as error:
        Crypt(vector["aes_key"], vector["receive_id"]).decrypt(vector["encrypted"])
    assert error.value.code == vector["expect"]


def test_encryption_is_byte_exact() -> None:
    vector = next(v for v in GOOD if v["id"] == "B3")
    crypt = Crypt(vector["aes_key"], vector["receive_id"])
    assert crypt.encrypt(vector["plain"], b"1234567890123456") == vector["encrypted"]


def test_junk_is_no_base64() -> None:
    with pytest.raises(CryptoError) as error:
        Crypt(KEY, "ww1").decrypt("not base64!")
    assert error.value.code == -40010


@pytest.mark.parametrize("key", ["", "a" * 42, "a" * 44])
def test_key_length(key: str) -> None:
    with pytest.raises(ValueError, match=r"43|padding|base64"):
        Crypt(key, "ww1")


@given(st.text(), st.text(alphabet="wx0123456789", max_size=18))
def test_round_trip(message: str, receive_id: str) -> None:
    crypt = Crypt(KEY, receive_id)
    assert crypt.decrypt(crypt.encrypt(message)) == message
