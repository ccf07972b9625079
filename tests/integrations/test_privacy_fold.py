"""However a known identifier is spelled, nothing of it leaves; what is none stays byte for byte.

The ways of spelling are composed: each changes a list of the identifier's characters (edge case E47).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.values import PLACEHOLDER
from core.privacy.fold_text import normalise
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known

NAMES = [
    "张伟", "张三丰", "欧阳娜娜", "测试甲一", "买买提·艾合买提江", "阿依古丽·吐尔逊·热合曼", "Anna Li",
    "John Michael Smith",
]  # fmt: skip
NUMBERS = [
    "13800138000",
    "010-62345678",
    "110101196201010008",
    "11010119900307451X",
    "ZY9000001",
    "20260011",
]
KNOWN = Known.of(
    {
        "subject_name": NAMES,
        "phone": NUMBERS[:2],
        "id_card": NUMBERS[2:4],
        "hospital_no": NUMBERS[4:],
    },
    keep=["P001", "7", "007", "12"],
)
HARMLESS = Path(__file__).with_name("harmless.txt").read_text(encoding="utf-8").splitlines()
TITLES = ["先生", "女士", "阿姨", "同志"]
Way = Callable[[list[str]], list[str]]


def between(sign: str) -> Way:
    return lambda signs: [signs[0], *(f"{sign}{one}" for one in signs[1:])]


def every(number: int, sign: str) -> Way:
    """Groups, as numbers are read out: 138、0013、8000."""
    return lambda signs: [
        f"{sign}{one}" if at and at % number == 0 else one for at, one in enumerate(signs)
    ]


def drawn(mark: str) -> Way:
    return lambda signs: [f"{one}{mark}" for one in signs]


def bracketed(pair: str) -> Way:
    return lambda signs: [f"{pair[0]}{one}{pair[1]}" for one in signs]


def looking(table: dict[str, str]) -> Way:
    return lambda signs: ["".join(table.get(char, char) for char in one) for one in signs]


def wide(signs: list[str]) -> list[str]:
    return ["".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in one) for one in signs]


def backwards(signs: list[str]) -> list[str]:
    return signs[::-1]


DRAWN = [
    drawn(mark)
    for mark in ("\ufe0f\u20e3", "\u20e3", "\u0338", "\u200b", "\u0301", "\u20dd", "\u2060")
]
APART = [
    between(sign)
    for sign in (
        " ",
        "、",
        "-",
        "·",
        "•",
        "・",
        "‧",
        ".",
        "_",
        "/",
        "|",
        "\u3000",
        "—",
        "*",
        " - ",
        "\n",
    )
]
GROUPED = [every(n, sign) for n in (3, 4) for sign in ("、", " ", "-", ",", "; ", " / ")]
ROUND = [bracketed(pair) for pair in ("()", "[]", "{}", "【】", "（）", "<>")]
ALIKE = [
    looking({"0": "o", "1": "l"}), looking({"0": "O", "1": "I"}), looking({"0": "〇", "3": "三", "1": "幺"}),
    looking({"0": "零", "8": "捌"}),
]  # fmt: skip
NUMBER_WAYS = [[backwards], ALIKE, DRAWN, [*APART, *GROUPED, *ROUND], [wide]]
SHORT = 8
AROUND = st.sampled_from(["", "问:", "患者 ", "\n", "请看 ", "ALT 38, "])


def mask(text: str) -> str:
    return str(Gate(KNOWN, today=date(2026, 11, 21)).text(text))


def undrawn(text: str) -> str:
    """Without keycaps, strokes and circles around the signs."""
    return "".join(char for char in text if unicodedata.category(char) not in ("Mn", "Me"))


def bare(text: str) -> str:
    """The letters and digits that a reader of a text sees, its placeholders left out."""
    plain = unicodedata.normalize("NFKD", PLACEHOLDER.sub("\0", text)).casefold()
    return "".join(char for char in plain if char.isalnum() or char == "\0")


def runs(value: str, size: int = 4) -> set[str]:
    letters = bare(value)
    return {letters[at : at + size] for at in range(len(letters) - size + 1)}


def spelled(value: str, ways: list[Way]) -> str:
    signs = [char for char in value if char.isalnum()]
    for way in ways:
        signs = way(signs)
    return "".join(signs)


@given(
    st.sampled_from(NUMBERS),
    st.tuples(*(st.none() | st.sampled_from(ways) for ways in NUMBER_WAYS)),
    AROUND,
    AROUND,
)
def test_nothing_of_a_number_leaves(
    number: str, chosen: tuple[Way | None, ...], before: str, after: str
) -> None:
    """Reversed, with look-alikes, drawn on, taken apart, in full width: in any composition."""
    typed = spelled(number, [way for way in chosen if way])
    if len(number) <= SHORT and re.search(r"\d\s?[./]\s?\d", undrawn(normalise(typed))):
        return  # 765/4321 and 76543.21 are figures, drawn on, too
    masked = mask(f"{before}{typed} {after}")
    left = bare(masked)
    pieces = runs(number) | runs(number[::-1]) | runs(typed)
    assert not [run for run in pieces if run in left], (typed, masked)


@given(
    st.sampled_from(NAMES),
    st.tuples(*(st.none() | st.sampled_from(ways) for ways in (DRAWN, [*APART, *ROUND], [wide]))),
    AROUND,
)
def test_no_name_leaves(name: str, chosen: tuple[Way | None, ...], before: str) -> None:
    typed = spelled(name, [way for way in chosen if way])
    masked = mask(f"{before}{typed} 的ALT")
    assert bare(name) not in bare(masked)
    assert bare(typed) not in bare(masked), (typed, masked)


@given(
    st.sampled_from([name for name in NAMES if "·" not in name and not name.isascii()]),
    st.sampled_from(TITLES),
    st.sampled_from(["", " ", "、", "\u200b"]),
    AROUND,
)
def test_a_title_inside_a_name_hides_nothing(name: str, title: str, gap: str, before: str) -> None:
    family, own = (name[:2], name[2:]) if name.startswith("欧阳") else (name[:1], name[1:])
    masked = mask(f"{before}{family}{gap}{title}{gap}{own}的ALT")
    assert family not in masked
    assert own not in masked


@pytest.mark.parametrize("dot", "·•・‧∙⋅.･")
@pytest.mark.parametrize("name", ["买买提·艾合买提江", "吐尔逊·古丽努尔", "伊力哈木·买买提艾力"])
def test_a_name_of_several_parts_known_or_not(dot: str, name: str) -> None:
    for known in (Known(), KNOWN):
        masked = str(Gate(known).text(f"问{name.replace('·', dot)}的ALT"))
        assert not [part for part in name.split("·") if part in masked], masked


@pytest.mark.parametrize(
    "typed",
    ["Anna Li", "Li Anna", "LI, ANNA", "anna·li", "Anna\nLi", "Smith John", "John Smith", "Smith, John Michael",
     "Michael Smith John", "JOHN M\u200bICHAEL SMITH"],
)  # fmt: skip
def test_latin_names_in_both_orders(typed: str) -> None:
    masked = mask(f"{typed} 的ALT")
    assert masked == "[姓名#1] 的ALT"


@pytest.mark.parametrize(
    "typed", ["患者 张 伟 复诊", "患者张　卫 东 复诊", "患者John Smith的ALT", "家属 Mary Jones, 女"]
)
def test_strangers_with_blanks_in_their_names(typed: str) -> None:
    masked = str(Gate().text(typed))
    assert "[姓名#1]" in masked
    assert not [
        part for part in ("张", "伟", "卫", "John", "Smith", "Mary", "Jones") if part in masked
    ]


@pytest.mark.parametrize("line", HARMLESS)
def test_what_is_no_identifier_stays(line: str) -> None:
    assert mask(line) == line


PLAIN = [line for line in HARMLESS if line == normalise(line)]


@given(st.lists(st.sampled_from(PLAIN), min_size=2, max_size=6), st.sampled_from(NUMBERS + NAMES))
def test_it_stays_beside_one_too(lines: list[str], secret: str) -> None:
    lines = [*lines[:1], f"~ {secret} ~", *lines[1:]]
    shown = mask("\n".join(lines)).split("\n")
    assert len(shown) == len(lines)
    assert re.fullmatch(r"~ (?:\[[\u4e00-\u9fff]+#1\]-?)+ ~", shown[1]), shown[1]
    assert [*shown[:1], *shown[2:]] == [*lines[:1], *lines[2:]]


@pytest.mark.parametrize(
    ("typed", "joined"),
    [
        ("电话138、0013、8000的ALT", "电话13800138000的ALT"),
        ("138;0013;8000 今天到了吗,张。伟呢", "13800138000 今天到了吗,张伟呢"),
        ("张、三丰入组了吗,P001呢", "张三丰入组了吗,P001呢"),
        ("P001、P002、P003 的 ALT、AST", "P001、P002、P003 的 ALT、AST"),
    ],
)
def test_a_message_is_split_where_no_identifier_lies(typed: str, joined: str) -> None:
    assert Gate(KNOWN).joined(typed) == joined


def test_a_joined_identifier_is_masked_in_the_whole() -> None:
    gate = Gate(KNOWN)
    assert gate.text(gate.joined("138、0013、8000")) == "[电话#1]"
