"""What stands in a request: the question, and the pieces of text and data an answer may use.

Nothing here knows the product's prompts: JSON is told from prose by parsing it, headings and list
items by their punctuation, instructions by their addressing the reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from simulators.llm.marks import LINE as NUMBERED_LINE
from simulators.llm.protocol import Chat, Message
from simulators.llm.text import asked, ids, is_question, sentences, terms

BULLET = re.compile(r"^\s*(?:[-*•·▪]\s+|\d{1,2}[.、)）](?!\d)\s*|[（(]\d{1,2}[)）]\s*)")
TAG = re.compile(r"</?\w[^<>]*>$")
SPEAKER = re.compile(r"^(?:AI|助手|assistant|答|A)$", re.IGNORECASE)
ASKER = re.compile(r"^(?:用户|user|问题|问|Q|question)$", re.IGNORECASE)
# A remark on the answer before, not a question of its own.
REVISION = re.compile(
    r"(?:上面|上一|上次|之前|刚才)[^。]{0,6}(?:回答|答案|回复|结果)|重新(?:以|回答|返回|输出|生成)|"
    r"previous (?:answer|reply|response)|try again|缩短|改正|检查失败",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"^(?:\d+(?:\.\d+)+\s*|[一二三四五六七八九十]+、)[^。；;，,]{1,24}$")
HEADING = re.compile(
    r"^(?:#+\s.*|【[^】]*】\s*|\[[^\]]*\](?:\s+[^。；]{0,60})?|[^。；，,]{1,24}[:：])\s*$"
)
# `[文档1] protocol.md (相关度: 92.0%)`: the document that the headings below stand in.
DOCUMENT = re.compile(r"^\[[^\]]*\]\s+\S")
LINE = re.compile(r"[-=*_]{3,}")
RULE = re.compile(r"^\|?[\s:|-]*-[\s:|-]*\|?$")
KEY_VALUE = re.compile(r"^([^:：。；，,]{1,24})[:：]\s*(.+)$")
# Second person and talk about the answer itself: words to the model, not material.
INSTRUCTION = re.compile(
    r"你是|你的|你必须|你可以|你只|您称呼|请基于|请根据|请按|请以|请用|回答|回复|输出|返回|编造|字以内|指令|"
    r"不超过\s*\d+\s*字|JSON|json|工具|^[✅❌⚠☑]|\b(?:[Yy]ou|[Yy]our|[Aa]nswer|[Rr]espond|[Rr]eply)\b"
)
# `受试者: P001`, `Subject 7` or `P001` alone: the lines below are about that record.
OWNER = re.compile(
    r"^(?:[^\w]*(?:record(?:[_ ]?id)?|subject(?: id)?|id|受试者|患者|病例|编号|受试者编号)[\s:：#]*)?"
    r"([A-Za-z]{1,8}[-_]?\d[\w-]*|(?<=[\s:：#])\d+)\W*$",
    re.IGNORECASE | re.ASCII,
)
RECORD_KEY = re.compile(r"(?:^|_)id$|^id_|record|subject|编号|受试者|患者|病例", re.IGNORECASE)
LABEL_KEYS = ("label", "name", "field", "key", "title", "item", "名称", "字段", "项目")
VALUE_KEYS = ("value", "val", "值", "count", "result", "结果")
PROSE, WORDS = 40, 15  # characters: a text rather than a value
LIST_SHOWN = 30


@dataclass(frozen=True)
class Unit:
    """One piece an answer can quote: a sentence, list item or `label:value`."""

    text: str
    context: str
    source: str  # tool, data, text, given (with the question), lead (the first message) or talk
    owner: str = ""  # the record that the data belong to
    label: str = ""
    value: Any = None
    item: bool = False  # of a list or table
    document: str = ""
    column: str = ""  # what the first column of its table is called
    order: int = 0
    mark: str = ""  # of a numbered line
    words: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Material:
    """The question, its ids, and everything else in the request."""

    question: str
    ids: tuple[str, ...]
    units: tuple[Unit, ...]

    @property
    def query(self) -> set[str]:
        """The telling words of the question, its ids apart."""
        text = self.question
        for name in sorted(self.ids, key=len, reverse=True):
            text = text.replace(name, " ")
        return asked(text)

    has_figures: bool = False  # lines of data that an answer would cite

    def of(self, *sources: str) -> list[Unit]:
        """Units of the named sources."""
        return [unit for unit in self.units if unit.source in sources]


def question_index(chat: Chat) -> int:
    """Where the question stands: the last user message that is no remark on a tool result."""
    messages = chat.messages
    found = [i for i, message in enumerate(messages) if message.role == "user"]
    while len(found) > 1 and messages[found[-1] - 1].role in ("tool", "assistant"):
        before, remark = messages[found[-1] - 1], messages[found[-1]].content
        if before.role == "assistant" and not REVISION.search(remark):
            break
        found.pop()
    return found[-1] if found else -1


def read(chat: Chat) -> Material:
    """Take a request apart."""
    at = question_index(chat)
    question, rest = split_question(chat.messages[at].content) if at >= 0 else ("", "")
    units: list[Unit] = []
    for index, message in enumerate(chat.messages):
        if index > at and message.role in ("assistant", "user"):
            # A draft of this very answer, or a remark on it.
            continue
        text = rest if index == at else message.content
        units += _units(text, _source(message, index, at))
    ordered = tuple(
        replace(unit, order=order, words=_words(unit)) for order, unit in enumerate(units)
    )
    figures = any(FIGURES.search(message.content) for message in chat.messages)
    return Material(question, tuple(ids(question)), ordered, figures)


def _words(unit: Unit) -> frozenset[str]:
    return frozenset(terms(f"{unit.text} {unit.context} {unit.document} {unit.column}"))


def _source(message: Message, index: int, at: int) -> str:
    if message.role == "tool":
        return "tool"
    if message.role in ("system", "developer"):
        return "lead" if index == 0 else "text"
    return "given" if index == at else "talk"


def split_question(text: str) -> tuple[str, str]:
    """A user message as question and attached material (JSON, lists, earlier paragraphs)."""
    prose = text
    for start, end, _ in reversed(list(blobs(text))):
        prose = prose[:start] + prose[end:]
    lines = [line.strip() for line in prose.splitlines() if line.strip()]
    if len(lines) <= 1 and prose == text:
        return text.strip(), ""
    plain = [line for line in lines if not BULLET.match(line)] or lines
    asking = [line for line in plain if is_question(line)]
    chosen = asking[-1] if asking else (plain[0] if plain else "")
    return _after_label(chosen), text.replace(chosen, "", 1) if chosen else text


def _after_label(line: str) -> str:
    found = KEY_VALUE.match(line)
    return found[2] if found and is_question(found[2]) else line


def blobs(text: str) -> Iterator[tuple[int, int, Any]]:
    """JSON objects and lists inside a text: start, end, value."""
    decoder, at = json.JSONDecoder(), 0
    while (found := re.search(r"[{\[]", text[at:])) is not None:
        start = at + found.start()
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            at = start + 1
            continue
        if (isinstance(value, dict) and value) or _is_data_list(value):
            yield start, end, value
        at = end


def _is_data_list(value: Any) -> bool:
    return isinstance(value, list) and (len(value) > 1 or any(isinstance(x, dict) for x in value))


def _units(text: str, source: str) -> list[Unit]:
    units: list[Unit] = []
    prose, last = "", 0
    for start, end, value in blobs(text):
        prose += text[last:start] + "\n"
        last = end
        if not (isinstance(value, dict) and "properties" in value):
            units += json_units(value, "tool" if source == "tool" else _data(source))
    return prose_units(prose + text[last:], source) + units


def _data(source: str) -> str:
    return "talk" if source == "talk" else "data"


def prose_units(text: str, source: str, owner: str = "", heading: str = "") -> list[Unit]:
    """Sentences, list items and table rows of a text, each with the heading above it."""
    units: list[Unit] = []
    place = _Place(source, owner, heading)
    for line in filter(None, (line.strip() for line in text.splitlines())):
        if TAG.match(line) or LINE.fullmatch(line):
            continue
        if found := NUMBERED_LINE.match(line):
            units += numbered(found["mark"], line[found.end() :].strip(), source)
        elif line.startswith("|"):
            units += place.row(line)
        elif not place.moves(line):
            units += place.told(line)
    return units


# `研究方案 §6.7 严重不良事件的报告: …`, `关键决策: 2026-03-26: …`
SECTIONED = re.compile(r"(?P<document>[^:：]+?) §[\d.]+ (?P<title>[^:：]+): (?P<text>.+)")
TITLED = re.compile(r"(?P<document>)(?P<title>[^:：]{1,24}): (?P<text>.+)")
# What a line says of the whole of a result, and of the day: no answer by itself.
ABOUT_RESULT = re.compile(r"共 [1-9]\d* 条|^读取范围|^今天是|无此受试者")
FIGURES = re.compile(r"^</?data [^<>]*>\n(?:.*\n)*?\[F\d+\] (?!今天是)", re.MULTILINE)
KINDS = {"F": "data", "D": "text", "W": "lead", "M": "lead", "H": "talk"}


def numbered(mark: str, line: str, source: str) -> list[Unit]:
    """A line that an answer cites: a value with whose, what and where, or a sentence."""
    kind = mark[1]
    source = source if source == "tool" else KINDS[kind]
    if kind == "F":
        # Figures are left to whoever lists them, unless a tool was asked for them.
        is_told = source == "tool" and not ABOUT_RESULT.search(line)
        return [_fact(mark, line, source)] if is_told else []
    found = SECTIONED.match(line) or TITLED.match(line) if kind in "DW" else None
    text, title = (found["text"], found["title"]) if found else (line, "")
    lead, *items = re.split(r"(?:(?<=[：:])|(?<=[。；] ))(?=\d{1,2}[.、])", text)
    document = found["document"] if found else ""
    return [
        Unit(
            BULLET.sub("", one.strip()),
            title,
            source,
            item=bool(items),
            document=document,
            mark=mark,
        )
        for one in items or [lead]
        if _usable(one, "", title, source)
    ]


def _fact(mark: str, line: str, source: str) -> Unit:
    """`P016 · 谷丙转氨酶ALT · V2 · 2026-09-03 = 185` as `谷丙转氨酶ALT V2 185`."""
    first, _dot, rest = line.partition(" · ")
    named = rest and re.fullmatch(r"[A-Za-z]{0,8}[-_]?\d[\w-]*", first)
    owner, said = (first, rest) if named else ("", line)
    head, _equals, value = said.partition(" = ")
    label, *places = head.partition(":")[0].split(" · ")
    if ":" in head:
        text = said.replace(" = ", " ").replace("; ", "，").replace(" · ", " ")
        return Unit(text, "", source, owner, label, text, mark=mark)
    text = " ".join(filter(None, [label, *places[:1], value]))
    return Unit(text, "", source, owner, label, value, mark=mark)


@dataclass
class _Place:
    """Where in a text a line stands."""

    source: str
    owner: str
    heading: str
    document: str = ""
    columns: list[str] = field(default_factory=list)

    def moves(self, line: str) -> bool:
        """Whether the line says where what follows belongs: a record, a heading, a document."""
        self.columns = []
        if named := OWNER.match(line.strip("#【】*- ")):
            self.owner, self.heading = named[1], ""
            return True
        if BULLET.match(line) or not (HEADING.match(line) or NUMBERED.match(line)):
            return False
        self.document = line if DOCUMENT.match(line) else self.document
        self.heading = line.strip("#【】:： ")
        return True

    def _speaks(self, name: str) -> bool:
        """Whether an answer of before begins; from a speaker's name on everything is talk."""
        if SPEAKER.match(name) or ASKER.match(name):
            self.source = "talk" if self.source == "text" else self.source
        return bool(SPEAKER.match(name))

    def row(self, line: str) -> list[Unit]:
        """A table's row as `first cell:others`; its first row names the columns and gives none."""
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if RULE.match(line) or not self.columns:
            self.columns = self.columns or cells
            return []
        told = "，".join(filter(None, cells[1:]))
        text = f"{cells[0]}:{told}" if told else cells[0]
        unit = Unit(text, self.heading, self.source, self.owner, cells[0], told, item=True)
        return [replace(unit, document=self.document, column=self.columns[0])]

    def told(self, line: str) -> list[Unit]:
        """The sentences of a line; the first one of a list item stands for it."""
        body = BULLET.sub("", line).replace("**", "").lstrip("> ")
        pair = KEY_VALUE.match(body)
        if pair and self._speaks(pair[1].strip()):
            body = pair[2]
            pair = KEY_VALUE.match(body)
        context, label, about = self.heading, "", self.owner
        if pair and (named := OWNER.match(pair[1])):
            about, body = named[1], pair[2]
            pair = KEY_VALUE.match(body)
        if pair and len(sentences(pair[2])) > 1:
            context, body = f"{self.heading} {pair[1]}".strip(), pair[2]
        elif pair:
            label = pair[1].strip()
        value = pair[2].strip() if pair and label else None
        source = "data" if self.source == "given" and body != line else self.source
        return [
            Unit(sentence, context, self.source, about, label, value,
                 item=not place and bool(BULLET.match(line)), document=self.document)
            for place, sentence in enumerate(sentences(body))
            if _usable(sentence, label, self.heading, source)
        ]  # fmt: skip


def _usable(sentence: str, label: str, heading: str, source: str) -> bool:
    if source in ("tool", "data"):
        return True
    if ASKER.match(label) or sentence.endswith(("?", "？", "吗", "呢")):
        return False
    if source == "talk" and is_question(sentence):
        return False
    return not INSTRUCTION.search(sentence) and not INSTRUCTION.search(heading)


def json_units(value: Any, source: str, context: str = "", owner: str = "") -> list[Unit]:
    """The scalars of a JSON value as `label:value`, its long texts as sentences."""
    if isinstance(value, dict):
        return _object_units(value, source, context, owner)
    if isinstance(value, list):
        if value and all(isinstance(item, str) and len(item) > WORDS for item in value):
            return [Unit(item, context, source, owner, item=True) for item in value]
        if all(not isinstance(item, (dict, list)) for item in value):
            return [_scalar(context or "list", value, source, "", owner)] if value else []
        return [unit for item in value for unit in json_units(item, source, context, owner)]
    return [_scalar(context, value, source, "", owner)]


def _object_units(row: dict[str, Any], source: str, context: str, owner: str) -> list[Unit]:
    owner = next((str(row[k]) for k in row if RECORD_KEY.search(k) and _is_id(row[k])), owner)
    label = next((k for k in LABEL_KEYS if isinstance(row.get(k), str)), None)
    known = next((k for k in VALUE_KEYS if k in row and not isinstance(row[k], (dict, list))), None)
    units = []
    if label and known:
        units.append(_scalar(row[label], row[known], source, context, owner))
        row = {k: v for k, v in row.items() if k not in (label, known)}
    for key, item in row.items():
        if isinstance(item, (dict, list)):
            units += json_units(item, source, key, owner)
        elif isinstance(item, str) and (len(item) > PROSE or "\n" in item):
            units += prose_units(item, source, owner, key)
        elif item not in (None, "") and str(item) != owner:
            units.append(_scalar(key, item, source, context, owner))
    return units


def records_given(chat: Chat) -> list[str]:
    """The ids of the records whose data a user message hands over as JSON."""
    found = [
        record
        for message in chat.messages
        if message.role == "user"
        for _, _, value in blobs(message.content)
        for record in _records(value)
    ]
    return list(dict.fromkeys(found))


def _records(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (str(v) for k, v in value.items() if RECORD_KEY.search(k) and _is_id(v))
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            yield from _records(item)


def _is_id(value: Any) -> bool:
    return (
        isinstance(value, (str, int)) and not isinstance(value, bool) and 0 < len(str(value)) < 24
    )


def _scalar(label: str, value: Any, source: str, context: str, owner: str) -> Unit:
    return Unit(f"{label}:{shown(value)}", context, source, owner, label, value)


def shown(value: Any) -> str:
    """A JSON scalar or flat list as people write it."""
    if isinstance(value, list):
        more = " 等" if len(value) > LIST_SHOWN else ""
        return "、".join(shown(item) for item in value[:LIST_SHOWN]) + more
    if isinstance(value, bool):
        return "是" if value else "否"
    return "" if value is None else str(value)
