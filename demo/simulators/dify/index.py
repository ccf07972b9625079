"""Retrieval over the study's documents: BM25 on characters, bigrams and Latin words."""

from __future__ import annotations

import math
import re
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

CHUNK_CHARS = 500
SINGLE_WEIGHT = 0.2
HEADING_COUNTS = 2
K1, B = 1.2, 0.75
_MARKDOWN = re.compile(r"#{1,6}\s")
_NUMBERED = re.compile(r"\d+(\.\d+)*\s")
_WORDS = re.compile(r"[a-z0-9]+(?:\.[0-9]+)?|[\u3400-\u9fff]+")
# What a question says beside its subject.
_FILLERS = re.compile(
    "是什么|什么|多少|多久|多长|怎么|如何|哪些|哪个|能不能|可以|是否|请问|有没有|[吗呢的是有了]"
)
_NAMESPACE = uuid.UUID("5f0a3c1e-6d5b-4f5e-9d3c-0d1f1e4b7a90")


@dataclass(frozen=True)
class Chunk:
    """A passage; `position` counts from 1 within its document."""

    document: str
    position: int
    content: str

    @property
    def id(self) -> str:
        """The same for the same document and position, across restarts."""
        return str(uuid.uuid5(_NAMESPACE, f"{self.document}#{self.position}"))

    @property
    def document_id(self) -> str:
        """The id of the document it is from."""
        return str(uuid.uuid5(_NAMESPACE, self.document))


def split(document: str, text: str) -> list[Chunk]:
    """Chunks by Markdown heading, in a text without any by numbered heading.

    The heading stays in its chunk; a heading without text of its own joins the next chunk.
    """
    lines = text.splitlines()
    heading = _MARKDOWN if any(_MARKDOWN.match(line) for line in lines) else _NUMBERED
    sections: list[list[str]] = [[]]
    for line in lines:
        if heading.match(line) and any(_says_something(part, heading) for part in sections[-1]):
            sections.append([])
        sections[-1].append(line)
    pieces = [piece for section in sections for piece in _pieces(section)]
    return [Chunk(document, number, piece) for number, piece in enumerate(pieces, start=1)]


def _says_something(line: str, heading: re.Pattern[str]) -> bool:
    return bool(line.strip()) and not heading.match(line)


def _pieces(lines: list[str]) -> list[str]:
    """A section in pieces of at most CHUNK_CHARS, cut at line ends."""
    pieces: list[str] = []
    for line in lines:
        if pieces and len(pieces[-1]) + len(line) < CHUNK_CHARS:
            pieces[-1] += f"\n{line}"
        elif line.strip():
            pieces.append(line)
    return [piece.strip() for piece in pieces]


def tokens(text: str, *, singles: bool = True) -> Counter[str]:
    """Latin words and numbers, Chinese bigrams and, if wanted, single characters."""
    found: Counter[str] = Counter()
    for word in _WORDS.findall(text.lower()):
        if word[0].isascii():
            found[word] += 1
            continue
        found.update(word[i : i + 2] for i in range(len(word) - 1))
        if singles or len(word) == 1:
            found.update(word)
    return found


def keywords(text: str, limit: int = 5) -> list[str]:
    """The commonest words and bigrams of a passage."""
    return [token for token, _ in tokens(text, singles=False).most_common(limit)]


def _weighted_tokens(content: str) -> Counter[str]:
    """The tokens of a passage; those of its headings count HEADING_COUNTS times more."""
    headings = [line for line in content.splitlines() if _MARKDOWN.match(line)]
    counts = tokens(content)
    for token, count in tokens("\n".join(headings)).items():
        counts[token] += HEADING_COUNTS * count
    return counts


class Index:
    """Scores every chunk for a query, 0..1."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = list(chunks)
        self._counts = [_weighted_tokens(chunk.content) for chunk in self.chunks]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._average = sum(self._lengths) / max(len(self._lengths), 1) or 1.0
        self._frequency = Counter(token for counts in self._counts for token in counts)

    def search(self, query: str, *, singles: bool) -> list[tuple[float, Chunk]]:
        """All chunks, best first; 1 would be a chunk that holds nothing but the query."""
        wanted = tokens(_FILLERS.sub(" ", query), singles=singles)
        ideal = sum(self._weight(token) * (K1 + 1) for token in wanted)
        scored = [
            (math.sqrt(self._score(n, wanted) / ideal) if ideal else 0.0, chunk)
            for n, chunk in enumerate(self.chunks)
        ]
        return sorted(scored, key=lambda pair: -pair[0])

    def _score(self, number: int, wanted: Counter[str]) -> float:
        counts = self._counts[number]
        norm = K1 * (1 - B + B * self._lengths[number] / self._average)
        return sum(
            self._weight(token) * counts[token] * (K1 + 1) / (counts[token] + norm)
            for token in wanted
            if token in counts
        )

    def _weight(self, token: str) -> float:
        seen = self._frequency[token]
        rarity = math.log(1 + (len(self.chunks) - seen + 0.5) / (seen + 0.5))
        return rarity * (SINGLE_WEIGHT if len(token) == 1 and not token.isascii() else 1.0)
