"""Labels and choices read as on REDCap's form: without markup, embedded boxes and what is piped in."""

from __future__ import annotations

import pytest

from core.rules.labels import choices, label, readable

FIELDS = {"drug_name", "other_txt", "dob"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1, A|B 型 | 2, C", {"1": "A|B 型", "2": "C"}),
        ("1, Yes | 2, A | B type | 3, C", {"1": "Yes", "2": "A | B type", "3": "C"}),
        ("1, A|2, B", {"1": "A", "2": "B"}),
        ("1, A |2, B| 3, C", {"1": "A", "2": "B", "3": "C"}),
        ("0, &lt;24 h | 1, &ge;24 h", {"0": "<24 h", "1": "≥24 h"}),
        ("1, <b>药物</b><br/>相关 | 2, x < 5", {"1": "药物 相关", "2": "x < 5"}),
        ("1, Full-time, paid | 2, None", {"1": "Full-time, paid", "2": "None"}),
        ("1, A | 4", {"1": "A", "4": "4"}),
        ("男 | 女", {"男": "男", "女": "女"}),
        ("1, | 2, B", {"1": "1", "2": "B"}),
    ],
)
def test_choices(text: str, expected: dict[str, str]) -> None:
    assert choices(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("其他：{other_txt}", "其他"),
        ("Other ({other_txt})", "Other"),
        ("Dose of [drug_name] given", "Dose of … given"),
        ("Since [start_arm_1][dob]", "Since …"),
        ("Visit [event-label]", "Visit …"),
        ("评分 [0-10]", "评分 [0-10]"),
        ("Set {x} [y]", "Set {x} [y]"),
        ("体重<br>kg &amp; 身高&nbsp;cm", "体重 kg & 身高 cm"),
    ],
)
def test_a_label(text: str, expected: str) -> None:
    assert label(text, FIELDS) == expected


def test_a_sign_is_no_tag() -> None:
    assert readable("<i>ALT</i> <40 and >7") == "ALT <40 and >7"
