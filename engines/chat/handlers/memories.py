"""Remembering and feedback (decisions.md, "remember", "feedback")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from engines import render
from engines.chat.handlers import own_memory
from engines.chat.reply import Outcome
from engines.chat.turn import Turn
from engines.chat.wording import Draft, answer
from engines.intents import Part
from engines.tools import Fact, ToolResult
from memory import facts, hot
from memory.agent import clauses
from memory.agent.grounding import plain
from memory.flow_log import set_feedback

_QUESTION = re.compile(r"[?\uff1f]|吗|记得|什么|哪些|是不是|还记")
_SELF = re.compile(r"我|以后|今后|下次|汇报|回复|回答|提到|称呼|别再|不要再|直接说|只看|只说")
_OTHER = re.compile(
    r"主任|教授|[\u4e00-\u9fff]PI|PI(?!喜欢)|医生|护士|老师|同事|他们|她|他|项目|研究|方案|入组|标准|受试者|患者|换成|改为|出差|开会"
)
# Words that only announce what is to be remembered: alone they are the fragment of a sentence.
_ANNOUNCES = re.compile(
    r"请|麻烦|帮我|帮忙|记住|记得|记着|记下|记一下|记录|别忘了?|以后|今后|往后|下次|每次|从现在起|从今天起"
    r"|都|要|也|就|你|您|我们?|本人|这[个条]|一下|的|了|吧|哦|啊|是|叫|负责|喜欢|希望|习惯|please|remember",
    re.IGNORECASE,
)
_LEAST = 2
_INTRODUCES = re.compile(
    r"(?:^|[,\uff0c:\uff1a。\s])(?:我|本人)(?:的名字)?(?:叫|是(?![说想觉])|(?:现在|目前|主要|也)*负责)"
)
_CHANGES = re.compile(r"换成|改[为成到]|取消|出差|开会")
_UP = re.compile(r"👍|不错|很好|挺好|准确|有用|谢谢|赞|棒|满意|清楚了")
_DOWN = re.compile(r"👎|不对|错|不准|太长|啰嗦|太多|冗长|不清楚|看不懂|没看懂|不满意|没用|不好|差")
_REASONS = (
    ("too_long", re.compile(r"太长|啰嗦|冗长|太多|简短")),
    ("inaccurate", re.compile(r"不对|错|不准|有误")),
    ("unclear", re.compile(r"不清楚|看不懂|没看懂|不明白|含糊")),
)


def remember(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """A question is answered from hot memory alone; a statement is kept or proposed; own memory obeys."""
    commanded = own_memory.handle(turn, part)
    if commanded is not None:
        return commanded
    if _QUESTION.search(part.text):
        return Outcome(_recall(turn, part, limit))
    if len(plain(_ANNOUNCES.sub("", part.text))) < _LEAST:
        return Outcome(_("What shall I remember? Please say it in one message."), guided=True)
    about_self = _is_about_self(part.text)
    statement = str(turn.gate.text(turn.resolved(part.text)))

    def keep() -> str:
        kept = facts.remember(member=turn.member, statement=statement, about_self=about_self)
        if kept.category != facts.PROPOSAL:
            return _("Noted. It holds from your next message on.")
        return _(
            "Noted as a proposal; the study administrator decides whether it enters the study's memory."
        )

    return Outcome(finish=keep)


def _is_about_self(text: str) -> bool:
    """Whether a statement is the speaker's own: it names nobody else and nothing of the study.

    Who introduces themselves may name what they do there ("我负责 A 中心的入组").
    """
    if _INTRODUCES.search(text) and not _CHANGES.search(text):
        return all(clause.who == "self" for clause in clauses.split(clauses.folded(text)))
    return bool(_SELF.search(text)) and not _OTHER.search(text)


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
    """Store 👍/👎 on the last answer; a bare 👎 is asked for its reason once."""
    reason = next((name for name, regex in _REASONS if regex.search(part.text)), None)
    up = bool(_UP.search(part.text)) and not _DOWN.search(part.text)
    value = "thumbs_up" if up else "thumbs_down"

    def store() -> str:
        known = set_feedback(
            project=turn.project,
            user_id=turn.member.identity,
            feedback=value,
            reason=None if up else reason,
        )
        if not known:
            return _("There is no answer of mine to rate yet.")
        if not up and reason is None:
            return _('Thank you. What was wrong? Reply "太长", "不准确" or "不清楚".')
        return _("Thank you for your feedback.")

    return Outcome(finish=store)
