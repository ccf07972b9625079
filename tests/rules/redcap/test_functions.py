"""REDCap's functions × blanks, missing codes, partial dates, repeating forms: each line with its source.

Two columns: what a calculation gives (blanks as REDCap has them) and what a rule or a branching logic says
(a blank may still be filled in: open). `? reason` is open.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from core.rules.context import StudyContext
from core.rules.record import Record
from core.rules.redcap.functions import FUNCTIONS
from core.rules.redcap.nodes import Open, Operand
from core.rules.redcap.parser import parse_logic
from core.rules.redcap.rows import RowView
from core.rules.visibility import visibility
from tests.rules.support import DICTIONARY, MISSING_CODES, field

FUN = "redcap_dify.md, Functions of REDCap's logic"
SUB = "redcap_dify.md 1.14"
TYPING = "redcap_dify.md 1.2, typing rules"
CALC01 = "github.com/bdeveer/REDCap_KB_RAG: RC-CALC-01 Special Functions Reference"
HELP = 'scribd.com/document/628776406 Calculated Fields, REDCap How-To Guide (blank is "" or NaN)'
SMART = "info.5y1.org Smart Variables (REDCap help text), with RC-PIPE of bdeveer/REDCap_KB_RAG"
TIMES = "REDCap help, datediff: times of day differ by hours, minutes and seconds"
OURS = "decisions.md, Engines: what cannot be decided is UNKNOWN"
UNDOCUMENTED = "no source tells: open"

PROJECT: dict[str, Any] = {
    **MISSING_CODES,
    "form_event_mapping": [
        {"arm_num": arm, "unique_event_name": f"{event}_arm_{arm}", "form": form}
        for arm in (1, 2)
        for event, form in (
            *(("base", "base"), ("base", "ae"), ("v1", "visit"), ("v2", "base"), ("v3", "visit")),
            ("v3", "base"),
        )
    ],
    "repeating": [{"event_name": "base_arm_1", "form_name": "ae"}],
}
EXTRA = [field("score", form="ae", validation="number"), field("day2", validation="date_ymd")]
BASE = {
    "record_id": "P-7", "redcap_event_name": "base_arm_1", "redcap_data_access_group": "site_a",
    "age": "64", "alt": "", "ast": "NA", "comma": "6,5", "weight": "70", "height": "1.75", "vas": "",
    "bmi": "", "sex": "1", "ecog": "2", "consent": "", "eligible": "1", "dob": "1960-02-29",
    "icf": "2024-03-01", "first_dose": "", "day2": "2024-03", "icf_time": "2024-03-01 10:30",
    "dose_time": "UNK", "wake": "07:30", "lap": "12:30",
    "note": "Liver disease", "text": "", "ae_start": "2023-UN-UN",
    "exclusion___1": "1", "exclusion___2": "0", "exclusion___3": "0", "preg": "", "base_complete": "2",
}  # fmt: skip
HERE = {"redcap_event_name": "base_arm_1", "redcap_repeat_instrument": "ae"}
ROWS = [
    BASE,
    {**HERE, "redcap_repeat_instance": 1, "score": "4", "ae_term": "Rash", "ae_complete": "2"},
    {**HERE, "redcap_repeat_instance": 2, "score": "", "ae_term": "Cough", "ae_complete": "2"},
    {**HERE, "redcap_repeat_instance": 4, "score": "9", "ae_term": "", "ae_complete": "2"},
    {"redcap_event_name": "v1_arm_1", "visit_alt": "31", "visit_date": "", "visit_complete": "2"},
    {"redcap_event_name": "v3_arm_1", "visit_alt": "<5", "visit_date": "2024-05-01", "age": "65"},
]

# text, in a calculation, in a rule, source; at the first row
TABLE: list[tuple[str, str, str, str]] = [
    # arithmetic and comparisons
    ("[weight] + 1", "71", "71", FUN),
    ("[alt] + 1", "''", "? missing", FUN),
    ("[alt] * 0", "''", "? missing", FUN),
    ("[ast] + 1", "? missing_code", "? missing_code", UNDOCUMENTED),
    ("[weight] / 0", "''", "''", FUN),
    ("[comma] * 2", "13.0", "13.0", TYPING),
    ("(2)^(3)", "8", "8", CALC01),
    ("([alt])^(2)", "''", "? missing", FUN),
    ("[alt] = ''", "true", "true", HELP),
    ("[alt] = NaN", "true", "true", HELP),
    ("[alt] = 'NaN'", "true", "true", HELP),
    ("[alt] > 3", "false", "? missing", OURS),
    ("[alt] < 3", "? missing", "? missing", UNDOCUMENTED),
    ("[ast] = 'NA'", "true", "true", TYPING),
    ("[ast] <> ''", "true", "true", TYPING),
    ("[ast] > 3", "? missing_code", "? missing_code", OURS),
    ("[day2] > '2024-02-29'", "true", "true", OURS),
    ("[day2] > '2024-03-15'", "? partial_date", "? partial_date", OURS),
    ("[exclusion(1)] = '1'", "true", "true", SUB),
    ("[exclusion(2)] = '1'", "false", "false", SUB),
    ("[preg] = ''", "true", "true", SUB),
    ("[weight] = 70 && [age] == 64", "true", "true", FUN),
    ("[alt] = '' OR [ast] > 3", "true", "true", FUN),
    ("[weight] = 70 # a remark\nand [age] = 64", "true", "true", FUN),
    # if
    ("if([sex] = '1', 5, 6)", "5", "5", CALC01),
    ("if([alt] = '', 0, [alt])", "0", "0", CALC01),
    ("if([alt] > 3, 1, 0)", "0", "? missing", SUB),
    ("if([ast] > 3, 1, 1)", "1", "1", OURS),
    ("if([ast] > 3, 1, 0)", "? missing_code", "? missing_code", OURS),
    # blanks and missing codes
    ("isblankormissingcode([alt])", "true", "true", CALC01),
    ("isblankormissingcode([ast])", "true", "true", CALC01),
    ("isblankormissingcode([age])", "false", "false", CALC01),
    ("isblankormissingcode([day2])", "false", "false", CALC01),
    ("isblanknotmissingcode([alt])", "true", "true", CALC01),
    ("isblanknotmissingcode([ast])", "false", "false", CALC01),
    ("isblanknotmissingcode([age])", "false", "false", CALC01),
    ("ismissingcode([ast])", "true", "true", CALC01),
    ("ismissingcode([alt])", "false", "false", CALC01),
    ("ismissingcode([age])", "false", "false", CALC01),
    ("hasmissingcode([ast], 'UNK, NA')", "true", "true", CALC01),
    ("hasmissingcode([ast], 'UNK')", "false", "false", CALC01),
    ("hasmissingcode([alt], 'NA')", "false", "false", CALC01),
    ("isblankormissingcode([nowhere])", "? not_exported", "? not_exported", OURS),
    # aggregates
    *(
        line
        for name, two, alone in (
            ("sum", "134", "70"),
            ("mean", "67", "70"),
            ("median", "67", "70"),
            ("min", "64", "70"),
            ("max", "70", "70"),
            ("stdev", "4.2426", "''"),
        )
        for line in (
            (f"round({name}([weight], [age]), 4)", two, two, CALC01),
            (f"round({name}([weight], [alt], [age]), 4)", two, two, FUN),
            (f"{name}([weight], [alt])", alone, alone, FUN),
            (f"{name}([alt], [first_dose])", "''", "? missing", FUN),
            (f"{name}([weight], [ast])", "? missing_code", "? missing_code", UNDOCUMENTED),
        )
    ),
    # rounding and other functions of numbers
    ("round(14.384, 1)", "14.4", "14.4", CALC01),
    ("round(2.5)", "3", "3", CALC01),
    ("roundup(14.384, 1)", "14.4", "14.4", CALC01),
    ("roundup(0 - 1.2)", "-2", "-2", CALC01),
    ("rounddown(14.384, 1)", "14.3", "14.3", CALC01),
    ("rounddown(0 - 1.8)", "-1", "-1", CALC01),
    ("sqrt(49)", "7", "7", CALC01),
    ("sqrt(0 - 4)", "''", "''", FUN),
    ("abs(0 - 7.1)", "7.1", "7.1", CALC01),
    ("round(exponential(1), 3)", "2.718", "2.718", CALC01),
    ("log(100, 10)", "2", "2", CALC01),
    ("round(log(10), 4)", "2.3026", "2.3026", CALC01),
    ("log(0)", "''", "''", FUN),
    ("mod(10, 4)", "2", "2", CALC01),
    ("mod(10, 0)", "''", "''", FUN),
    *(
        line
        for call in (
            *("round({})", "roundup({}, 1)", "rounddown({}, 1)", "sqrt({})", "abs({})", "log({})"),
            *("exponential({})", "mod({}, 3)"),
        )
        for line in (
            (call.format("[alt]"), "''", "? missing", FUN),
            (call.format("[ast]"), "? missing_code", "? missing_code", UNDOCUMENTED),
        )
    ),
    ("isnumber([weight])", "true", "true", CALC01),
    ("isnumber([note])", "false", "false", CALC01),
    ("isnumber([alt])", "false", "? missing", CALC01),
    ("isnumber([ast])", "? missing_code", "? missing_code", UNDOCUMENTED),
    ("isinteger([age])", "true", "true", CALC01),
    ("isinteger([height])", "false", "false", CALC01),
    ("isinteger('5.0')", "? missing", "? missing", UNDOCUMENTED),
    ("isinteger([alt])", "false", "? missing", CALC01),
    # texts
    ("contains([note], 'LIVER')", "true", "true", CALC01),
    ("not_contain([note], 'heart')", "true", "true", CALC01),
    ("starts_with([note], 'liv')", "true", "true", CALC01),
    ("ends_with([note], 'Disease')", "true", "true", CALC01),
    ("contains([text], 'x')", "false", "? missing", CALC01),
    ("not_contain([text], 'x')", "true", "? missing", CALC01),
    ("starts_with([text], 'x')", "false", "? missing", CALC01),
    ("ends_with([text], 'x')", "false", "? missing", CALC01),
    ("contains([ast], 'N')", "? missing_code", "? missing_code", UNDOCUMENTED),
    ("find('y', 'Taylor')", "3", "3", CALC01),
    ("find('z', 'Taylor')", "0", "0", CALC01),
    ("find('t', 'Taylor')", "? missing", "? missing", UNDOCUMENTED),
    ("find('x', [text])", "0", "? missing", CALC01),
    ("left('Taylor', 3)", "'Tay'", "'Tay'", CALC01),
    ("right('Taylor', 4)", "'ylor'", "'ylor'", CALC01),
    ("right(concat('00', 7), 3)", "'007'", "'007'", CALC01),
    ("mid('Taylor', 2, 3)", "'ayl'", "'ayl'", CALC01),
    ("length('Taylor')", "6", "6", CALC01),
    ("trim(' hello ')", "'hello'", "'hello'", CALC01),
    ("upper('John Doe')", "'JOHN DOE'", "'JOHN DOE'", CALC01),
    ("lower('John Doe')", "'john doe'", "'john doe'", CALC01),
    ("replace_text('a Taylor', 'Taylor', 'Harris')", "'a Harris'", "'a Harris'", CALC01),
    ("concat('Rob', ' ', 'Taylor')", "'Rob Taylor'", "'Rob Taylor'", CALC01),
    ("concat_ws(' and ', 'Peas', [text], 'Rice')", "'Peas and Rice'", "'Peas and Rice'", CALC01),
    ("concat_ws('-', [text], [ast])", "? missing_code", "? missing_code", UNDOCUMENTED),
    *(
        line
        for call, blank in (
            ("left({}, 2)", "''"),
            ("right({}, 2)", "''"),
            ("mid({}, 1, 2)", "''"),
            ("length({})", "0"),
            ("trim({})", "''"),
            ("upper({})", "''"),
            ("lower({})", "''"),
            ("replace_text({}, 'a', 'b')", "''"),
            ("concat({}, 'a')", "'a'"),
        )
        for line in (
            (call.format("[text]"), blank, "? missing", CALC01),
            (call.format("[ast]"), "? missing_code", "? missing_code", UNDOCUMENTED),
        )
    ),
    # dates
    ("datediff([icf], '2024-03-31', 'd')", "30", "30", SUB),
    ("datediff('2024-03-31', [icf], 'd')", "30", "30", SUB),
    ("datediff('2024-03-31', [icf], 'd', true)", "-30", "-30", SUB),
    ("datediff('2024-03-31', [icf], 'd', 'ymd', true)", "-30", "-30", SUB),
    ("datediff('31-03-2024', [icf], 'd', 'dmy', true)", "-30", "-30", SUB),
    ("datediff([icf], [icf_time], 'h')", "10.5", "10.5", SUB),
    ("datediff([icf], [icf_time], 'm')", "630", "630", SUB),
    ("datediff([icf], [icf_time], 's')", "37800", "37800", SUB),
    ("round(datediff('2024-01-01', '2024-12-31', 'M'), 3)", "11.991", "11.991", SUB),
    ("rounddown(datediff([dob], [icf], 'y'), 0)", "64", "64", SUB),
    ("datediff([icf], 'today', 'd')", "? not_exported", "92", SUB),
    ("datediff([icf], 'now', 'd') > 91", "? not_exported", "true", SUB),
    ("datediff([icf], 'now', 'h') > 2210", "? not_exported", "? partial_date", OURS),
    ("datediff([first_dose], [icf], 'd')", "''", "? missing", FUN),
    ("datediff([dose_time], [icf], 'd')", "? missing_code", "? missing_code", UNDOCUMENTED),
    ("datediff([day2], '2024-06-01', 'd') > 60", "true", "true", OURS),
    ("datediff([day2], '2024-06-01', 'd') > 90", "? partial_date", "? partial_date", OURS),
    ("datediff([day2], '2024-03-15', 'd', true) > 20", "false", "false", OURS),
    ("datediff([icf], '2024-03-31', 'fortnight')", "''", "''", FUN),
    ("datediff([note], [icf], 'd')", "''", "''", FUN),
    ("datediff([wake], '10:15', 'h')", "2.75", "2.75", TIMES),
    ("datediff([wake], '06:00', 'm')", "90", "90", TIMES),
    ("datediff([wake], '06:00', 'm', true)", "-90", "-90", TIMES),
    ("datediff([wake], '06:00', 'm', 'ymd', true)", "-90", "-90", TIMES),
    ("datediff('07:30:20', [wake], 's')", "20", "20", TIMES),
    ("datediff([wake], '08:00', 'd')", "? missing", "? missing", UNDOCUMENTED),
    ("datediff([lap], [wake], 'm')", "? missing", "? missing", UNDOCUMENTED),
    ("datediff([wake], [icf], 'h')", "''", "''", FUN),
    ("datediff([wake], [first_dose], 'h')", "''", "? missing", FUN),
    ("age_at_date([dob], [icf])", "64", "64", CALC01),
    ("age_at_date([dob], '2024-02-28')", "63", "63", CALC01),
    ("age_at_date([dob], [day2])", "64", "64", OURS),
    ("age_at_date([dob], [icf], true)", "? missing", "? missing", UNDOCUMENTED),
    ("age_at_date([dob], [first_dose])", "''", "? missing", FUN),
    ("dayoftheweek([icf])", "5", "5", CALC01),
    ("dayoftheweek('today')", "? not_exported", "6", CALC01),
    ("year([icf])", "2024", "2024", CALC01),
    ("month([icf_time])", "3", "3", CALC01),
    ("day([icf])", "1", "1", CALC01),
    ("year([day2])", "2024", "2024", OURS),
    ("month([day2])", "3", "3", OURS),
    ("day([day2])", "? partial_date", "? partial_date", OURS),
    ("year([first_dose])", "''", "? missing", FUN),
    ("month([first_dose])", "''", "? missing", FUN),
    ("day([dose_time])", "? missing_code", "? missing_code", UNDOCUMENTED),
    ("dayoftheweek([first_dose])", "''", "? missing", FUN),
    ("calctext(if([sex] = '1', 'm', 'f'))", "'m'", "'m'", CALC01),
    ("calcdate([icf], 7, 'd')", "'2024-03-08 00:00:00'", "'2024-03-08 00:00:00'", CALC01),
    ("calcdate([icf], 1, 'M')", "? missing", "? missing", UNDOCUMENTED),
    ("calcdate([first_dose], 7, 'd')", "''", "? missing", FUN),
    ("calcdate([day2], 7, 'd')", "? missing", "? missing", UNDOCUMENTED),
    # events and smart variables
    ("[record-name]", "'P-7'", "'P-7'", SMART),
    ("[event-name]", "'base_arm_1'", "'base_arm_1'", SMART),
    ("[arm-number]", "'1'", "'1'", SMART),
    ("[record-dag-name]", "'site_a'", "'site_a'", SMART),
    ("[first-event-name]", "'base_arm_1'", "'base_arm_1'", SMART),
    ("[last-event-name]", "'v3_arm_1'", "'v3_arm_1'", SMART),
    ("[next-event-name]", "'v1_arm_1'", "'v1_arm_1'", SMART),
    ("[previous-event-name]", "''", "''", SMART),
    ("[user-name]", "? not_exported", "? not_exported", OURS),
    ("[event-name][age]", "64", "64", SMART),
    ("[v1_arm_1][visit_alt]", "31", "31", SUB),
    ("[v1_arm_1][visit_date]", "''", "? missing", SUB),
    ("[next-event-name][visit_alt]", "31", "31", SMART),
    ("[last-event-name][visit_alt] < 9", "true", "true", SMART),
    ("[last-event-name][age]", "65", "65", SMART),
    ("[next-event-name][age]", "''", "? missing", SMART),
    ("[previous-event-name][age]", "''", "? missing", SMART),
    ("[v2_arm_1][age]", "''", "? missing", SUB),
    ("[v9_arm_1][age]", "? not_exported", "? not_exported", OURS),
    # repeating forms, seen from the base row
    ("[score][1]", "4", "4", SMART),
    ("[score][2]", "''", "? missing", SMART),
    ("[score][3]", "''", "? missing", SMART),
    ("[score][first-instance]", "4", "4", SMART),
    ("[score][last-instance]", "9", "9", SMART),
    ("[base_arm_1][score][4]", "9", "9", SMART),
    ("[score]", "? not_exported", "? not_exported", UNDOCUMENTED),
    ("[score][previous-instance]", "? not_exported", "? not_exported", OURS),
    ("[age][1]", "64", "64", SMART),
]
# at the instances of the repeating form: text, at 1, 2 and 4 in a calculation, source
REPEATED: list[tuple[str, str, str, str, str]] = [
    ("[current-instance]", "'1'", "'2'", "'4'", SMART),
    ("[previous-instance]", "''", "'1'", "'3'", SMART),
    ("[next-instance]", "'2'", "'3'", "'5'", SMART),
    ("[first-instance]", "'1'", "'1'", "'1'", SMART),
    ("[last-instance]", "'4'", "'4'", "'4'", SMART),
    ("[score]", "4", "''", "9", SMART),
    ("[score][current-instance]", "4", "''", "9", SMART),
    ("[score][previous-instance]", "''", "4", "''", SMART),
    ("[score][next-instance]", "''", "''", "''", SMART),
    ("[score] - [score][previous-instance]", "''", "''", "''", FUN),
    ("sum([score], [score][previous-instance])", "4", "4", "9", FUN),
    ("[age] + 0", "64", "64", "64", SMART),
    ("[ae_term]", "'Rash'", "'Cough'", "''", SUB),
]


def told(value: Operand) -> str:
    if isinstance(value, Open):
        return f"? {value.reason}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}".rstrip("0").rstrip(".") if "." in f"{value:f}" else f"{value:f}"
    return f"'{value}'"


def record() -> Record:
    return Record(StudyContext.build([*DICTIONARY, *EXTRA], PROJECT), ROWS, date(2024, 6, 1))


def at(number: int, text: str, *, is_calculation: bool) -> str:
    view = RowView(record().rows[number], visibility, is_calculation=is_calculation)
    return told(parse_logic(text).node(view))


@pytest.mark.parametrize(("text", "calculated", "ruled", "source"), TABLE)
def test_the_table(text: str, calculated: str, ruled: str, source: str) -> None:
    expected = [_plain(calculated), _plain(ruled)]
    found = [at(0, text, is_calculation=True), at(0, text, is_calculation=False)]
    assert found == expected, source


def _plain(expected: str) -> str:
    return expected.removesuffix(".0")


@pytest.mark.parametrize(("text", "first", "second", "fourth", "source"), REPEATED)
def test_the_table_at_a_repeating_form(
    text: str, first: str, second: str, fourth: str, source: str
) -> None:
    found = [at(number, text, is_calculation=True) for number in (1, 2, 3)]
    assert found == [first, second, fourth], source


def test_every_function_stands_in_the_table() -> None:
    written = " ".join(line[0] for line in TABLE)
    assert not [name for name in FUNCTIONS if f"{name}(" not in written]
    assert all(line[-1] for line in [*TABLE, *REPEATED])
