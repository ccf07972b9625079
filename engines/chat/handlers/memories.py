"""Remembering and feedback (decisions.md, "remember", "feedback")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from engines import render
from engines.chat.handlers import own_memory
from engines.chat.opinions import Opinion, judged
from engines.chat.reply import Outcome
from engines.chat.turn import Turn
from engines.chat.wording import Draft, answer
from engines.intents import Part
from engines.tools import Fact, ToolResult
from memory import facts, hot
from memory.agent import own
from memory.agent.grounding import plain
from memory.flow_log import set_feedback

_QUESTION = re.compile(r"[?\uff1f]|吗|记得|什么|哪些|是不是|还记")
# Words that only announce what is to be remembered: alone they are the fragment of a sentence.
_ANNOUNCES = re.compile(
    r"请|麻烦|帮我|帮忙|记住|记得|记着|记下|记一下|记录|别忘了?|以后|今后|往后|下次|每次|从现在起|从今天起"
    r"|都|要|也|就|你|您|我们?|本人|这[个条]|一下|的|了|吧|哦|啊|是|叫|负责|喜欢|希望|习惯|please|remember",
    re.IGNORECASE,
)
_LEAST = 2


def remember(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """A question is answered from hot memory alone; a statement is kept or proposed; own memory obeys."""
    commanded = own_memory.handle(turn, part)
    if commanded is not None:
        return commanded
    if _QUESTION.search(part.text):
        return Outcome(_recall(turn, part, limit))
    if len(plain(_ANNOUNCES.sub("", part.text))) < _LEAST:
        return Outcome(_("What shall I remember? Please say it in one message."), guided=True)
    about_self = own.concerns_self(part.text)
    statement = str(turn.gate.text(turn.resolved(part.text)))

    def keep() -> str:
        kept = facts.remember(member=turn.member, statement=statement, about_self=about_self)
        return own_memory.noted(kept)

    return Outcome(finish=keep)


def _recall(turn: Turn, part: Part, limit: int) -> str:
    own = [*hot.profile_of(turn.hot.text, turn.member.wecom_userid), *turn.facts.split("\n")]
    lines = [line.strip("-# *") for line in own if line.strip().startswith("-")]
    lines = [line.replace("*", "") for line in lines]
    nothing = _("I have nothing noted about it.")
    fallback = render.fit(render.ranked(lines, part.text), limit) if lines else nothing
    needed = [Fact("", "profile", (), line) for line in render.ranked(lines, part.text)[:2]]
    needed = [Fact("", "profile", (), clause) for f in needed for clause in _clauses(f.value)]
    return answer(turn, Draft(part, fallback=fallback, limit=limit, needed=needed))


def _clauses(line: str) -> list[str]:
    """`偏好: 简洁汇报,只看结论` → its pieces: an answer repeats at least one of them."""
    _key, _colon, value = line.replace("\uff1a", ":").partition(":")
    return [
        piece.strip() for piece in re.split(r"[,\uff0c、;\uff1b]", value or line) if piece.strip()
    ]


def feedback(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """Store 👍/👎 on the last answer; a bare 👎 is asked for its reason once.

    Words that leave open which of both is meant are asked back and rate nothing.
    """
    said = judged(part.text)
    if said.value is None:
        return Outcome(_("Was my last answer good or bad? Please reply 👍 or 👎."), guided=True)
    return Outcome(finish=lambda: _rated(turn, said))


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
