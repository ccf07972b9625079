"""Lies: a claim about a value is moved to another value, subject, visit, date role, unit or source.

A mutant is kept only where the raw export says otherwise. What is about words alone is in `words.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.answers import export
from tests.answers.export import BLANK, Cell, holds, moved
from tests.assistant.mutations.pieces import Piece, Truth, like, rewritten, written

PLACES = ("基线", "V1", "V2", "V3", "V4", "V5", "V6")
UNITS = {
    "U/L": "mmol/L",
    "g/L": "mg/dL",
    "μmol/L": "mg/dL",
    "mmol/L": "g/L",
    "mg/dL": "mmol/L",
    "×10⁹/L": "×10¹²/L",
    "mmHg": "kPa",
    "℃": "℉",
    " kg": " g",
    " cm": " mm",
    "周岁": "个月",
    "岁": "个月",
    "天": "周",
    "小时": "天",
    "倍": "%",
    " mg": " g",
}
ROLES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "enroll_date": (("入组", "首次用药", "first_dose_date"), ("入组", "筛选", "screening_date")),
    "first_dose_date": (
        ("首次用药", "入组", "enroll_date"),
        ("首次用药", "筛选", "screening_date"),
    ),
    "screening_date": (("筛选", "入组", "enroll_date"), ("筛选", "首次用药", "first_dose_date")),
    "withdraw_date": (("退出", "入组", "enroll_date"), ("退出", "首次用药", "first_dose_date")),
    "icf_date": (("签署", "筛选", "screening_date"),),
    "ae_start": (
        ("开始", "结束", "ae_end"),
        ("发生", "痊愈", "ae_end"),
        ("从", "结束于", "ae_end"),
    ),
    "ae_end": (("结束", "开始", "ae_start"), ("痊愈", "发生", "ae_start")),
    "sae_report_date": (("首次报告", "判定", "ae_judge_date"), ("报告", "判定", "ae_judge_date")),
    "ae_judge_date": (("判定", "首次报告", "sae_report_date"), ("判定", "发生", "ae_start")),
    "cm_start": (("开始", "停止", "cm_end"), ("起", "停用", "cm_end"), ("从", "停用于", "cm_end")),
    "cm_end": (("至", "开始于", "cm_start"), ("用到", "开始于", "cm_start")),
    "@open": (
        ("开放", "截止", "@close"),
        ("窗口", "目标日", "@target"),
        ("窗口", "完成日期", "@done"),
    ),
    "@close": (("关闭", "开放", "@open"), ("为止", "开放", "@open"), ("截止", "开放", "@open")),
    "@target": (("目标日", "截止日", "@close"), ("目标日", "完成日期", "@done")),
    "@done": (("完成", "截止", "@close"), ("完成", "窗口开放", "@open")),
}
_SEED = 7
_YES = ("是", "否", "无")
"""Values that are words of every other sentence, too."""


def values(truth: Truth) -> Iterator[str]:
    """Another figure, date or label in place of the one that is cited; once more without its source."""
    for at, piece in enumerate(truth.pieces):
        for cell in piece.cells:
            form = written(cell.value, piece.text)
            if not form or form in _YES:
                continue
            for new in _others(cell):
                text = rewritten(piece.text, form, like(form, cell.value, new))
                yield truth.with_piece(at, text)


def uncited(truth: Truth) -> Iterator[str]:
    """The same with the source left out."""
    for at, piece in enumerate(truth.pieces):
        for cell in piece.cells[:1]:
            form = written(cell.value, piece.text)
            for new in list(_others(cell))[:2] if form and form not in _YES else ():
                text = rewritten(piece.text, form, like(form, cell.value, new))
                yield truth.with_piece(at, text, "")


def subjects(truth: Truth) -> Iterator[str]:
    """Another subject, or two changed places."""
    for named in truth.named:
        mine = [cell for cell in _said(truth) if cell.subject == named]
        rest = [one for one in truth.visible if one not in truth.named and one.startswith("P")]
        for other in _some(rest, 5, named):
            if any(_is_false(moved(cell, subject=other)) for cell in mine):
                yield truth.with_words({named: other})
    if len(truth.named) == 2:
        one, two = truth.named
        turn = {one: two, two: one}
        mine = [cell for cell in _said(truth) if cell.subject in turn]
        if any(_is_false(moved(cell, subject=turn[cell.subject])) for cell in mine):
            yield truth.with_words(turn)
    if not re.search(r"P\d", truth.words):
        for other in _some([s for s in truth.visible if s.startswith("P")], 3, truth.case["id"]):
            if any(_is_false(moved(cell, subject=other)) for cell in _said(truth)):
                yield f"{other}：{truth.case['say']}"


def visits(truth: Truth) -> Iterator[str]:
    """The value of one visit told of another, or two visits changed places."""
    placed = [(at, piece, piece.cells[0]) for at, piece in enumerate(truth.pieces) if piece.cells]
    placed = [row for row in placed if row[2].place and row[2].place in row[1].text]
    placed = [row for row in placed if written(row[2].value, row[1].text)]
    for at, piece, cell in placed:
        for other in PLACES:
            if other != cell.place and _is_false(moved(cell, place=other)):
                yield truth.with_piece(at, rewritten(piece.text, cell.place, other))
    for (_at, _one, first), (_to, _two, second) in pairwise(placed):
        if first.place != second.place and _is_false(moved(first, place=second.place)):
            yield truth.with_words({first.place: second.place, second.place: first.place})


def units(truth: Truth) -> Iterator[str]:
    """Another unit behind a figure."""
    for at, piece in enumerate(truth.pieces):
        for old, new in UNITS.items():
            for hit in re.finditer(
                rf"(?<=\d){re.escape(old)}|(?<=\d )\s*{re.escape(old.strip())}", piece.text
            ):
                text = piece.text[: hit.start()] + new + piece.text[hit.end() :]
                yield truth.with_piece(at, text)


def date_roles(truth: Truth) -> Iterator[str]:
    """A date that is of something else than the words say."""
    for at, piece in enumerate(truth.pieces):
        after = truth.pieces[at + 1].text if at + 1 < len(truth.pieces) else ""
        for cell in piece.cells[:1]:
            if not written(cell.value, piece.text):
                continue
            for old, new, field in ROLES.get(_role(cell), ()):
                if not _differs(cell, field):
                    continue
                if old in piece.text:
                    yield truth.with_piece(at, rewritten(piece.text, old, new))
                elif after.startswith(old):
                    yield truth.with_piece(at + 1, new + after.removeprefix(old))


def clauses(truth: Truth, others: Sequence[Truth]) -> Iterator[str]:
    """What another answer says of somebody else, told of this one's subject."""
    if len(truth.named) != 1:
        return
    mine = truth.named[0]
    start = sum(map(ord, truth.case["id"])) % max(len(others), 1)
    donors = [one for one in (*others[start:], *others[:start]) if mine not in one.named]
    for other in donors[:6]:
        for piece in other.pieces:
            if len(piece.cells) == 1 and _is_whole(piece):
                cell = piece.cells[0]
                if not holds(moved(cell, subject=mine)):
                    clause = re.sub(rf"{cell.subject}的?|您好，", "", piece.text)
                    clause = clause.strip("，。；、：\n|-— ").removeprefix("的")
                    yield f"{truth.case['say'].rstrip('。')}；{mine}的{clause}{piece.marks}。"
                    break


def citations(truth: Truth) -> Iterator[str]:
    """The right words with the source of another row that does not say so."""
    for at, piece in enumerate(truth.pieces):
        if len(piece.cells) != 1 or not (_is_named(piece) and _said(Truth(truth.case, (piece,)))):
            continue
        cell = piece.cells[0]
        for other in truth.pieces:
            if (
                other.cells
                and _is_named(other)
                and all(_row(one) != _row(cell) and one.value != cell.value for one in other.cells)
            ):
                yield truth.with_piece(at, piece.text, other.marks)


def _said(truth: Truth) -> list[Cell]:
    """The values that the words say as well as cite."""
    return [cell for p in truth.pieces for cell in p.cells if written(cell.value, p.text)]


def _is_false(claim: Cell) -> bool:
    """Whether the export says otherwise; that something is blank is wrong only where it is filled."""
    if claim.value == BLANK:
        return export.values().get(claim.key, BLANK) != BLANK
    return not holds(claim)


def _is_named(piece: Piece) -> bool:
    """Whether the sources name the row that they are of."""
    return all(
        cell.value != BLANK and (not cell.number or "|#" in piece.marks) for cell in piece.cells
    )


def _row(cell: Cell) -> tuple[str, str, int]:
    """What one line of a prompt may be of."""
    return cell.subject, cell.place, cell.number


def _is_whole(piece: Piece) -> bool:
    return bool(written(piece.cells[0].value, piece.text)) and _names(piece)


def _others(cell: Cell) -> list[str]:
    """Values that the cell does not have: of its field elsewhere, and figures and dates near it."""
    alike = [one for one in export.cells() if one.field == cell.field and one.value != BLANK]
    mine = {one.value for one in alike if one.subject == cell.subject}
    told = [one.value for one in alike if one.subject == cell.subject and one.key != cell.key]
    told += [one.value for one in alike if one.place == cell.place][_SEED :: _SEED + 4][:3]
    told += export.choices(cell.field)
    if re.fullmatch(r"\d+(\.\d+)?", cell.value):
        told += _near(cell.value)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", cell.value):
        told += [one.value for one in export.cells() if _same_visit(one, cell)] + _days(cell.value)
    told = [one for one in dict.fromkeys(told) if one != cell.value]
    is_name = cell.field in ("ae_term", "cm_name")
    return [
        one for one in told if not holds(moved(cell, value=one)) and not (is_name and one in mine)
    ][:8]


def _near(value: str) -> list[str]:
    digits, is_whole = value.replace(".", ""), "." not in value
    step = 1 if is_whole else 0.1
    turned = value[:-2] + value[-1] + value[-2] if is_whole and len(digits) > 1 else ""
    told = [turned, f"{float(value) + step:g}", f"{float(value) * 10:g}", f"{float(value) + 10:g}"]
    return [one for one in told if one and not one.startswith("0")]


def _days(value: str) -> list[str]:
    year, month, day = map(int, value.split("-"))
    return [f"{year}-{month:02}-{day % 28 + 1:02}", f"{year}-{month % 12 + 1:02}-{min(day, 28):02}"]


def _same_visit(one: Cell, cell: Cell) -> bool:
    is_date = bool(re.fullmatch(r"\d{4}-\d\d-\d\d", one.value))
    return is_date and (one.subject, one.place, one.number) == (
        cell.subject,
        cell.place,
        cell.number,
    )


def _role(cell: Cell) -> str:
    return "@done" if re.fullmatch(r"v\d_date", cell.field) else cell.field


def _differs(cell: Cell, field: str) -> bool:
    """Whether the date is not of `field`, too."""
    name = f"{cell.place.lower()}_date" if field == "@done" else field
    alike = [
        one.value
        for one in export.cells()
        if one.subject == cell.subject
        and one.field == name
        and one.number == cell.number
        and (not field.startswith("@") or one.place == cell.place)
    ]
    return cell.value not in alike


def _names(piece: Piece) -> bool:
    """Whether a clause says by itself what it is of."""
    cell = piece.cells[0]
    words = re.findall(r"[A-Z]{2,}|[\u4e00-\u9fff]{2}", cell.label)
    return any(word in piece.text for word in words)


def _some(rest: list[str], most: int, key: str) -> list[str]:
    """A few of many, others for another key."""
    if not rest:
        return []
    start = sum(map(ord, key)) % len(rest)
    return [*rest[start:], *rest[:start]][: most * 2 : 2]
