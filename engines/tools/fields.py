"""Which field a name means: mapping, dictionary, labels, close matches (issue 3, Tools)."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from projects.metadata import StudyMetadata

_PAREN = re.compile(r"[(\uff08][^)\uff09]*[)\uff09]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_SUFFIX = re.compile(r"(?:签署)?(?:日期|时间|评分|名称|结果|版本|判断|文字)$")
_PREFIX = re.compile(r"^(?:是否(?:存在|有)?|有无|有)")
_COMMON = frozenset(
    {"id", "no", "date", "name", "type", "text", "data", "score", "time", "unit", "start", "end"}
    | {"is", "of", "yn", "arm", "class"}
)
_GENERIC = frozenset(
    {
        "日期",
        "时间",
        "结果",
        "状态",
        "名称",
        "病人",
        "患者",
        "受试者",
        "情况",
        "数据",
        "记录",
        "访视",
    }
)


@dataclass(frozen=True)
class Resolved:
    """Fields a name stands for, or what it might have meant."""

    asked: str
    fields: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """The repair instruction for an unknown name ("字段 xx 不存在,您是否要…")."""
        if not self.suggestions:
            return f"字段 {self.asked} 不存在。"
        return f"字段 {self.asked} 不存在,您是否要:{'、'.join(self.suggestions)}?"


@dataclass(frozen=True)
class FieldNames:
    """All the names of a study's fields."""

    metadata: StudyMetadata = field(repr=False)
    aliases: Mapping[str, str]

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Field -> the ways people call it, longest first: label, its core, Latin words, aliases."""
        found: dict[str, set[str]] = {name: set() for name in self.metadata.fields}
        for name in found:
            label = _fold(self.metadata.label(name))
            bare = _PAREN.sub("", label).strip()
            found[name] |= {name, label, bare, *_cores(bare)}
            found[name] |= {w for w in _LATIN.findall(label) if len(w) > 1 and w not in _COMMON}
            found[name] |= {
                w for w in name.split("_") if len(w) > 1 and w not in _COMMON and w.isalpha()
            }
        for alias, actual in self.aliases.items():
            if actual in found:
                found[actual].add(_fold(alias))
        return {
            name: tuple(
                sorted((w for w in words if w and w not in _GENERIC), key=lambda w: (-len(w), w))
            )
            for name, words in found.items()
        }

    def form_fields(self, form: str) -> tuple[str, ...]:
        """The fields of a form in the order of the dictionary."""
        return tuple(n for n, row in self.metadata.fields.items() if row["form_name"] == form)

    @cached_property
    def _forms(self) -> Mapping[str, str]:
        forms = {str(row["form_name"]) for row in self.metadata.metadata}
        labelled = {_fold(self.metadata.form_label(form)): form for form in forms}
        return {**{_fold(form): form for form in forms}, **labelled}

    def resolve(self, asked: str) -> Resolved:
        """By alias, field name, label, form, synonym; else the closest names."""
        text = _fold(asked)
        by_alias = {_fold(alias): actual for alias, actual in self.aliases.items()}
        if text in by_alias and by_alias[text] in self.metadata.fields:
            return Resolved(asked, (by_alias[text],))
        exact = [name for name in self.names if text in (name, _fold(self.metadata.label(name)))]
        if exact:
            return Resolved(asked, tuple(exact))
        called = [name for name, words in self.names.items() if text in words]
        if called and len(called) <= 4:
            return Resolved(asked, tuple(called))
        if text in self._forms:
            return Resolved(asked, self.form_fields(self._forms[text]))
        synonym = [name for word in _synonyms().get(text, ()) for name in self._of(word)]
        if synonym:
            return Resolved(asked, tuple(dict.fromkeys(synonym)))
        return Resolved(asked, suggestions=self._close(text))

    def _of(self, word: str) -> Sequence[str]:
        text = _fold(word)
        if text in self._forms:
            return self.form_fields(self._forms[text])
        return [name for name, words in self.names.items() if text in words]

    def _close(self, text: str) -> tuple[str, ...]:
        labels = {
            _fold(self.metadata.label(n)): self.metadata.label(n) for n in self.metadata.fields
        }
        pool = {**labels, **{n: self.metadata.label(n) for n in self.metadata.fields}}
        inside = [label for folded, label in labels.items() if text in folded]
        close = [pool[hit] for hit in difflib.get_close_matches(text, pool, n=4, cutoff=0.4)]
        return tuple(dict.fromkeys([*inside, *close]))[:4]

    def mentioned(self, question: str) -> list[str]:
        """Fields a question speaks of, in the order of the dictionary; [] when it asks for no field."""
        text = _fold(question)
        # A word that the study's own mapping defines means that field and no other.
        defined = {_fold(alias): actual for alias, actual in self.aliases.items()}
        spoken = {word: actual for word, actual in defined.items() if _occurs(word, text)}
        found = {actual for actual in spoken.values() if actual in self.metadata.fields}
        for word, means in _synonyms().items():
            if word not in spoken and _occurs(word, text):
                found.update(name for other in means for name in self._of(other))
        for name, words in self.names.items():
            if any(_occurs(word, text) for word in words if word not in spoken):
                found.add(name)
        return [name for name in self.metadata.fields if name in found]


@cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    path = Path(__file__).with_name("synonyms.v1.json")
    table = json.loads(path.read_text(encoding="utf-8"))
    return {_fold(word): tuple(means) for word, means in table.items()}


def _cores(label: str) -> set[str]:
    core = _PREFIX.sub("", _SUFFIX.sub("", label))
    han = re.sub(r"[A-Za-z0-9]+", "", core)
    return {part for part in (core, han) if len(part) > 1}


def _occurs(word: str, text: str) -> bool:
    if not word.isascii():
        return len(word) > 1 and word in text
    if len(word) < 2:
        return False
    return re.search(rf"(?<![a-z0-9_]){re.escape(word)}(?![a-z_])", text) is not None


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()
