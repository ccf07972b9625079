"""The branching logic of REDCap, expression by expression (redcap_dify.md 1.14)."""

from __future__ import annotations

import pytest

from core.rules.redcap.nodes import Open, Operand
from tests.rules.redcap import support

CELLS: dict[str, Operand] = {
    "zero": "0",
    "one": "1",
    "five": "5",
    "blank": "",
    "text": "Liver disease",
    "day": "2024-03-01",
    "later": "2024-03-31",
    "box(3)": "1",
    "box(-1)": "0",
    "e1/five": "7",
    "open": Open("open", is_blank=True),
    "coded": Open("coded", missing_code="NA", codes=frozenset({"NA", "UNK"})),
    "gone": Open("gone"),
}


def shown(text: str) -> Operand:
    return support.shown(text, CELLS)


@pytest.mark.parametrize(
    "text",
    [
        "[five] = 5", "[five] = '5'", '[five]="5.0"', "[five] <> '4'", "[five] != 4", "[five] >= 5",
        "[five] == 5 && [one] == 1",
        "[five] < 10", "[box(3)] = '1'", "[box(-1)] = 0", "[e1][five] = 7", "[blank] = ''",
        '[text] <> ""', "[one] and [five]", "[zero] or [one]", "not [zero]", "!([five] = 4)",
        "not not [one]", "[zero] = 1 or [one] = 1 and [five] = 5", "([zero] or [one]) and [one]",
        "NOT ([five] = '4' AND [one] = '1')", "[five] + 1 = 6", "[five] * 2 - 1 = 9", "2 ^ 3 = 8",
        "-[five] = -5", "round(2.5) = 3", "round([five] / 3, 2) = 1.67", "sum([one], [five]) = 6",
        "abs(-2) = 2", "min([one], [five]) = 1", "max([one], [five]) = 5", "true",
        "contains([text], 'LIVER')", "if([one] = 1, [five], [zero]) = 5",
        "datediff([day], [later], 'd') = 30", "datediff([later], [day], 'd') = 30",
        "datediff([later], [day], 'd', true) = -30", "datediff([day], [later], 'h') = 720",
        "datediff([day], 'today', 'y') < 100", "isblankormissingcode([open])",
        "isblankormissingcode([coded])", "not isblankormissingcode([five])", "[open] = ''",
        "[one] or [gone]", "[gone] = 1 or [one] = 1", "// a remark\n[one] = 1",
        "# a remark\n[one] = 1", "[one] = 1 // it's so", "[one] = 1 # and\n and [five] = 5",
        "[coded] = 'NA'", "'NA' = [coded]", "[coded] <> 'UNK'", "[coded] <> ''", "[five:value] = 5",
        "datediff([day], today, 'y') < 100", "[five] = '#5' or [five] = '5//' or [one]",
    ],
)  # fmt: skip
def test_shown(text: str) -> None:
    assert shown(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "[five] = 4", "[blank] <> ''", "[blank] > 3", "[text] = 'liver disease'", "[zero]", "false",
        "[zero] and [gone]", "[gone] = 1 and [one] = 0", "[open] <> ''", "not [one]",
        "isblankormissingcode([one])", "1 / 0 = 5", "[five] = 5 and not ([one] = 1)",
        "[coded] = 'UNK'", "[open] > ''", "[coded] = ''", "[coded] <> 'NA'",
    ],
)  # fmt: skip
def test_hidden(text: str) -> None:
    assert shown(text) is False


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("[open] = 1", "open"), ("[coded] = 1", "coded"), ("[gone] = ''", "gone"),
        ("not [gone]", "gone"), ("[one] and [open] = 1", "open"), ("[zero] or [gone]", "gone"),
        ("[open] = 1 and [gone] = 1", "open"), ("[open] + 1 > 3", "open"),
        ("[coded] > 'NA'", "coded"), ("[coded] = 'ND'", "coded"),
        ("datediff([open], 'today', 'd') > 3", "open"), ("isblankormissingcode([gone])", "gone"),
    ],
)  # fmt: skip
def test_undecided_names_the_first_open_field(text: str, cause: str) -> None:
    found = shown(text)
    assert isinstance(found, Open)
    assert found.cause == cause
