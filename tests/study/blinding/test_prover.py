"""The blinding prover: a blinded reader gets the same bytes whichever arm a subject is in (design.md 9.10)."""

from __future__ import annotations

import difflib

import pytest
from django.apps import apps
from django.core.cache import cache
from django.core.management.color import no_style
from django.db import connection, transaction

from engines.models import PendingAction, Review
from tests.study.blinding import life, prover, twins
from tests.study.blinding.conftest import Open

READERS = ("zhangyi", "admin")
SHOWN = 40


def played(open_twin: Open, twin: str) -> tuple[dict[str, str], dict[str, str]]:
    """(what the blinded are told, what the unblinded CRC is told) of one twin; nothing of it stays."""
    cache.clear()
    _number_alike()
    with transaction.atomic():
        study = open_twin(twin)
        life.blinded(study)
        life.lived(study, twin)
        told = prover.told(study, READERS)
        knows = prover.told_one(study, life.UNBLINDED)
        assert PendingAction.objects.filter(unblinds=True).exists()
        assert Review.objects.filter(unblinds=True).exists()
        transaction.set_rollback(True)
    return told, knows


def _number_alike() -> None:
    """PostgreSQL's sequences do not go back with a transaction: each twin's rows get the same numbers."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)


@pytest.mark.slow
def test_the_blinded_get_the_same_bytes_whichever_the_arm(open_twin: Open) -> None:
    (one, knows), (other, knew) = (played(open_twin, twin) for twin in "ab")
    assert one.keys() == other.keys(), sorted(one.keys() ^ other.keys())[:SHOWN]
    differing = {name: _shown(one[name], other[name]) for name in one if one[name] != other[name]}
    assert differing == {}, f"{len(differing)} of {len(one)}: {[*differing.items()][:SHOWN]}"
    leaks = {(name, kit) for name, text in one.items() for kit in twins.KITS if kit in text}
    assert leaks == set()
    # The prover sees: to the unblinded the twins are two.
    assert knows != knew
    assert any(twins.kit_of("P022", "a") in text for text in knows.values())


def _shown(one: str, other: str) -> str:
    lines = difflib.unified_diff(one.split("\n"), other.split("\n"), lineterm="", n=0)
    return "\n".join(line[:300] for line in lines)[:1500]
