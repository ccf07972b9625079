"""Questions about what was told to be remembered: of whom, and which lines speak of it.

Answered from hot memory, the reader's own facts and the running talk alone (decisions.md, "remember: tell
or ask"). Whoever asks about somebody or something else is not told their own profile.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from engines import render
from engines.assistant.chat import sources
from engines.assistant.chat.turn import Turn
from engines.assistant.chat.wording import Draft, answer
from engines.assistant.intents import Part
from language.values import plain, tokens
from memory.hot import injection, superseded
from memory.hot.text import Line, lines
from memory.people import clauses
from memory.people.schemas import current, pattern

_SPEAKER = re.compile(r"我(?!们)|本人|\b(?:I|my|me)\b", re.IGNORECASE)
_TALK = re.compile(
    r"(?:刚才|刚刚|方才|上一?[个句条]|前面|\bjust\b|\blast\b).{0,6}?"
    r"(?:问|说|聊|讲|提|查|ask|said|told|talk)",
    re.IGNORECASE,
)
# Words that only ask; what is left names what is asked for.
_ASKING = re.compile(
    r"是不是|有没有|记不记得|还?记得|记住|记着|知道|了解|清楚|告诉过?|说过?|讲过?|提过|跟|对|关于|有关|请问|来着|怎么|怎样"
    r"|什么|啥|哪[些个]|多少|几|谁|吗|呢|么|嘛|吧|啊|呀|之前|以前|上[次回]|一下|那个?|这个?|事情?|情况|东西"
    r"|你|您|我们?|咱们?|本人|他们?|她们?|它|还|都|就|是|的|了|过|在|有|和|与|[\W_]"
    r"|\b(?:do|does|did|you|still|remember|recall|know|tell|what|which|who|is|are|was|were|of|about|the|a|my|me|i)\b"
)
# What the speaker told the assistant to do.
_WISHES = re.compile(r"规矩|规则|要求|规定|约定|嘱咐|吩咐")
# I told you ..., and what you do for me: 我限制你说多少字, 你几点给我发通知.
_OF_US = re.compile(
    r"(?:我|本人)(?:之前|以前|上次)?(?:对|让|叫|限制|要求|规定|告诉|嘱咐|交代)过?[你您].{0,12}(?:什么|啥|几|多少|怎么|哪|吗|来着)"
    r"|[你您](?:一般|通常|平时|每天|现在)?(?:几点|什么时候|怎么|该?怎样)(?:给|跟|对|叫|称呼|提醒|通知)我(?!们)"
)
_ATTENTION = re.compile(
    r"(?:注意|留意|当心|小心|关注|上心|盯).{0,4}(?:什么|啥|哪|吗|点)|(?:什么|啥|哪).{0,6}(?:注意|留意|当心|小心|关注|上心|盯)"
)
_EVERYBODY = re.compile(r"大家|每个人|所有人|各位|各自|\bevery(?:body|one)\b", re.IGNORECASE)
_WHO = re.compile(r"谁|\bwho\b", re.IGNORECASE)
_HEADING = re.compile(r"^#+\s*(.*?)\s*[(\uff08]\s*user_id", re.IGNORECASE)
_WORDS = re.compile(r"[a-z]+[0-9]*|[0-9]+|[\u4e00-\u9fff]+")
_LEAST = 2


@dataclass
class Found:
    """The lines that answer, best first, and others that an answer may tell of (`beside`).

    `own`: those of the reader; `sure`: nothing a model could add.
    """

    lines: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    sure: bool = False


def recall(turn: Turn, part: Part, limit: int) -> str:
    """What is kept of the matter asked about; that there is nothing, where no line speaks of it."""
    if _TALK.search(part.text):
        return _of_talk(turn, part, limit)
    found = _find(turn, part)
    nothing = _("I have nothing noted about it.")
    fallback = _framed(found, limit) if found.lines else nothing
    if found.sure:
        return fallback
    memory = list(dict.fromkeys([*found.lines, *found.beside]))
    sheet = sources.sheet(turn, part, memory=memory, is_answer=bool(found.lines))
    return answer(turn, Draft(part, sheet, fallback=fallback, limit=limit))


def asks_of_us(part: Part) -> bool:
    """Whether a question is about what the speaker told the assistant, or how it serves them."""
    return not part.record_ids and bool(_OF_US.search(part.text))


def asks_attention(part: Part) -> bool:
    """Whether a task asks what of a subject is to be minded."""
    return bool(part.record_ids and _ATTENTION.search(part.text))


def speaks_of(turn: Turn, part: Part) -> bool:
    """Whether hot memory says anything of the subjects of a task."""
    return bool(_find(turn, part).lines)


def _framed(found: Found, limit: int) -> str:
    """The lines as somebody says them who remembers: what the reader asked for by its words alone."""
    wishes = [_value(line) for line in found.lines if line in found.own and _is_wish(line)]
    if found.lines[0] in found.own and wishes:
        rest = [line for line in found.lines if not (line in found.own and _is_wish(line))]
        first = _("I remember, you asked for this: %(what)s") % {"what": ";".join(wishes)}
        return render.fit([first, *rest], limit)
    said = found.lines[0] in found.own and superseded.slot_of(found.lines[0]) is None
    frame = _("I remember, you said: %(what)s") if said else _("I remember: %(what)s")
    return render.fit([frame % {"what": found.lines[0]}, *found.lines[1:]], limit)


def _is_wish(line: str) -> bool:
    slot = superseded.slot_of(line)
    return slot is not None and slot.types == ("PREFERENCE",) and slot.many


def _value(line: str) -> str:
    return line.replace("\uff1a", ":").partition(":")[2].strip()


def _of_talk(turn: Turn, part: Part, limit: int) -> str:
    """The running talk knows it; without a model the last question is what there is to say."""
    asked = [said["content"] for said in turn.session.messages if said["role"] == "user"]
    if not asked:
        return _("There is nothing before this in our conversation.")
    before = turn.gate.restore(asked[-1])
    told = _("Before this you said: %(words)s") % {"words": before}
    draft = Draft(part, sources.sheet(turn, part, memory=()), fallback=told, limit=limit)
    return answer(turn, draft)


def _find(turn: Turn, part: Part) -> Found:
    given = [line for line in lines(turn.hot.text) if line.text.strip()]
    reader = turn.member.identity.casefold()
    person, name = _person(given, part.text)
    if part.record_ids or (part.named and not person):
        return _of_subjects(given, part)
    if person and person != reader:
        own = [_bare(line.text) for line in given if line.profile == person and line.is_content]
        # 王护士 asks for no role.
        asked = re.sub(re.escape(name), " ", part.text, flags=re.IGNORECASE)
        return Found(_about(own, asked, bare=True), beside=own)
    speaker = _SPEAKER.search(part.text)
    everybody = _EVERYBODY.search(part.text) or (_WHO.search(part.text) and not speaker)
    if everybody and (of_all := _of_everybody(given)):
        return Found(_about(of_all, part.text), beside=of_all)
    shared = [_bare(line.text) for line in given if line.is_content and not line.profile]
    rest = _about(shared, part.text, least=_LEAST)
    if not (person or speaker):
        return Found(rest)
    kept = [_bare(line) for line in injection.profile_of(turn.hot.text, reader) if _is_item(line)]
    kept += [clauses.untold(_bare(line)) for line in turn.facts.split("\n") if _is_item(line)]
    mine = _about(kept, part.text, bare=True)
    slots = [superseded.single(line) for line in mine[:1]]
    alone = [slot for slot in slots if slot and _speaks_of(slot.name, part.text)]
    # One value of their own: a model could only take somebody else's.
    if alone:
        return Found(
            [line for line in mine if superseded.single(line) in alone], own=kept, sure=True
        )
    return Found(list(dict.fromkeys([*mine, *rest])), beside=kept, own=kept)


def _of_subjects(given: Sequence[Line], part: Part) -> Found:
    """The lines that name them; nobody who may not be seen is among those of the reader's hot memory."""
    ids = [record.upper() for record in part.record_ids]
    named = [
        _bare(line.text)
        for line in given
        if ids and {str(t.value) for t in tokens(plain(line.text), ids) if t.kind == "id"} & {*ids}
    ]
    return Found(render.ranked(named, part.text), sure=not named)


def _of_everybody(given: Sequence[Line]) -> list[str]:
    """The lines of all profiles, each with whose it is."""
    called = {line.profile: _names(line)[0] for line in given if line.is_heading and _names(line)}
    own = [line for line in given if line.profile in called and line.is_content]
    return [f"{called[line.profile]} {_bare(line.text)}" for line in own]


def _person(given: Sequence[Line], text: str) -> tuple[str, str]:
    """Whose profile the question names, and how: the heading's name or the user id; the longest counts."""
    asked = unicodedata.normalize("NFKC", text).casefold()
    called = {name: line.profile for line in given if line.is_heading for name in _names(line)}
    spoken = [name for name in called if name in asked]
    name = max(spoken, key=len, default="")
    return called.get(name, ""), name


def _names(line: Line) -> list[str]:
    """ "## 张医生 (user_id: zhangyi)" → 张医生, zhangyi."""
    found = _HEADING.match(line.text)
    name = unicodedata.normalize("NFKC", found[1]).casefold() if found else ""
    name = name.partition("(")[0].strip()
    return [one for one in (name, line.profile) if len(one) > 1] if line.profile else []


def _about(given: Sequence[str], question: str, *, bare: bool = False, least: int = 1) -> list[str]:
    """The lines that speak of what is asked, best first; `bare`: all, where nothing particular is asked.

    `least`: pairs of characters that they share with the question, where it has twice as many.
    """
    topic = _grams(_ASKING.sub(" ", unicodedata.normalize("NFKC", question).casefold()))
    fields = {slot.name for slot in current().said if _speaks_of(slot.name, question)}
    # In English nothing is named as the lines name it.
    if bare and not fields and (not topic or question.isascii()):
        return list(given)
    scores = [(_score(line, topic, fields, least), -at) for at, line in enumerate(given)]
    best = sorted((score for score in scores if score[0]), reverse=True)
    return [given[-at] for _shared, at in best]


def _score(line: str, topic: set[str], fields: set[str], least: int) -> int:
    shared = len(topic & _grams(unicodedata.normalize("NFKC", line).casefold()))
    slot = superseded.slot_of(line)
    of_field = slot.name in fields if slot else any(_speaks_of(name, line) for name in fields)
    if of_field:
        return shared + 100
    return shared if shared and (shared >= least or 2 * shared >= len(topic)) else 0


def _speaks_of(name: str, text: str) -> bool:
    """Whether a text speaks of a field, by its names or as statements about it read."""
    slot = current().slot(name)
    if slot is None:
        return False
    if _WISHES.search(text) and slot.types == ("PREFERENCE",) and slot.many:
        return True
    if any(word in text for word in (slot.name, slot.label, *slot.words)):
        return True
    return bool(slot.cue) and bool(pattern(slot.cue).search(text))


def _grams(text: str) -> set[str]:
    """Words of letters and digits, and pairs of Chinese characters."""
    found = _WORDS.findall(text)
    pairs = {word[at : at + 2] for word in found for at in range(max(len(word) - 1, 1))}
    return {pair for pair in pairs if not pair.isascii()} | {w for w in found if w.isascii()}


def _is_item(line: str) -> bool:
    return line.strip().startswith("-")


def _bare(line: str) -> str:
    return line.strip("-# *").replace("*", "")
