"""The auto-mapper proposes, an admin accepts (issue 3, Tools)."""

from __future__ import annotations

import pytest

from core.privacy.identifying_fields import identifies
from projects.models import AuditEntry
from skills.automap import propose, store_proposals
from skills.mapping import aliases
from skills.models import FieldMapping
from study import dictionary
from tests.support.study import Study


@pytest.fixture
def means(study: Study) -> dict[str, str]:
    return {row.alias: row.field for row in propose(study.project)}


@pytest.mark.parametrize(
    ("alias", "field"),
    [
        ("谷丙转氨酶alt", "alt"),
        ("gpt", "alt"),
        ("谷草转氨酶", "ast"),
        ("收缩压", "sbp"),
        ("高压", "sbp"),
        ("白细胞", "wbc"),
        ("hb", "hgb"),
        ("入组日期", "enroll_date"),
        ("入组时间", "enroll_date"),
        ("入组", "enrolled"),
        ("体重", "weight_kg"),
        ("首次给药日期", "first_dose_date"),
        ("依从性", "drug_compliance"),
    ],
)
def test_labels_their_parts_and_clinical_names_are_proposed(
    means: dict[str, str], alias: str, field: str
) -> None:
    assert means[alias] == field


def test_every_proposal_names_a_field_and_a_reason(study: Study) -> None:
    fields = dictionary.load(study.project).fields
    rows = propose(study.project)
    assert len(rows) > 60
    assert {row.field for row in rows} <= set(fields)
    assert {row.why for row in rows} == {"label", "part of the label", "clinical alias"}
    assert len({row.alias for row in rows}) == len(rows)


def test_no_proposal_for_what_identifies_a_person(study: Study) -> None:
    metadata = dictionary.load(study.project)
    for row in propose(study.project):
        assert row.field not in metadata.identifier_fields
        assert not identifies(row.field, metadata.label(row.field))
        assert row.field != "egfr_mutation"
        assert row.field != metadata.record_id_field


def test_what_could_mean_two_fields_is_not_proposed(means: dict[str, str]) -> None:
    # "ECOG" stands in two labels, "AE" in several, "总胆红素" in the value and in its upper limit.
    for alias in ("ae", "日期", "评分", "单位"):
        assert alias not in means


def test_what_the_study_has_is_not_proposed_again(study: Study, means: dict[str, str]) -> None:
    assert not set(aliases(study.project)) & set(means)
    store_proposals(study.project, ["gpt"], "admin")
    assert "gpt" not in {row.alias for row in propose(study.project)}
    assert store_proposals(study.project, ["gpt"], "admin") == []


def test_accepting_stores_and_audits_only_what_was_proposed(study: Study) -> None:
    before = FieldMapping.objects.count()
    made = store_proposals(
        study.project, ["GPT", "体重", "no such alias", "姓名", "电话"], study["admin"]
    )
    assert {(row.alias_name, row.actual_name) for row in made} == {
        ("gpt", "alt"),
        ("体重", "weight_kg"),
    }
    assert FieldMapping.objects.count() == before + 2
    assert AuditEntry.objects.filter(action="mapping.change").count() >= 2
    assert aliases(study.project)["gpt"] == "alt"


def test_proposing_alone_stores_nothing(study: Study) -> None:
    before = FieldMapping.objects.count()
    propose(study.project)
    assert FieldMapping.objects.count() == before
