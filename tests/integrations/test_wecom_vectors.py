"""Every vector of reference/wecom.md section 2: official samples, other libraries' tests, and forgeries."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.integrations.wecom import Crypt, CryptoError
from core.integrations.wecom.crypto import Code, decode_key

VECTORS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("wecom_vectors.json").read_text("utf-8")
)
GOOD = [name for name, vector in VECTORS.items() if "code" not in vector]
BAD = [name for name, vector in VECTORS.items() if "code" in vector]
MADE = [name for name, vector in VECTORS.items() if "random" in vector]
A = VECTORS["A1"]


def crypt_of(vector: dict[str, Any]) -> Crypt:
    return Crypt(vector["token"], vector["aes_key"], vector["receive_id"])


def signed(vector: dict[str, Any], **changed: str) -> bool:
    values = {**vector, **changed}
    return crypt_of(vector).is_signed(
        values["signature"], values["timestamp"], values["nonce"], values["encrypted"]
    )


def test_the_sets_are_complete() -> None:
    wanted = ["A1", "A2", "A3", "A4", "B1", "B2", "B3", "C"]
    wanted += [f"S{n}" for n in range(1, 8)] + [f"N{n}" for n in range(1, 9)]
    assert list(VECTORS) == wanted


@pytest.mark.parametrize("name", VECTORS)
def test_the_signature_is_right(name: str) -> None:
    assert signed(VECTORS[name])


@pytest.mark.parametrize("name", GOOD)
def test_it_decrypts_byte_for_byte(name: str) -> None:
    vector = VECTORS[name]
    assert crypt_of(vector).decrypt(vector["encrypted"]) == vector["plain"].encode()


@pytest.mark.parametrize("name", MADE)
def test_it_encrypts_byte_for_byte(name: str) -> None:
    vector = VECTORS[name]
    made = crypt_of(vector).encrypt(vector["plain"].encode(), vector["random"].encode())
    assert made == vector["encrypted"]


@pytest.mark.parametrize("name", BAD)
def test_a_forgery_with_a_valid_signature_dies_in_decryption(name: str) -> None:
    vector = VECTORS[name]
    with pytest.raises(CryptoError) as raised:
        crypt_of(vector).decrypt(vector["encrypted"])
    assert int(raised.value.code) == vector["code"]


def test_the_signature_covers_every_part() -> None:
    assert not signed(VECTORS["B1"], nonce="437374424")
    assert not signed(A, timestamp="1409659588")
    assert not signed(A, encrypted=A["encrypted"][:-4] + "AA==")
    assert not signed(A, signature=A["signature"].upper())
    assert not signed(A, signature="")


def test_the_signature_printed_for_a4_is_refused() -> None:
    assert not signed(VECTORS["A4"], signature=VECTORS["A2"]["signature"])


@pytest.mark.parametrize("part", ["timestamp", "nonce", "encrypted"])
def test_a_blank_part_is_never_signed(part: str) -> None:
    crypt, values = crypt_of(A), {**A, part: ""}
    parts = values["timestamp"], values["nonce"], values["encrypted"]
    assert not crypt.is_signed(crypt.sign(*parts), *parts)


def test_a_signature_that_is_not_ascii_is_refused_quietly() -> None:
    assert not signed(A, signature="é" * 40)


@pytest.mark.parametrize("text", ["", "====", "%%%", "AAAA", "é" * 44, A["encrypted"][:-1] + "!"])
def test_what_is_no_ciphertext_is_refused(text: str) -> None:
    with pytest.raises(CryptoError):
        crypt_of(A).decrypt(text)


@pytest.mark.parametrize("key", ["", "a" * 42, "a" * 44, "a" * 42 + "!", "a" * 42 + "=", "中" * 43])
def test_a_key_of_the_wrong_form_is_refused(key: str) -> None:
    with pytest.raises(CryptoError) as raised:
        Crypt("t", key, "")
    assert raised.value.code is Code.KEY


@pytest.mark.parametrize("name", ["A1", "B1", "C"])
def test_a_key_that_is_not_canonical_base64_is_taken(name: str) -> None:
    key = VECTORS[name]["aes_key"]
    assert base64.b64encode(decode_key(key)).decode() != key + "="


def test_secrets_are_not_shown() -> None:
    assert A["token"] not in repr(crypt_of(A))


@given(st.binary(max_size=400), st.text(max_size=20))
def test_what_is_encrypted_is_decrypted(message: bytes, receive_id: str) -> None:
    crypt = Crypt("t", A["aes_key"], receive_id)
    sealed = crypt.encrypt(message)
    assert crypt.decrypt(sealed) == message
    assert len(base64.b64decode(sealed)) % 32 == 0


@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_in_place_of_a_ciphertext_raise_our_error_only(raw: bytes) -> None:
    with pytest.raises(CryptoError):
        crypt_of(A).decrypt(base64.b64encode(raw).decode())
