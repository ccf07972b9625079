"""Where subjects stand in a normalised text: `records.record_spans`."""

from itertools import pairwise

import pytest

from engines.assistant.read.records import record_spans
from engines.assistant.read.spelling import normalise

LETTERED = {
    "P001": "P001",
    "p001的血压": "P001",
    "P 001": "P001",
    "P-001": "P-001",
    "P - 001": "P-001",
    "查一下p-7": "P-7",
    "P1的血压": "P1",
    "S-0045": "S-0045",
    "s0045": "S0045",
    "S 0045": "S0045",
    "SH-02-019": "SH-02-019",
    "sh - 02 - 019": "SH-02-019",
    "sh 02 019": "SH02019",
    "SH_02_019": "SH_02_019",
    "SH02019": "SH02019",
    "HN01-015": "HN01-015",
    "IIT-BJ-003": "IIT-BJ-003",
    "SCR-014": "SCR-014",
    "PT-0032": "PT-0032",
    "N007": "N007",
    "A0012的肌酐": "A0012",
    "T003哪天出组": "T003",
    "01中心P140": "P140",
    "P237V4哪天": "P237",
    "“P244”": "P244",
    "P<zwsp>001": "P001",
}
BARE = {
    "ID 7": "7",
    "ID:19": "19",
    "id 0042": "0042",
    "ID号12": "12",
    "编号为0105": "0105",
    "编号是45": "45",
    "受试者12": "12",
    "患者007": "007",
    "病人33": "33",
    "病例23": "23",
    "筛选号5012": "5012",
    "subject 014": "014",
    "patient no. 9": "9",
    "pt 15": "15",
    "#12的AE": "12",
    "8号患者": "8",
    "8号的患者": "8",
    "8号那个病人": "8",
    "8号女患者": "8",
    "7号老太太": "7",
    "7号那个老爷子": "7",
    "第37号受试者": "37",
    "10023号患者": "10023",
    "8号的血常规": "8",
    "8号最近的血压": "8",
    "11号吐了": "11",
    "23号怎么还没随机": "23",
    "6号入组了没": "6",
    "给12号跑质控": "12",
    "查一下9号": "9",
    "008的AE": "008",
    "0031号": "0031",
    "01-015的AE": "01-015",
}
MANY = {
    "P001和P002": ["P001", "P002"],
    "P001和002": ["P001", "002"],
    "P001、002、003": ["P001", "002", "003"],
    "P012、13、14": ["P012", "13", "14"],
    "P001/P002": ["P001", "P002"],
    "P001-P003": ["P001", "P003"],
    "P001~P003": ["P001", "P003"],
    "P001 P001": ["P001", "P001"],
    "3、5、7号患者": ["3", "5", "7"],
    "3号和5号受试者": ["3", "5"],
    "受试者101和102": ["101", "102"],
    "007和7是同一个人吗": ["007", "7"],
    "7号患者和007": ["7", "007"],
    "S-0210跟S-0211": ["S-0210", "S-0211"],
    "P001,12号患者": ["P001", "12"],
}
NONE = [
    "",
    "01中心",
    "02分中心入了几个",
    "中心01",
    "site 03",
    "SH-01中心",
    "V3",
    "V2D28",
    "C1D1",
    "W12",
    "D28",
    "2025-03-18",
    "3月5号",
    "15号之前",
    "15号上午",
    "75岁",
    "30例",
    "5个病人",
    "8周",
    "血压132/84",
    "血红蛋白130",
    "体温36.8",
    "60kg",
    "ECOG 2分",
    "CA125",
    "CA19-9",
    "PD-L1",
    "HER2",
    "IL-6多少",
    "HbA1c 7.2",
    "COVID-19",
    "NCT01234567",
    "ChiCTR2100012345",
    "GPT-4",
    "B12缺乏",
    "H1N1",
    "n=30",
    "p=0.05",
    "注册号2024001",
    "批件号2024-018",
    "随机号1007",
    "方案号003",
    "版本号002",
    "电话13812345678",
    "3号床",
    "5号楼",
    "第5条标准",
    "第12周",
    "100%",
    "受试者3例",
    "患者一直咳嗽",
]
OWN = [
    (r"\d{4}", "1003的AE", ["1003"]),
    (r"\d{4}", "2024年的1003", ["1003"]),
    (r"SUBJ\d{3}", "subj 009", ["SUBJ009"]),
    (r"X-\d\d-[A-Z]", "X-12-A和P001", ["X-12-A"]),
    (r"^K\d{2}$", "k07和k08", ["K07", "K08"]),
    (r"P\d{3}", "7号患者", []),
    (r"[A-Z]{2}\d{2}_\d", "ab12_3", ["AB12_3"]),
    ("(", "P007", ["P007"]),
    (r"P(?=\d)\d{3}", "7号患者", ["7"]),
    (r"((\d|-|[0-9])+)+X", "受试者123456-123456-123456-123456的ALT", []),
    (r"((\d|-)*)*X", "受试者123456-123456-123456-123456的ALT", []),
    (r"([A-Z]|\w|_)+!", "ABCDEFGHIJKLMNOPQRST1的ALT", []),
    ("", "P007", ["P007"]),
    (None, "P007", ["P007"]),
]


def _values(text: str, pattern: str | None = None) -> list[str]:
    return [span.value for span in record_spans(normalise(text), pattern)]


@pytest.mark.parametrize(("text", "value"), [*LETTERED.items(), *BARE.items()])
def test_one_subject(text: str, value: str) -> None:
    assert _values(text.replace("<zwsp>", "\u200b")) == [value]


@pytest.mark.parametrize(("text", "values"), MANY.items())
def test_several_subjects_in_order_of_the_words(text: str, values: list[str]) -> None:
    assert _values(text) == values


@pytest.mark.parametrize("text", NONE)
def test_other_numbers(text: str) -> None:
    assert _values(text) == []


@pytest.mark.parametrize(("pattern", "text", "values"), OWN)
def test_a_projects_pattern(pattern: str | None, text: str, values: list[str]) -> None:
    assert _values(text, pattern) == values


@pytest.mark.parametrize("text", [*LETTERED, *BARE, *MANY])
def test_spans_point_into_the_text_and_do_not_overlap(text: str) -> None:
    plain = normalise(text)
    spans = record_spans(plain)
    assert all(plain[s.start : s.end].strip() for s in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
