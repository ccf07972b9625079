"""The mutator itself: what it makes is false by the raw export, and what stays true is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from tests.answers.export import cell_of, holds, moved
from tests.assistant.mutations import lies, rewrites, words
from tests.assistant.mutations.pieces import Truth


def truth(say: str, **more: Any) -> Truth:
    case = {"id": "x", "user": "wanghushi", "text": "?", "kind": "field", "true": True}
    return Truth.of({**case, "say": say, **more})


ALT = truth("P016的ALT：V2 185 U/L{P016|ALT|V2|185}、V3 28 U/L{P016|ALT|V3|28}。")
ENROLLED = truth("P001于2月5日入组{P001|入组日期|2026-02-05}。")


def test_values_are_read_from_the_export() -> None:
    found = cell_of(["P016", "ALT", "V2", "185"])
    assert found
    assert holds(found)
    assert not holds(moved(found, value="28"))
    assert not holds(moved(found, subject="P013"))
    assert cell_of(["P016", "ALT", "V2", "186"]) is None


def test_other_values_are_not_those_of_the_export() -> None:
    told = [*lies.values(ALT), *lies.uncited(ALT)]
    assert len(told) > 10
    assert all("V2 185 U/L" not in say or "V3 28 U/L" not in say for say in told)


def test_a_subject_with_the_same_value_is_no_lie() -> None:
    same = truth("P001的ECOG为1分{P001|ECOG评分|1分}。")
    told = list(lies.subjects(same))
    assert told
    assert not [say for say in told if say.startswith(("P003", "P005", "P006", "P007", "P011"))]


def test_a_visit_with_the_same_value_is_no_lie() -> None:
    same = truth("P009的依从性V2 93%{P009|依从性|V2|93}。")
    assert any("V4 93%" in say for say in lies.visits(same))
    assert not any("V3 93%" in say for say in lies.visits(same))


def test_a_date_takes_the_role_of_another() -> None:
    assert any("2月5日首次用药" in say for say in lies.date_roles(ENROLLED))


def test_a_source_of_the_same_row_is_no_lie() -> None:
    row = truth("P013 V3 ALT 19{P013|ALT|V3|19}，AST 37{P013|AST|V3|37}。")
    assert not list(lies.citations(row))
    assert list(lies.citations(ALT))


@pytest.mark.parametrize(
    ("say", "kind", "lie"),
    [
        ("呕吐后不补服{x}。", "protocol", "呕吐后应补服{x}。"),
        ("P002尚未入组{x}。", "field", "P002已入组{x}。"),
        ("不属于禁用{x}。", "protocol", "属于禁用{x}。"),
    ],
)
def test_a_denial_is_turned(say: str, kind: str, lie: str) -> None:
    assert lie in list(words.negations(truth(say, kind=kind)))


def test_what_holds_everywhere_is_not_a_lie() -> None:
    alike = truth("V4 91%{P009|依从性|V4|91}、V5 91%{P009|依从性|V5|91}。")
    lowest = [say for say in words.everywhere(alike) if "历次最低" in say]
    assert not lowest
    assert [say for say in words.everywhere(alike) if "历次最高" in say]


def test_a_bound_that_lets_more_pass_is_no_lie() -> None:
    rule = truth("超过正常值上限5倍时暂停用药{x}。", kind="protocol")
    assert list(words.rules(rule)) == ["超过正常值上限2.5倍时暂停用药{x}。"]


def test_dates_keep_the_year_of_their_source() -> None:
    told = list(rewrites.dates(ENROLLED))
    assert "P001于2026-02-05入组{P001|入组日期|2026-02-05}。" in told
    assert "P001于2026/2/5入组{P001|入组日期|2026-02-05}。" in told


def test_sources_move_to_the_end_of_their_sentence() -> None:
    (told,) = rewrites.late_marks(ALT)
    assert told == "P016的ALT：V2 185 U/L、V3 28 U/L{P016|ALT|V2|185}{P016|ALT|V3|28}。"
