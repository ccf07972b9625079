"""Words without a dictionary: tokens, character bigrams and overlap, Chinese and English alike."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

HAN = re.compile(r"[\u4e00-\u9fff]")
PIECE = re.compile(r"[\u4e00-\u9fff]{1,2}|[A-Za-z]{1,4}|\d{1,3}|\s+|.", re.DOTALL)
WORD = re.compile(r"[\u4e00-\u9fff]+|[A-Za-z]+|\d+(?:\.\d+)?")
# An id: letters with digits (P001, ab-12_3), or a bare number.
ID = re.compile(
    r"(?<![A-Za-z0-9_.-])(?:[A-Za-z]{1,8}[-_]?\d[\w-]*|\d[\w-]*)(?![\w-]|\.\d)", re.ASCII
)
DATE = re.compile(r"(?:19|20)\d{2}-\d{1,2}(?:-\d{1,2})?")
SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]?")
QUESTION = re.compile(
    r"[?？]\s*$|吗|呢\s*$|多少|什么|怎么|怎样|如何|哪|几[个名例位次]|是否|请问|为什么"
)
# Function words of the two languages; they say nothing about a subject.
STOP = re.compile(
    r"请问|请|麻烦|帮我|帮忙|给我|告诉我|告诉|一下|看看|查一下|查询|查看|查|看|我们|你们|您|我|你|他|她|它|"
    r"的|了|吗|呢|吧|啊|是不是|是否|是|有没有|有多少|有哪些|有什么|有|多少|什么|怎么样|怎么|如何|哪些|哪个|几个|"
    r"这个|那个|这|那|现在|目前|和|与|及|或|在|都|还|就|一个|情况|想|要|能|可以"
)
ENGLISH = (
    "a an the is are was were be of in on at to for and or what which who how many much do does "
    "did please tell me show i you it this that with by from have has can could there"
)
STOP_WORDS = frozenset(ENGLISH.split())


def count_tokens(text: str) -> int:
    """A deterministic token count: about 0.6 a Chinese character, 0.25 a Latin letter."""
    return sum(1 for piece in PIECE.finditer(text) if not piece.group().isspace())


def cut_tokens(text: str, limit: int) -> str:
    """The longest start of `text` with at most `limit` tokens."""
    used = 0
    for piece in PIECE.finditer(text):
        used += not piece.group().isspace()
        if used > limit:
            return text[: piece.start()]
    return text


def is_chinese(text: str) -> bool:
    """Whether an answer to `text` should be Chinese."""
    return bool(HAN.search(text))


def terms(text: str) -> set[str]:
    """Character bigrams of Chinese runs, lower-cased Latin words and numbers."""
    found: set[str] = set()
    for run in WORD.findall(text.replace("_", " ")):
        if HAN.match(run):
            found |= {run[i : i + 2] for i in range(len(run) - 1)} or {run}
        elif run.lower() not in STOP_WORDS:
            found.add(run.lower())
    return found


def asked(text: str) -> set[str]:
    """The terms of a question without its function words."""
    return terms(STOP.sub(" ", text))


def ids(text: str) -> list[str]:
    """Tokens that look like ids, in order, without repeats; a number with a unit is none."""
    found = []
    for match in ID.finditer(text):
        if DATE.fullmatch(match.group()):
            continue
        after = text[match.end() : match.end() + 1]
        unit = match.group().isdigit() and re.match(r"[年月日天周岁例个名次位小%℃]", after)
        if not unit and match.group() not in found:
            found.append(match.group())
    return found


def weights(units: Iterable[set[str]]) -> dict[str, float]:
    """How telling each term is: rare ones more than common ones."""
    sets = list(units)
    counts = Counter(term for unit in sets for term in unit)
    return {term: math.log(1 + len(sets) / count) for term, count in counts.items()}


def score(question: set[str], unit: set[str], weight: dict[str, float]) -> float:
    """The weighted share of the question's terms that the unit holds, 0 to 1."""
    common = question & unit
    if not common:
        return 0.0
    most = max(weight.values(), default=1.0)
    total = sum(weight.get(term, most) for term in question)
    return sum(weight.get(term, most) for term in common) / total


def similar(one: str, other: str) -> float:
    """Overlap of two short texts: shared terms by the smaller set, 0 to 1."""
    left, right = terms(one), terms(other)
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def sentences(text: str) -> list[str]:
    """The sentences of one paragraph, stripped, none empty."""
    return [part.strip() for part in SENTENCE.findall(text) if part.strip(" \t。！？!?；;")]


def is_question(text: str) -> bool:
    """Whether a text asks something."""
    return bool(QUESTION.search(text))
