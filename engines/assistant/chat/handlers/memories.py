"""Remembering and feedback (decisions.md, "remember", "feedback")."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from engines.assistant.chat.handlers import (
    own_memory,
    recall,
    study_data,
    undecided,
)
from engines.assistant.chat.opinions import Opinion, judged
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Part
from engines.assistant.understand.disputes import disputes
from memory.log.flow_log import set_feedback
from memory.people import about_self, facts
from memory.people.grounding import plain

# 记得 without whoever is to do it rather gives an order: 以后记得先说结论.
_QUESTION = re.compile(
    r"[?\uff1f]|吗|什么|哪些|是不是|还记|(?:[你您还都]|是否)\s*记得|记得(?=不|没|么|来着|$)"
)
# Said without a particle it asks, too, unless it tells what is to be kept: 我星期几下午在门诊来着.
_INTERROGATIVE = re.compile(r"来着|几[点号]|[周期]几|多少|谁|哪|啥|何时|怎么|咋")
_TELLS = re.compile(
    r"^(?:请|麻烦|帮我|你|您|[,\s])*(?:记|别忘|以后|今后|往后|下次|每次|从现在|从今)|不管|无论|不论|哪怕|几乎|多少都|谁都|哪.都"
)
# A tag behind a statement asks for no more than a nod ...
_NOD = re.compile(
    r"(?P<rest>.*?)(?P<apart>[,\uff0c。;\uff1b!\uff01\s]*)(?:这样)?[你您]?(?:都)?"
    r"(?:(?P<kept>(?:记住|记下|记得|知道|明白|清楚|听懂)了)(?:吗|么|没有?)?|(?:记住|记下|记得|知道|明白|清楚)(?:吗|么|没有?)"
    r"|(?:好|可以|行|成|OK)(?:吗|么|嘛|不)|好不好|行不行|可不可以|可否)[?\uff1f。!\uff01~\s]*",
    re.IGNORECASE | re.DOTALL,
)
# ... unless it is asked whether something told before is known.
_BEFORE = re.compile(r"上[次回]|之前|以前|刚才|刚刚|说过|告诉过|[你您]还")
_ASKED = re.compile(r"几[点个天号次]|多少|怎[么样]|谁|哪|啥|何时|为何")
_STATES = re.compile(
    r"以后|今后|往后|下次|每次|从现在|从今|请|记住|别|不要|一律|默认"
    r"|我(?:就|只|不|都|最|更|也|现在|目前|主要)*(?:是|叫|看|要|想|喜欢|希望|习惯|负责|关注|需要|在(?!哪))"
)
# Words that only announce what is to be remembered: alone they are the fragment of a sentence.
_ANNOUNCES = re.compile(
    r"请|麻烦|帮我|帮忙|记住|记得|记着|记下|记一下|记录|别忘了?|以后|今后|往后|下次|每次|从现在起|从今天起"
    r"|都|要|也|就|你|您|我们?|本人|这[个条]|一下|的|了|吧|哦|啊|是|叫|负责|喜欢|希望|习惯|please|remember",
    re.IGNORECASE,
)
_LEAST = 2


def remember(turn: Turn, part: Part, limit: int) -> Outcome:
    """A question is answered from hot memory alone; a statement is kept or proposed; own memory obeys."""
    commanded = own_memory.handle(turn, part)
    if commanded is not None:
        return commanded
    said = _stated(part.text)
    if asks(said):
        return Outcome(recall.recall(turn, part, limit))
    if len(plain(_ANNOUNCES.sub("", said))) < _LEAST:
        return Outcome(_("What shall I remember? Please say it in one message."), guided=True)
    is_own = about_self.concerns_self(said)
    statement = str(turn.gate.text(turn.resolved(said)))

    def keep() -> str:
        kept = facts.remember(member=turn.member, statement=statement, about_self=is_own)
        return own_memory.noted(kept)

    return Outcome(finish=keep)


def told_of_us(turn: Turn, part: Part, limit: int) -> Outcome:
    """A question about what the reader told the assistant, by whatever name it was detected."""
    return Outcome(recall.recall(turn, part, limit))


def attention(turn: Turn, part: Part, limit: int) -> Outcome:
    """What is to be minded of a subject stands in hot memory; where it does not, the data are told."""
    if recall.speaks_of(turn, part):
        return Outcome(recall.recall(turn, part, limit))
    return undecided.overview(turn, part, part.record_ids, limit)


def asks(text: str) -> bool:
    """Whether a message about memory is a question: nothing is stated, nothing is kept."""
    told = _TELLS.search(text)
    return bool(_QUESTION.search(text) or (_INTERROGATIVE.search(text) and not told))


def _stated(text: str) -> str:
    """A statement without the tag that asks for a nod ("…, 好吗?"); every other text as it is."""
    found = _NOD.fullmatch(text.strip())
    rest = found["rest"] if found else ""
    if not found or any(asked.search(rest) for asked in (_BEFORE, _ASKED, _QUESTION)):
        return text
    told = _STATES.search(rest) or (found["kept"] and found["apart"])
    return rest if told else text


def feedback(turn: Turn, part: Part, limit: int) -> Outcome:
    """Store 👍/👎 on the last answer; a bare 👎 is asked for its reason once.

    Words that leave open which of both is meant are asked back and rate nothing.
    """
    said = judged(part.text)
    if said.value is None:
        return Outcome(_("Was my last answer good or bad? Please reply 👍 or 👎."), guided=True)
    other = study_data.other_readings(turn) if disputes(part.text) else ""
    return Outcome(finish=lambda: "\n".join(filter(None, [_rated(turn, said), other])))


def _rated(turn: Turn, said: Opinion) -> str:
    rated = set_feedback(
        project=turn.project,
        user_id=turn.member.identity,
        feedback=said.value,
        reason=said.reason,
    )
    if rated is None:
        return _("There is no answer of mine to rate yet.")
    if rated.wants_reason(said.value, said.reason):
        return _('Thank you. What was wrong? Reply "太长", "不准确" or "不清楚".')
    return _("Thank you for your feedback.")
