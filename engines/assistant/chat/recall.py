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

from core.language.values import plain, tokens
from engines import render
from engines.assistant.chat.turn import Turn
from engines.assistant.read.records import ids_in
from engines.assistant.read.task import Task
from memory.hot import injection
from memory.hot.text import Line, lines
from memory.people import facts
from memory.people.commands import untold
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
_EVERYBODY = re.compile(r"大家|每个人|所有人|各位|各自|\bevery(?:body|one)\b", re.IGNORECASE)
_WHO = re.compile(r"谁|\bwho\b", re.IGNORECASE)
_HEADING = re.compile(r"^#+\s*(.*?)\s*[(\uff08]\s*user_id", re.IGNORECASE)
_WORDS = re.compile(r"[a-z]+[0-9]*|[0-9]+|[\u4e00-\u9fff]+")
_LEAST = 2


@dataclass
class Found:
    """The lines that answer, best first; `own`: those of the reader."""

    lines: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)


def recall(turn: Turn, task: Task, limit: int) -> str:
    """What is kept of the matter asked about; that there is nothing, where no line speaks of it."""
    if _TALK.search(task.said):
        return _of_talk(turn, limit)
    found = _find(turn, task)
    return _framed(found, limit) if found.lines else _("I have nothing noted about it.")


def _framed(found: Found, limit: int) -> str:
    """The lines as somebody says them who remembers: what the reader asked for by its words alone."""
    wishes = [_value(line) for line in found.lines if line in found.own and _is_wish(line)]
    if found.lines[0] in found.own and wishes:
        rest = [line for line in found.lines if not (line in found.own and _is_wish(line))]
        first = _("I remember, you asked for this: %(what)s") % {"what": ";".join(wishes)}
        return render.fit([first, *rest], limit)
    said = found.lines[0] in found.own and facts.slot_of(found.lines[0]) is None
    frame = _("I remember, you said: %(what)s") if said else _("I remember: %(what)s")
    return render.fit([frame % {"what": found.lines[0]}, *found.lines[1:]], limit)


def _is_wish(line: str) -> bool:
    slot = facts.slot_of(line)
    return slot is not None and slot.types == ("PREFERENCE",) and slot.many


def _value(line: str) -> str:
    return line.replace("\uff1a", ":").partition(":")[2].strip()


def _of_talk(turn: Turn, limit: int) -> str:
    """The reader's last question."""
    if not turn.session.said:
        return _("There is nothing before this in our conversation.")
    # As it was typed: what the gate took out of it tells who is in the study.
    told = _("Before this you said: %(words)s") % {"words": turn.session.said[-1][0]}
    return render.cut(told, limit)


def _find(turn: Turn, task: Task) -> Found:
    given = [line for line in lines(turn.hot.text) if line.text.strip()]
    reader = turn.member.identity.casefold()
    person, name = _person(given, task.said)
    ids = ids_in(task.said, turn.setting.pattern)
    if ids:
        return Found(_of_subjects(given, ids, task.said))
    if person and person != reader:
        own = [_bare(line.text) for line in given if line.profile == person and line.is_content]
        # 王护士 asks for no role.
        asked = re.sub(re.escape(name), " ", task.said, flags=re.IGNORECASE)
        return Found(_about(own, asked, bare=True))
    speaker = _SPEAKER.search(task.said)
    everybody = _EVERYBODY.search(task.said) or (_WHO.search(task.said) and not speaker)
    if everybody and (of_all := _of_everybody(given)):
        return Found(_about(of_all, task.said))
    under = _headed(given)
    of_study = task.topic == "study"
    told = _about([*under], task.said, bare=of_study, least=1 if of_study else _LEAST)
    rest = [under[line] for line in told]
    if not (person or speaker or task.topic == "own"):
        return Found(rest)
    kept = [_bare(line) for line in injection.profile_of(turn.hot.text, reader) if _is_item(line)]
    kept += [untold(_bare(line)) for line in turn.facts.split("\n") if _is_item(line)]
    mine = _about(kept, task.said, bare=True)
    slots = [facts.single(line) for line in mine[:1]]
    alone = [slot for slot in slots if slot and _speaks_of(slot.name, task.said)]
    if alone:
        return Found([line for line in mine if facts.single(line) in alone], kept)
    return Found(list(dict.fromkeys([*mine, *rest])), kept)


def _headed(given: Sequence[Line]) -> dict[str, str]:
    """The lines of the study as a whole under their headings, which say what they are -> the line alone."""
    heading, found = "", dict[str, str]()
    for line in given:
        if line.is_heading:
            heading = _bare(line.text)
        elif line.is_content and not line.profile:
            found[f"{heading} {_bare(line.text)}"] = _bare(line.text)
    return found


def _of_subjects(given: Sequence[Line], ids: Sequence[str], question: str) -> list[str]:
    """The lines that name them; nobody who may not be seen is among those of the reader's hot memory."""
    named = [
        _bare(line.text)
        for line in given
        if {str(t.value) for t in tokens(plain(line.text), ids) if t.kind == "id"} & {*ids}
    ]
    return render.ranked(named, question)


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
    slot = facts.slot_of(line)
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
    if any(word in text for word in slot.names):
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
