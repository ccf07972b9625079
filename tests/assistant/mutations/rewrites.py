"""The same said otherwise: what is true stays so, whatever the way of saying it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from tests.answers.export import Cell
from tests.assistant.mutations.pieces import Piece, Truth, said

FRAMES = ("您好，", "经查询，", "根据系统记录，", "您好！", "好的，为您查到：")
OFFERS = ("如需进一步信息，请随时告诉我。", "希望对您有帮助。", "请登录REDCap查看详情。")
SYNONYMS = {
    "；": "，另外",
    "，另外": "；",
    "分别为": "依次是",
    "为": "是",
    "目前": "现在",
    "共有": "一共有",
    "尚未": "还没有",
    "还没有": "尚未",
    "未填写": "没有填写",
    "约": "大约",
    "请核实": "请您核对",
    "均": "都",
    "都": "均",
    "不能": "不可以",
    "因为": "由于",
    "升高": "上升",
    "下降": "降低",
    "降至": "降到",
    "升至": "升到",
    "开始": "起始",
    "结束": "终止",
}
NAMES = {
    "ALT": "谷丙转氨酶",
    "AST": "谷草转氨酶",
    "血红蛋白": "HGB",
    "HGB": "血红蛋白",
    "白细胞": "WBC",
    "WBC": "白细胞",
    "血小板": "PLT",
    "PLT": "血小板",
    "BMI": "体重指数",
    "AE": "不良事件",
    "演示医院A": "A中心",
    "A中心": "演示医院A",
    "B中心": "演示医院B",
    "SAE": "严重不良事件",
}
_NUMERAL = "零一二三四五六七八九"
_MONTH_DAY = re.compile(r"(?<![\d年])(\d{1,2})月(\d{1,2})日")
_ISO = re.compile(r"(20\d\d)-(\d\d)-(\d\d)")
_COUNT = re.compile(r"(?<![\dA-Za-z.年月第#])(\d{1,2})(?=[例条种次名])")


def frames(truth: Truth) -> Iterator[str]:
    """Courtesy before and behind."""
    number = sum(map(ord, truth.case["id"]))
    say: str = truth.case["say"]
    if "|---" in say or say.startswith("您好"):
        return
    yield FRAMES[number % len(FRAMES)] + say
    yield f"{say}{OFFERS[number % len(OFFERS)]}"


def synonyms(truth: Truth) -> Iterator[str]:
    """Connectives and verbs that mean the same."""
    for old, new in SYNONYMS.items():
        for at, piece in enumerate(truth.pieces):
            pattern = rf"(?<![不未没非尚认作应因称])(?<!SAE){re.escape(old)}(?![何了此止准主])"
            is_quoted = "“" in piece.text or any(old in cell.value for cell in piece.cells)
            if not is_quoted and re.search(pattern, piece.text):
                yield truth.with_piece(at, re.sub(pattern, new, piece.text, count=1))
                break


def names(truth: Truth) -> Iterator[str]:
    """Fields and sites by their other name; what is quoted of a record stays as it is."""
    for old, new in NAMES.items():
        pattern = rf"(?<![A-Za-z酶白板数S]){re.escape(old)}(?![A-Za-z板减胞数（计\d])"
        is_quoted = any(old in cell.value for cell in truth.cells)
        if re.search(pattern, truth.words) and new not in truth.words and not is_quoted:
            yield said([Piece(re.sub(pattern, new, p.text), p.marks) for p in truth.pieces])


def dates(truth: Truth) -> Iterator[str]:
    """A date in another form; the year is that of the cited one."""
    years = {cell.value[5:]: cell.value[:4] for cell in truth.cells if _ISO.fullmatch(cell.value)}

    def iso(found: re.Match[str]) -> str:
        day = f"{int(found[1]):02}-{int(found[2]):02}"
        return f"{years[day]}-{day}" if day in years else found[0]

    def slashes(found: re.Match[str]) -> str:
        return f"{int(found[1])}/{int(found[2])}/{int(found[3])}"

    def spoken(found: re.Match[str]) -> str:
        day = date.fromisoformat(found[0])
        return f"{day.year}年{day.month}月{day.day}日"

    full = [Piece(_MONTH_DAY.sub(iso, p.text), p.marks) for p in truth.pieces]
    for form in (slashes, spoken):
        yield said([Piece(_ISO.sub(form, p.text), p.marks) for p in full])
    yield said(full)


def numerals(truth: Truth) -> Iterator[str]:
    """Counts in Chinese."""
    yield said([Piece(_COUNT.sub(_chinese, p.text), p.marks) for p in truth.pieces])


def rounding(truth: Truth) -> Iterator[str]:
    """A percentage without its fraction."""

    def rough(found: re.Match[str]) -> str:
        return f"{float(found[1]):.0f}%"

    pattern = re.compile(r"约?(?<![\d.])(\d+\.\d+)%")
    pieces = [Piece(pattern.sub(lambda m: f"约{rough(m)}", p.text), p.marks) for p in truth.pieces]
    yield said(pieces)


def late_marks(truth: Truth) -> Iterator[str]:
    """All sources of a sentence at its end."""
    sentences = re.split(r"(?<=[。\n])", truth.case["say"])
    moved = []
    for sentence in sentences:
        marks = "".join(dict.fromkeys(re.findall(r"\{[^{}\n]+\}", sentence)))
        words = re.sub(r"\{[^{}\n]+\}", "", sentence)
        body = words.rstrip("。\n")
        moved.append(f"{body}{marks}{words[len(body) :]}" if "|" not in words else sentence)
    yield "".join(moved)


def order(truth: Truth) -> Iterator[str]:
    """Two neighbours of an enumeration of visits changed places."""
    if truth.case["kind"] == "trend":
        return
    for at, (one, two) in enumerate(pairwise(truth.pieces)):
        first, second = _bare(one), _bare(two)
        if first and second and len(one.cells) == len(two.cells) == 1:
            head = one.text[: one.text.rindex(first)]
            between = two.text[: two.text.index(second)]
            if between in ("、", "，") and _unit(first) == _unit(second):
                turned = [Piece(head + second, two.marks), Piece(between + first, one.marks)]
                yield said([*truth.pieces[:at], *turned, *truth.pieces[at + 2 :]])


def tables(truth: Truth) -> Iterator[str]:
    """An enumeration of visits as a table, and as a list."""
    rows = [piece for piece in truth.pieces if _bare(piece) and len(piece.cells) == 1]
    fields = {(piece.cells[0].subject, piece.cells[0].label) for piece in rows}
    if len(rows) < 2 or len(fields) != 1:
        return
    subject, label = fields.pop()
    cells = [(piece.cells[0], piece.marks) for piece in rows]
    lines = "\n".join(f"| {cell.place} | {cell.value}{marks} |" for cell, marks in cells)
    yield f"{subject}的{label}：\n| 访视 | 结果 |\n|---|---|\n{lines}"
    listed = "\n".join(f"- {cell.place}：{cell.value}{marks}" for cell, marks in cells)
    yield f"{subject}的{label}：\n{listed}"


def facts(truth: Truth) -> Iterator[str]:
    """Each value that is cited, said in a plain sentence of its own."""
    for piece in truth.pieces:
        for cell in piece.cells[:1]:
            if re.fullmatch(r"\d+(\.\d+)?", cell.value) and cell.place and _bare(piece):
                yield f"{cell.subject}在{cell.place}的{_short(cell)}是{cell.value}{piece.marks}。"


def _bare(piece: Piece) -> str:
    """`V2 185 U/L` at the end of a piece, "" where there is none."""
    found = re.search(r"(基线|V\d) ?[\d.]+( ?(?:U/L|g/L|%|mmol/L))?$", piece.text)
    cell = piece.cells[0] if len(piece.cells) == 1 else None
    fits = found and cell and cell.place == found[1] and cell.value in found[0]
    return found[0] if fits and found else ""


def _unit(text: str) -> str:
    return re.sub(r"^(基线|V\d) ?[\d.]+", "", text)


def _short(cell: Cell) -> str:
    return re.sub(r"（.*?）", "", cell.label)


def _chinese(found: re.Match[str]) -> str:
    number = int(found[1])
    if number == 2:
        return "两"
    tens, ones = divmod(number, 10)
    ten = f"{_NUMERAL[tens] if tens > 1 else ''}十" if tens else ""
    return ten + (_NUMERAL[ones] if ones or not tens else "")
