"""AES-GCM with a list of keys: loud on a wrong key, silent about the content (design.md 2)."""

from __future__ import annotations

import base64
import os

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from core.house import crypto


def new_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


# Also what no UTF-8 file may hold: a lone surrogate must survive.
TEXTS = st.text(alphabet=st.characters(codec=None))


@given(TEXTS)
def test_what_was_encrypted_is_read_again(text: str) -> None:
    assert crypto.decrypt(crypto.encrypt(text)) == text


@given(st.text(min_size=8))
def test_ciphertext_does_not_hold_the_text(text: str) -> None:
    raw = base64.b64decode(crypto.encrypt(text))
    assert text.encode("utf-8", "surrogatepass") not in raw


def test_the_same_text_is_never_encrypted_alike() -> None:
    assert len({crypto.encrypt("张三") for _ in range(50)}) == 50


def test_a_foreign_key_is_an_error(settings: Settings) -> None:
    settings.FIELD_ENCRYPTION_KEYS = [new_key()]
    token = crypto.encrypt("张三")
    settings.FIELD_ENCRYPTION_KEYS = [new_key()]
    with pytest.raises(crypto.DecryptionError, match="no configured key"):
        crypto.decrypt(token)


def test_rotation_reads_old_values_and_writes_with_the_new_key(settings: Settings) -> None:
    old, new = new_key(), new_key()
    settings.FIELD_ENCRYPTION_KEYS = [old]
    before = crypto.encrypt("before")
    settings.FIELD_ENCRYPTION_KEYS = [new, old]
    after = crypto.encrypt("after")
    assert crypto.decrypt(before) == "before"
    settings.FIELD_ENCRYPTION_KEYS = [new]
    assert crypto.decrypt(after) == "after"
    with pytest.raises(crypto.DecryptionError):
        crypto.decrypt(before)


@given(st.data())
def test_every_changed_bit_is_noticed(data: st.DataObject) -> None:
    raw = bytearray(base64.b64decode(crypto.encrypt("P001 入组")))
    bit = data.draw(st.integers(0, len(raw) * 8 - 1))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(crypto.DecryptionError):
        crypto.decrypt(base64.b64encode(bytes(raw)).decode())


@given(st.binary(max_size=80))
def test_foreign_bytes_are_an_error_not_a_value(raw: bytes) -> None:
    with pytest.raises(crypto.DecryptionError):
        crypto.decrypt(base64.b64encode(raw).decode())


@pytest.mark.parametrize("token", ["plain text", "张三", "AAAA", "a", "====", "AQ=="])
def test_plain_text_is_never_returned_as_if_it_had_been_opened(token: str) -> None:
    with pytest.raises(crypto.DecryptionError):
        crypto.decrypt(token)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([], "not set"),
        (["not base64!"], "not base64"),
        (["张"], "not base64"),
        ([base64.b64encode(b"short").decode()], "32 bytes"),
        ([new_key(), base64.b64encode(os.urandom(16)).decode()], "32 bytes"),
    ],
)
def test_unusable_keys_are_refused(settings: Settings, keys: list[str], said: str) -> None:
    settings.FIELD_ENCRYPTION_KEYS = keys
    with pytest.raises(ImproperlyConfigured, match=said):
        crypto.encrypt("x")
