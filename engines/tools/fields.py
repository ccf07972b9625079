"""Which field a name means: mapping, dictionary, labels, close matches (issue 3, Tools)."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from projects.metadata import StudyMetadata

_PAREN = re.compile(r"[(\uff08][^)\uff09]*[)\uff09]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_SUFFIX = re.compile(r"(?:签署)?(?:日期|时间|评分|名称|结果|版本|判断|文字)$")
_PREFIX = re.compile(r"^(?:是否(?:存在|有)?|有无|有)")
_AND = re.compile(r"[与和及、]")
_WORDS = re.compile(r"[\u4e00-\u9fff]{2,}")
_FEW = 3
# Words of a question that name nothing.
_EMPTY = re.compile(
    r"受试者|患者|病人|什么时候|什么|怎么样|怎么|多少|哪些|哪[条个项种天]?|几[条个项种次例]?|请问|请|查询|查看|查|一下"
    r"|告诉|帮我|有没有|是不是|是否|是|有|没|的|了|过|吗|呢|吧|和|与|及|跟|或|最近|目前|现在|[上下本]次|第一次"
    r"|日期|时间|结果|情况|记录|数据|[他她它我您你]们?|在|于|为|做|被|给|看|说|这|那|都|也|还|已经?|用药"
)
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
        called = [name for name, words in self.names.items() if text in words]
        return called or [name for label, name in self._labels.items() if text in label]

    def _close(self, text: str) -> tuple[str, ...]:
        labels = {
            _fold(self.metadata.label(n)): self.metadata.label(n) for n in self.metadata.fields
        }
        pool = {**labels, **{n: self.metadata.label(n) for n in self.metadata.fields}}
        inside = [label for folded, label in labels.items() if text in folded]
        # Few letters make many words: Latin names must be closer than Chinese ones.
        cutoff = 0.6 if text.isascii() else 0.4
        close = [pool[hit] for hit in difflib.get_close_matches(text, pool, n=4, cutoff=cutoff)]
        return tuple(dict.fromkeys([*inside, *close]))[:4]

    def mentioned(self, question: str) -> list[str]:
        """Fields a question speaks of, in the order of the dictionary; [] when it asks for no field."""
        found = {name for fields in self.spoken(question).values() for name in fields}
        return [name for name in self.metadata.fields if name in found]

    def spoken(self, question: str) -> dict[str, tuple[str, ...]]:
        """Word of the question -> the fields it means.

        A form stands for all its fields only where none of them is named: the 分级 of an AE is one field.
        """
        text = _fold(question)
        defined = self._defined(text)
        topics = self._topics(text, defined)
        direct = self._synonyms_in(text, {*defined, *topics})
        for name, words in self.names.items():
            for word in words:
                if word not in defined and word not in topics and occurs(word, text):
                    direct[word] = tuple(dict.fromkeys((*direct.get(word, ()), name)))
        direct = {word: fields for word, fields in direct.items() if _alone(word, direct, text)}
        named = {name for fields in (*defined.values(), *direct.values()) for name in fields}
        parts = self._parts(text, [*defined, *direct, *topics], topics.values())
        named |= {name for fields in parts.values() for name in fields}
        whole = {word: fs for word, fs in topics.items() if not named & set(fs)}
        return {**defined, **direct, **parts, **whole}

    def _defined(self, text: str) -> dict[str, tuple[str, ...]]:
        """A word that the study's own mapping defines means that field and no other."""
        words = {_fold(alias): actual for alias, actual in self.aliases.items()}
        fields = self.metadata.fields
        return {w: (a,) if a in fields else () for w, a in words.items() if occurs(w, text)}

    def _topics(self, text: str, defined: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Words that mean a whole form: its label, a part of it (生命体征与体能), a synonym."""
        found = {
            word: self.form_fields(form)
            for label, form in self._forms.items()
            for word in (label, *(part for part in _AND.split(label) if len(part) > 2))
            if not word.isascii() and word not in self._labels and occurs(word, text)
        }
        for word, means in _synonyms().items():
            forms = [self._forms[_fold(other)] for other in means if _fold(other) in self._forms]
            if len(forms) == len(means) and occurs(word, text):
                found[word] = tuple(n for form in forms for n in self.form_fields(form))
        return {word: fields for word, fields in found.items() if word not in defined}

    @cached_property
    def _labels(self) -> Mapping[str, str]:
        return {_fold(self.metadata.label(name)): name for name in self.metadata.fields}

    def _synonyms_in(self, text: str, taken: Collection[str]) -> dict[str, tuple[str, ...]]:
        found = {}
        for word, means in _synonyms().items():
            if word not in taken and occurs(word, text):
                fields = [name for other in means for name in self._of(other)]
                found[word] = tuple(dict.fromkeys(fields))
        return found

    def _parts(
        self, text: str, spoken: Iterable[str], topics: Iterable[Sequence[str]]
    ) -> dict[str, tuple[str, ...]]:
        """Words that stand in a few labels only: 分期 of 临床分期; inside the form that is spoken of first."""
        for word in sorted(spoken, key=len, reverse=True):
            text = text.replace(word, " ")
        about = {name for fields in topics for name in fields}
        found = {}
        for part in telling_words(text):
            holding = {name for label, name in self._labels.items() if part in label}
            near = holding & about or holding
            if near and len(near) <= _FEW and part not in _GENERIC:
                found[part] = tuple(name for name in self.metadata.fields if name in near)
        return found


_known: dict[tuple[str, str, frozenset[tuple[str, str]]], FieldNames] = {}
_MOST_KNOWN = 32


def field_names(metadata: StudyMetadata, aliases: Mapping[str, str]) -> FieldNames:
    """The names of a study, worked out once for each dictionary and mapping: every question asks for them."""
    key = metadata.digest, repr(metadata.instruments), frozenset(aliases.items())
    found = _known.get(key)
    if found is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[key] = FieldNames(metadata, aliases)
    return found


@cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    path = Path(__file__).with_name("synonyms.v1.json")
    table = json.loads(path.read_text(encoding="utf-8"))
    return {_fold(word): tuple(means) for word, means in table.items()}


def _cores(label: str) -> set[str]:
    core = _PREFIX.sub("", _SUFFIX.sub("", label))
    han = re.sub(r"[A-Za-z0-9]+", "", core)
    return {part for part in (core, han) if len(part) > 1}


def telling_words(question: str) -> list[str]:
    """The Chinese words of a question without those that name nothing."""
    return _WORDS.findall(_EMPTY.sub(" ", _fold(question)))


def _alone(word: str, others: Iterable[str], text: str) -> bool:
    """Whether a word also stands outside of the longer ones: 药物 in 与研究药物的关系 does not."""
    for longer in sorted((o for o in others if word != o and word in o), key=len, reverse=True):
        text = text.replace(longer, " ")
    return occurs(word, text)


def occurs(word: str, text: str) -> bool:
    """Whether a folded text has this word; a Latin one as a whole word, in singular or plural."""
    if not word.isascii():
        return len(word) > 1 and word in text
    if len(word) < 2:
        return False
    return re.search(rf"(?<![a-z0-9_]){re.escape(word)}s?(?![a-z_])", text) is not None


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()
