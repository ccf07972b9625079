"""From text to typed tokens: subjects, periods and numbers by shape, all else by the longest word known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from itertools import takewhile

from core.language.numerals import HAN, numeral_value
from core.language.periods import periods
from core.language.sounds import sound
from core.privacy.fold_text import simplified
from engines.assistant.read.lay import lay
from engines.assistant.read.records import Free, record_spans
from engines.assistant.read.setting import Setting
from engines.assistant.read.spelling import normalise
from engines.assistant.read.tokens import Days, Kind, Token
from engines.assistant.read.vocabulary import is_name_of_study

_BREAK = frozenset("。?!;,\n")
_BLANK = frozenset(" \t:·()[]{}“”\"'‘’《》<=>~-_./*…|")
_UNITS = (
    r"岁|周岁|公斤|千克|kg|厘米|cm|mmhg|mmol/l|umol/l|μmol/l|mg/dl|u/l|iu/l|g/l|级|分|期|度|℃|%|倍"
    r"|次|天|例|个|位|名|人|年|个?月|周|片|斤|×|x(?![a-z0-9])|\*"
)
_TIMES = ("×", "x", "*")
_NUMBER = re.compile(
    rf"(?P<digits>\d+(?:\.\d+)?)(?:\s?(?P<unit>{_UNITS}))?"
    rf"|百分之(?P<percent>\d+|[{HAN}]+)"
    rf"|(?P<words>[{HAN}]{{1,6}})(?P<of>岁|周岁|公斤|倍|级|分|度|天|次|个|位|名|例|人|(?=以上|以下|以内|之间))"
)
_LATIN = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_HAN = re.compile(r"[一-鿿]")
_SITE = re.compile(
    r"(?P<short>[a-z]|\d{1,2}|[一二三四五六七八九十甲乙丙丁东西南北])\s?(?:号)?中心"
    r"|(?:site|centre|center)[ _-]?(?P<long>[a-z]|\d{1,2})(?![a-z0-9])"
)
_LIKE_ID = re.compile(r"(?<![a-z0-9-])[a-z](?=[a-z]*\d)[a-z0-9]{2,7}(?![a-z0-9-])")
_YEAR = re.compile(r"年|上|前|昨")
_VERSION = re.compile(r"v\d+(?:\.\d+)+")
_ARM = re.compile(r"(?:[a-z]|[甲乙丙丁])组|(?:对照|试验|治疗|安慰剂)组")
NO_VISIT = "none"
"""The value of a place that this study has not."""
_LONGEST_SOUND = 6
_TO = ("到", "至")
_PEOPLE = ("受试者", "病人", "患者")
_MOST_NAMED = 200
_RANGE = re.compile(r"(?<=\d)(\s*)[-~—–](\s*)(?=[a-z]{1,4}-?\d)")
_JOINS = re.compile(r"(?:另外|然后|顺便|顺带|此外|接着)")


# What is typed or heard in the place of a digit.
_LOOKS = str.maketrans("oilzsbq", "0112589")


def scan(message: str, setting: Setting) -> list[Token]:
    """The tokens of a message in order; what is no word of the study or the grammar is LEFT."""
    return _Scanner(setting).scan(message)


def resolved(said: str, subjects: Collection[str]) -> str:
    """The visible subject that an id as typed or heard stands for, where exactly one fits; else as it is.

    13 and p13 are P013, P03l is P031 and P0O6 is P006. An id of digits alone means itself: where 007 is seen, 7
    may be somebody of another site.
    """
    if said in subjects:
        return said
    same = [name for name in subjects if name.casefold() == said.casefold()]
    alike = (name for name in subjects if not (name.isdecimal() and said.isdecimal()))
    same = same or [name for name in alike if _looks(name) == _looks(said)]
    if not same and (digits := said.lstrip("Pp")).isdecimal():
        stems = {name: name.rstrip("0123456789") for name in subjects}
        same = [
            n
            for n, s in stems.items()
            if s not in ("", n) and int(n.removeprefix(s)) == int(digits)
        ]
    return same[0] if len(same) == 1 else said


def _looks(said: str) -> tuple[str, int | str]:
    """An id by its stem and its number, with letters that look like digits as digits behind the stem."""
    stem = said[:1].casefold() if said[:1].isalpha() else ""
    rest = said[len(stem) :].casefold().translate(_LOOKS)
    return stem, int(rest) if rest.isdecimal() else rest


class _Scanner:
    """What a message is read with."""

    def __init__(self, setting: Setting) -> None:
        self.vocabulary, self.calendar = setting.vocabulary, setting.calendar
        self.pattern, self.subjects = setting.pattern, setting.subjects
        self._resolved: dict[str, str] = {}

    def resolve(self, said: str) -> str:
        if said not in self._resolved:  # a long message names the same ones again and again
            self._resolved[said] = resolved(said, self.subjects)
        return self._resolved[said]

    def known(self, said: str) -> bool:
        return said in self.subjects

    def scan(self, message: str) -> list[Token]:
        plain = normalise(message)
        # P001-P005: a dash between two ids is a range as 到 is.
        text = _RANGE.sub(r"\1到\2", simplified(_lower(plain)))
        fixed = self._fixed(plain, text)
        tokens: list[Token] = []
        self._read(text, fixed, tokens)
        return self._through(tokens)

    def _through(self, tokens: list[Token]) -> list[Token]:
        """P001到P003: also the subjects in between; 7的性别: a number that has a field is a subject."""
        found: list[Token] = []
        for place, token in enumerate(tokens):
            if _has_field(tokens, place):
                token = Token(Kind.SUBJECT, token.said, self.resolve(token.said))
            elif day := self._day(tokens, place):
                month = found.pop() if found and found[-1].kind is Kind.PERIOD else None
                token = Token(
                    Kind.PERIOD, (month.said if month else "") + token.said, days=(day, day)
                )
            kinds = [t.kind for t in (*found[-2:-1], token)]
            if kinds == [Kind.SUBJECT, Kind.SUBJECT] and found[-1].said in _TO:
                found[-1:] = self._between(found[-2].value, token.value)
            found.append(token)
        return found

    def _day(self, tokens: list[Token], place: int) -> date | None:
        """25号要来的有谁, 下个月7号有谁: a day of the month named before it, else the next such day.

        A number that is somebody's id means them: the answer names whom it speaks of.
        """
        token, after = tokens[place], tokens[place + 1 : place + 2]
        is_day = token.kind is Kind.NUMBER and token.said.isdecimal() and len(token.said) < 3
        is_day = is_day and 0 < int(token.said) < 32
        if not is_day or [t.said for t in after] != ["号"]:
            return None
        before = tokens[place - 1] if place else None
        if before is not None and before.kind is Kind.PERIOD and _is_month(before.days):
            return _day_of_month(before.days[0], int(token.said))
        clause = takewhile(lambda t: t.kind is not Kind.BREAK, tokens[place:])
        kinds = {t.kind for t in clause}
        if Kind.VISIT not in kinds or not kinds & {Kind.WHO, Kind.WHAT} or self.known(token.said):
            return None
        months = (_month(self.calendar.today, shift) for shift in (0, 1, 2))
        days = (_day_of_month(month, int(token.said)) for month in months)
        return next((day for day in days if day and day >= self.calendar.today), None)

    def _between(self, first: str, last: str) -> Iterator[Token]:
        stem = first.rstrip("0123456789")
        low, high = first.removeprefix(stem), last.removeprefix(stem)
        if low.isdecimal() and high.isdecimal():
            numbers = range(int(low) + 1, min(int(high), int(low) + _MOST_NAMED))
            names = (f"{stem}{number_of:0{len(low)}}" for number_of in numbers)
            yield from (Token(Kind.SUBJECT, name, name) for name in names if self.known(name))

    def _fixed(self, plain: str, text: str) -> dict[int, tuple[int, Token]]:
        """Start -> end and token of subjects and periods."""
        found: dict[int, tuple[int, Token]] = {}
        free = Free()
        for span in periods(text, self.calendar):
            free.take(span.start, span.end)
            said = text[span.start : span.end]
            days = self._in_study(said, span.first, span.last)
            found[span.start] = span.end, Token(Kind.PERIOD, said, days=days)
        for hit in _LIKE_ID.finditer(text):
            name = self.resolve(hit[0].upper())
            if (
                name in self.subjects
                and hit[0] not in self.vocabulary.words
                and free.take(*hit.span())
            ):
                found[hit.start()] = hit.end(), Token(Kind.SUBJECT, hit[0], name)
        # An id of another shape than the study's is one that the study has not; it is asked for all the same.
        for named in (*record_spans(plain, self.pattern), *record_spans(plain, None)):
            word = text[named.start : named.end].strip()
            is_id = text[: named.start].endswith(("id", "id "))
            bare = word.isdigit() and len(word) < 3 and not self.pattern and not is_id
            if bare or word in self.vocabulary.words or not free.take(named.start, named.end):
                continue
            token = Token(Kind.SUBJECT, text[named.start : named.end], self.resolve(named.value))
            found[named.start] = named.end, token
        return found

    def _in_study(self, said: str, first: date | None, last: date | None) -> Days:
        """12月7号, said in November of a study that began in January: a day to come, none before it began."""
        begin = self.calendar.begin
        if first is None or last is None or last >= begin or _YEAR.search(said):
            return first, last
        return _next_year(first), _next_year(last)

    def _read(self, text: str, fixed: dict[int, tuple[int, Token]], tokens: list[Token]) -> None:
        sounds, at, left = sound(text), 0, 0
        while at < len(text):
            end, found = self._at(text, sounds, at, fixed, tokens)
            if not end:
                at += len(m[0]) if (m := _LATIN.match(text, at)) else 1
                continue
            _leave(text[left:at], tokens)
            tokens += found
            at = left = end
        _leave(text[left:], tokens)

    def _at(
        self,
        text: str,
        sounds: str,
        at: int,
        fixed: dict[int, tuple[int, Token]],
        tokens: list[Token],
    ) -> tuple[int, list[Token]]:
        """The end of the longest token at a place, 0 for none, and what it stands for."""
        end, word = self._word(text, sounds, at)
        stop, told = fixed.get(at, (0, None))
        if told and stop >= end and self._stands(told, tokens, text[stop:]):
            return stop, [told]
        shapes = (_counted, _numbered, _version, _other_site, _other_arm, self._other_visit)
        stop, token = max((shape(text, at) for shape in shapes), key=lambda found: found[0])
        if token and stop > end:
            return stop, [token]
        if self._asks_by_no(text, at):
            return at + 2, [Token(Kind.YES_NO, text[at : at + 2])]
        if word is not None:
            return end + _ending(text, at, end), self._tokens(word)
        if text[at] in _BREAK:
            return at + 1, [Token(Kind.BREAK, text[at])]
        joint = _JOINS.match(text, at)
        if joint:
            return joint.end(), [Token(Kind.BREAK, joint[0])]
        return (at + 1, []) if text[at] in _BLANK else (0, [])

    def _asks_by_no(self, text: str, at: int) -> bool:
        """吸不吸烟, 入没入组: a word said with its no before it only asks."""
        if text[at + 1 : at + 2] not in ("不", "没") or text[at] != text[at + 2 : at + 3]:
            return False
        content = (Kind.FIELD, Kind.FORM, Kind.CHOICE, Kind.ENROLLED)
        words = (text[at + 2 : at + 2 + size] for size in range(1, self.vocabulary.longest + 1))
        known = [self.vocabulary.words.get(word) for word in words]
        longer = any(self._known(text[at : at + size]) for size in range(3, 9))
        return not longer and any(
            meant and (meant.kind in content or meant.value == "done") for meant in known
        )

    def _stands(self, token: Token, before: list[Token], after: str) -> bool:
        """A bare number is a subject only where it is one's, and nothing before it asks for a number.

        7号患者 is somebody, whoever is seen: that there is such a one is not told.
        """
        if token.kind is not Kind.SUBJECT or not token.said.isdigit():
            return True
        valued = (Kind.COMPARE, Kind.FIELD, Kind.LIMIT, Kind.BASELINE)
        told = next((t.kind for t in reversed(before) if t.kind is not Kind.FILL), None)
        is_one = self.known(token.value) or after.removeprefix("号").startswith(_PEOPLE)
        return is_one and told not in valued

    def _other_visit(self, text: str, at: int) -> tuple[int, Token | None]:
        """V9, 第9次访视: spelt as visits of this study are, and none of them (those are known words)."""
        stems = self.vocabulary.visit_stems
        end, token = _alone(_visits(stems), text, at, Kind.PLACE) if stems else (at, None)
        return end, replace(token, value=NO_VISIT) if token else None

    def _word(self, text: str, sounds: str, at: int) -> tuple[int, str | None]:
        """The longest word at a place as it is spelt, or a longer one that sounds like what stands there."""
        exact, reach = 0, self.vocabulary.reach.get(text[at], 0)
        for size in range(min(reach, len(text) - at), 0, -1):
            word = text[at : at + size]
            if self._known(word) and _whole(text, at, at + size):
                exact = size - self._belongs_behind(text, at, size)
                break
        best = text[at : at + exact] if exact else None
        for size in range(min(_LONGEST_SOUND, len(text) - at), max(exact, 1), -1):
            alike = self.vocabulary.sounds.get(sounds[at : at + size])
            rest = text[at + exact : at + size]
            if alike and len(alike) == size and not (exact and (size < 3 or self._known(rest))):
                return at + size, alike
        return at + exact, best

    def _belongs_behind(self, text: str, at: int, size: int) -> int:
        """谁有过敏史: 1 where the last letter of a word begins a longer name of the study's."""
        words, start = self.vocabulary.words, at + size - 1
        own = words.get(text[at : start + 1])
        if size < 2 or own is None or text[at:start] not in words or is_name_of_study(own):
            return 0
        longer = (text[start : start + n] for n in range(size + 1, self.vocabulary.longest + 1))
        return int(any(name in words and is_name_of_study(words[name]) for name in longer))

    def _known(self, word: str) -> bool:
        return word in self.vocabulary.words or word in self.vocabulary.rewrites

    def _tokens(self, word: str) -> list[Token]:
        others, known = self.vocabulary.rewrites.get(word), self.vocabulary.words.get(word)
        # 拉肚子 is a word of the trade, too; the study writes 腹泻.
        if others is not None and (known is None or known.kind in (Kind.TERM, Kind.ABSENT)):
            tokens: list[Token] = []
            self._read(others, {}, tokens)
            return tokens
        meaning = self.vocabulary.words[word]
        return [Token(meaning.kind, word, meaning.value, meaning.readings)]


def _has_field(tokens: list[Token], place: int) -> bool:
    """Whether a bare number begins its clause, and a field, a form or a visit is its own or it is somebody
    (7的性别, 7号的V2, 7号那位).
    """
    token = tokens[place]
    if token.kind is not Kind.NUMBER or not token.said.isdecimal():
        return False
    before = next((t.kind for t in reversed(tokens[:place]) if t.kind is not Kind.FILL), Kind.BREAK)
    after = tokens[place + 1 : place + 4]
    called = [t.said for t in takewhile(lambda t: t.said in ("号", "的"), after)]
    if not called or before is not Kind.BREAK or len(called) == len(after):
        return False
    what = after[len(called)]
    one = called == ["号"] and (what.kind is Kind.PRONOUN or what.said in _PEOPLE)
    return one or (
        called[-1] == "的" and what.kind in (Kind.FIELD, Kind.FORM, Kind.PLACE, Kind.VISIT)
    )


def _lower(text: str) -> str:
    lower = text.casefold()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _leave(text: str, tokens: list[Token]) -> None:
    for piece in re.split(r"\s+", text):
        if piece.strip("".join(_BLANK)):
            tokens.append(Token(Kind.LEFT, piece))


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a Latin word stands alone (a plural s may follow)."""
    first, last = text[start], text[end - 1]
    if first.isascii() and first.isalnum() and start and _is_latin(text[start - 1]):
        return False
    if last.isascii() and last.isalpha() and end < len(text) and _is_latin(text[end]):
        # ALT185 is a name and its value; smokes, subjects.
        return end - start > 2 and (text[end].isdigit() or bool(_ending(text, start, end)))
    return not (last.isdigit() and re.match(r"\d|\.\d", text[end : end + 2]))


def _ending(text: str, start: int, end: int) -> int:
    """The length of the English s that a Latin word ends in."""
    if end - start < 3 or not text[end - 1].isascii() or text[end : end + 1] != "s":
        return 0
    return 0 if _is_latin(text[end + 1 : end + 2]) else 1


@cache
def _visits(stems: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(stem) for stem in sorted(stems))
    return re.compile(rf"(?:{names})\d+(?![.\d]|[a-z])|第(?:\d+|[{HAN}]+)次(?:访视|随访)")


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


@cache
def _templates() -> re.Pattern[str]:
    words = [word for word in lay().grammar if "#" in word]
    body = "|".join(
        re.escape(w).replace(r"\#", "#").replace("#", rf"(?:\d+|[{HAN}]+)") for w in words
    )
    return re.compile(body)


@cache
def _template_kinds() -> list[tuple[re.Pattern[str], Kind, str]]:
    return [
        (re.compile(re.escape(w).replace(r"\#", "#").replace("#", rf"(\d+|[{HAN}]+)")), kind, value)
        for w, (kind, value) in lay().grammar.items()
        if "#" in w
    ]


def _counted(text: str, at: int) -> tuple[int, Token | None]:
    """最近3次, 最高的三个."""
    hit = _templates().match(text, at)
    if hit is None:
        return at, None
    for pattern, kind, value in _template_kinds():
        exact = pattern.fullmatch(hit[0])
        if exact:
            return hit.end(), Token(kind, hit[0], value, number=numeral_value(exact[1]))
    return at, None


def _numbered(text: str, at: int) -> tuple[int, Token | None]:
    hit = _NUMBER.match(text, at)
    if hit is None:
        return at, None
    value = numeral_value(hit["digits"] or hit["percent"] or hit["words"])
    if value is None:
        return at, None
    unit = "%" if hit["percent"] else hit["unit"] or hit["of"] or ""
    return hit.end(), Token(Kind.NUMBER, hit[0], "倍" if unit in _TIMES else unit, number=value)


def _version(text: str, at: int) -> tuple[int, Token | None]:
    """V2.0: a version of a document, no visit and no number."""
    return _alone(_VERSION, text, at, Kind.LEFT)


def _other_site(text: str, at: int) -> tuple[int, Token | None]:
    """A centre that the reader's study has not, or not for them: it is asked for like any other."""
    end, token = _alone(_SITE, text, at, Kind.SITE)
    hit = _SITE.match(text, at)
    return end, replace(token, value=hit["short"] or hit["long"]) if token and hit else None


def _other_arm(text: str, at: int) -> tuple[int, Token | None]:
    """A组: an arm that is no choice of any field of the study, else it were a word."""
    return _alone(_ARM, text, at, Kind.ABSENT)


def _alone(shape: re.Pattern[str], text: str, at: int, kind: Kind) -> tuple[int, Token | None]:
    """What has a shape at a place and is not the end of a longer Latin word."""
    hit = shape.match(text, at)
    if hit is None or (at and _is_latin(text[at - 1])):
        return at, None
    return hit.end(), Token(kind, hit[0])


def _next_year(day: date) -> date:
    """The same day a year later; of 29 February the day after."""
    month, of = (3, 1) if (day.month, day.day) == (2, 29) else (day.month, day.day)
    return date(day.year + 1, month, of)


def _is_month(days: Days) -> bool:
    """Whether days are those of one calendar month."""
    first, last = days
    return bool(first and last and first.day == 1 and 27 <= (last - first).days <= 30)


def _month(today: date, shift: int) -> date:
    """The first day of the month so many months on."""
    months = today.year * 12 + today.month - 1 + shift
    return date(months // 12, months % 12 + 1, 1)


def _day_of_month(month: date | None, day: int) -> date | None:
    """The day of a month; None where it has not so many."""
    found = month + timedelta(days=day - 1) if month else None
    return found if found and month and found.month == month.month else None
