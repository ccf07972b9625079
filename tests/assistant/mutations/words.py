"""Lies by words: negated, counted wrongly, turned round, made stronger or weaker, told of all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tests.answers import export
from tests.answers.export import BLANK, Cell
from tests.assistant.mutations.pieces import Truth, written

NEGATED = {
    "不可以": "可以",
    "不需要": "需要",
    "不推迟": "推迟",
    "不再提醒": "仍要提醒",
    "不再上调": "可以再上调",
    "不补服": "应补服",
    "不能": "能",
    "不得": "可以",
    "不算": "算",
    "不属于": "属于",
    "不视为": "视为",
    "不符合": "符合",
    "不影响": "影响",
    "不受影响": "受影响",
    "不放宽": "放宽",
    "未见": "发现有",
    "没有不良事件记录": "有不良事件记录",
    "没有SAE": "有SAE",
    "尚未填写": "已填写",
    "未填写": "已填写",
    "尚未进行": "已经完成",
    "尚未入组": "已入组",
    "尚未": "已",
    "还没有": "已经",
    "还没": "已经",
    "没有超过": "已超过",
    "未超过": "已超过",
    "非严重": "属严重",
    "已痊愈": "未痊愈",
    "已入组": "未入组",
    "已完成": "未完成",
    "已退出": "未退出",
    "已恢复": "未恢复",
    "在窗口期内": "不在窗口期内",
    "均在": "均不在",
    "都在": "都不在",
    "属于": "不属于",
    "符合": "不符合",
    "很可能有关": "没有关系",
    "可能有关": "没有关系",
    "可能无关": "有关",
    "肯定无关": "有关",
    "否认": "承认有",
    "血压控制良好": "血压控制不佳",
    "不详": "明确",
    "按时": "未按时",
    "超标": "未超标",
}
TURNED = {
    "升高": "降低",
    "升至": "降至",
    "升到": "降到",
    "升": "降",
    "下降": "上升",
    "降至": "升至",
    "降到": "升到",
    "降了": "升了",
    "减少": "增加",
    "增加": "减少",
    "回落": "继续升高",
    "回升": "继续下降",
    "提高": "降低",
    "下调": "上调",
    "更高": "更低",
    "更低": "更高",
    "略高": "略低",
    "最高": "最低",
    "最低": "最高",
    "最多": "最少",
    "更多": "更少",
    "更差": "更好",
    "偏高": "偏低",
    "高于": "低于",
    "低于": "高于",
    "高，": "低，",
    "超过": "低于",
    "不少于": "不多于",
    "早于": "晚于",
    "晚于": "早于",
    "先入组": "后入组",
    "后入组": "先入组",
    "晚了": "提前了",
    "超期": "提前",
    "超窗": "提前",
    "以上": "以下",
    "以下": "以上",
    "大6岁": "小6岁",
    "还差": "超出",
    "多3例": "少3例",
    "放缓": "加快",
    "先平稳后升高": "先升高后平稳",
}
MOODS = {
    "应立即": "可择期",
    "立即": "可以暂缓",
    "应": "不必",
    "须": "可不",
    "必须": "可以",
    "可以补服": "必须补服",
    "可以重新": "必须重新",
    "暂停用药": "永久停药",
    "永久停药": "暂停用药",
    "停药": "减量",
    "不得": "最好不要",
    "属于禁用药物": "可以慎用",
    "评估是否": "直接决定",
    "禁用": "允许使用",
    "暂停筛选": "终止研究",
}
MOOD_KINDS = ("protocol", "history", "negation", "seed")
_NUMERAL = "一二三四五六七八九"
_COUNT = re.compile(
    r"(?<![\d.年月第A-Za-z])(\d{1,3}|[两一二三四五六七八九])(?=[条例种次项位名天个])"
)
_FIGURE = re.compile(r"(?<![A-Za-z\d.月#第年VWDay～~/±-])(\d+(?:\.\d+)?)(?!\d|\.|月|[年~～]|-\d)")


def negations(truth: Truth) -> Iterator[str]:
    """A denial where something is said, and the other way round."""
    yield from _each(truth, NEGATED, lambda before: not re.search(r"[不未非没无]$", before))
    if truth.words.startswith(("是的，", "有，", "可以。", "吃，", "做了，", "报告了，")):
        first = truth.words[0]
        yield {"有": "没", "可": "不", "是": "不", "吃": "不", "做": "没", "报": "没"}[
            first
        ] + truth.case["say"]


def directions(truth: Truth) -> Iterator[str]:
    """Up for down, more for less, before for after."""
    yield from _each(truth, TURNED, lambda before: not re.search(r"[药毒细板能]$", before))


def modalities(truth: Truth) -> Iterator[str]:
    """Must for may, a pause for an end."""
    if truth.case["kind"] in MOOD_KINDS:
        yield from _each(truth, MOODS, lambda before: not re.search(r"[不对反相适无效]$", before))


def counts(truth: Truth) -> Iterator[str]:
    """One more and one less than were counted."""
    for at, piece in enumerate(truth.pieces):
        for hit in _COUNT.finditer(piece.text):
            if hit[1].isdigit() and truth.case["kind"] in MOOD_KINDS:
                continue  # a bound; see `rules`
            if hit[1] == "一" and piece.text[: hit.start()].endswith("最近"):
                continue
            for new in _beside(hit[1], of_days=piece.text[hit.end()] == "天"):
                yield truth.with_piece(
                    at, piece.text[: hit.start()] + new + piece.text[hit.end() :]
                )


def rules(truth: Truth) -> Iterator[str]:
    """Another figure in a rule or a decision: for a bound one that lets less pass, or more."""
    if truth.case["kind"] not in MOOD_KINDS or truth.cells:
        return
    for at, piece in enumerate(truth.pieces):
        for hit in _FIGURE.finditer(piece.text):
            before, figure = piece.text[: hit.start()], float(hit[1])
            after = piece.text[hit.end() :]
            is_floor = re.search(r"(?<!不)(超过|高于|达到|大于)[^，。；]{0,12}$", before)
            is_floor = is_floor or re.match(r"[^，。；]{0,3}(及?以上)", after)
            for factor in (0.5,) if is_floor else (2, 1.5):
                new = f"{round(figure * factor, 1):g}"
                if figure and new != hit[1]:
                    yield truth.with_piece(at, before + new + after)


def everywhere(truth: Truth) -> Iterator[str]:
    """One value told of all visits, or as the highest or lowest of all, which it is not."""
    for at, piece in enumerate(truth.pieces):
        cell = piece.cells[0] if piece.cells else None
        if cell is None or not cell.place or not re.fullmatch(r"\d+(\.\d+)?", cell.value):
            continue
        if not written(cell.value, piece.text):
            continue
        mine = _figures(cell, (cell.subject,))
        if len(set(mine)) > 1:
            yield truth.with_piece(at, f"{piece.text}（历次均为{cell.value}）")
        for word, best in (("高", max), ("低", min)):
            if best(mine) != float(cell.value):
                yield truth.with_piece(at, f"{piece.text}，是历次最{word}的一次")
            if best(_figures(cell, truth.visible)) != float(cell.value):
                yield truth.with_piece(at, f"{piece.text}，是全部受试者中最{word}的")


def only(truth: Truth) -> Iterator[str]:
    """One of several rows told as the only one."""
    for at, piece in enumerate(truth.pieces):
        for cell in piece.cells[:1]:
            rows = {one.number for one in export.cells() if _beside_it(one, cell)}
            if cell.field in ("ae_term", "cm_name") and len(rows) > 1:
                what = {"ae_term": "不良事件", "cm_name": "合并用药"}[cell.field]
                yield truth.with_piece(at, f"{piece.text}（{cell.subject}只有这一条{what}）")


def _each(truth: Truth, table: Mapping[str, str], fits: object) -> Iterator[str]:
    """Each place where a word of the table stands, by itself."""
    longest = re.compile("|".join(sorted(map(re.escape, table), key=len, reverse=True)))
    for at, piece in enumerate(truth.pieces):
        for hit in longest.finditer(piece.text):
            head = piece.text[: hit.start()]
            before = (truth.pieces[at - 1].text if at and not head else "") + head
            if callable(fits) and not fits(before):
                continue
            yield truth.with_piece(at, head + table[hit[0]] + piece.text[hit.end() :])


def _beside(count: str, *, of_days: bool) -> tuple[str, ...]:
    """Counts that are wrong; both ends of a stretch of days may count or not."""
    if count.isdigit():
        number, step = int(count), 3 if of_days else 1
        return tuple(str(one) for one in (number + step, number - step) if one > 0)
    number = 2 if count == "两" else _NUMERAL.index(count) + 1
    return (_NUMERAL[number % 9],)


def _figures(cell: Cell, subjects: tuple[str, ...]) -> list[float]:
    alike = (c for c in export.cells() if c.field == cell.field and c.subject in subjects)
    return [float(c.value) for c in alike if re.fullmatch(r"\d+(\.\d+)?", c.value)]


def _beside_it(one: Cell, cell: Cell) -> bool:
    return one.field == cell.field and one.subject == cell.subject and one.value != BLANK
