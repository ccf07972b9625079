"""What the assistant keeps about the reader and the study: kept, shown, forgotten, taken back; 👍 and 👎."""

from __future__ import annotations

import re
from datetime import time

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.language import clock_times
from engines import render
from engines.assistant.chat import recall
from engines.assistant.chat.handlers import talk
from engines.assistant.chat.rating import DOWN, UP, record_feedback
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import LIMIT, Turn
from engines.assistant.read import orders
from engines.assistant.read.grammar import split
from engines.assistant.read.talk import SHOW
from engines.assistant.read.task import Order, OrderKind, Reading, Task, TaskKind
from memory.hot import injection
from memory.models import UserMemory
from memory.people import (
    commands,
    fact_store,
    facts,
    forgotten,
    own_settings,
    questions,
    screen,
)
from memory.people.commands import Forget, Show
from memory.people.own_settings import FIELD, best_time
from memory.people.quotes import letters_of

# A tag behind a statement asks for no more than a nod.
_NOD = re.compile(
    r"[,\uff0c。;\uff1b!\uff01\s]*(?:这样)?[你您]?(?:都)?"
    r"(?:(?:记住|记下|记得|知道|明白|清楚|听懂)了?(?:吗|么|没有?)|(?:好|可以|行|成|OK)(?:吗|么|嘛|不)|好不好|行不行)"
    r"[?\uff1f。!\uff01~\s]*$",
    re.IGNORECASE,
)
# Words that only announce what is to be remembered: alone they are the fragment of a sentence.
_ANNOUNCES = re.compile(
    r"请|麻烦|帮我|帮忙|记住|记得|记着|记下|记一下|记录|别忘了?|以后|今后|往后|下次|每次|从现在起|从今天起"
    r"|都|要|也|就|你|您|我们?|本人|这[个条]|一下|的|了|吧|哦|啊|是|叫|负责|喜欢|希望|习惯|please|remember",
    re.IGNORECASE,
)
_LEAST = 2
_LISTED, _ROOM = 20, 900
# One long statement hides no other.
_LONGEST, _SHARE = 120, 3
UNDO = frozenset({"撤回", "撤销", "undo"})


def settle_command(turn: Turn) -> Reading | None:
    """The task of a message that is nothing but a command to one's own memory, or answers our question."""
    if turn.text.strip(" 。.!！").casefold() in UNDO:
        kind = OrderKind.UNDO
    elif command := commands.parse_command(turn.text):
        clauses = split(turn.asked)
        if isinstance(command, Show):
            # Where it is asked for behind the first clause alone, that one wants something else.
            if commands.asks_all(",".join(clauses[1:])):
                return None
            return Reading((Task(TaskKind.MEMORY, turn.text, topic=SHOW),), turn.state)
        if len(clauses) > 1:
            return None
        kind = OrderKind.FORGET
    else:
        turn.answered = questions.answered(turn.member, turn.text)
        kind = OrderKind.REMEMBER
        if not turn.answered:
            return None
    return Reading((Task(TaskKind.ORDER, turn.text, order=Order(kind)),), turn.state)


def answer_memory(turn: Turn, task: Task, limit: int) -> Outcome:
    """What is remembered of the matter asked about; all that is kept of the reader where they ask for that."""
    return Outcome(_all_kept(turn) if task.topic == SHOW else recall.recall(turn, task, limit))


def obey(turn: Turn, task: Task) -> Outcome:
    """Keep, forget, take back what was kept last, or rate the last answer."""
    kind = task.order.kind if task.order else OrderKind.REMEMBER
    if kind is OrderKind.FEEDBACK:
        return _rate(turn, task)
    if kind is OrderKind.UNDO:
        return Outcome(finish=lambda: _take_back(turn))
    if kind is OrderKind.FORGET:
        command = commands.parse_command(task.said)
        what = command.what if isinstance(command, Forget) else task.said
        return Outcome(finish=lambda: _forget(turn, what))
    return _remember(turn, task)


def _remember(turn: Turn, task: Task) -> Outcome:
    """A statement is kept or proposed; the notification time is a setting and is changed."""
    if answered := turn.answered:
        return Outcome(finish=lambda: _noted(questions.settle_question(turn.member, *answered)))
    said = _NOD.sub("", task.said) or task.said
    if clock := commands.notice_time(said):
        return _set_notice_time(turn, clock, str(turn.gate.text(said)))
    if commands.asks_reminder(said):
        return talk.refuse_reminder()
    if len(letters_of(_ANNOUNCES.sub("", said))) < _LEAST:
        turn.not_understood(())
        told = _("What shall I remember? Please say it in one message.")
        return Outcome(told, guided=True, asks=True)
    is_own = screen.concerns_self(said)
    statement = str(turn.gate.text(turn.resolved(said)))

    def keep() -> str:
        try:
            row = facts.remember(member=turn.member, statement=statement, about_self=is_own)
        except facts.NotProposed as error:
            return str(error)
        told = _noted(row)
        if not row.is_proposal:
            turn.undo = str(row.pk)
            if wanted := facts.length_limit(row.content):
                old = turn.limit if turn.is_bounded else _("not set")
                changed = _(" Most characters of a reply: %(old)s → %(new)s.")
                told += changed % {"old": old, "new": min(wanted, LIMIT)}
            told += _(' Reply "撤回" to take it back.')
        if commands.may_set_notice_time(said):
            order = f"通知时间改为 {clock_times.exact(said):%H:%M}"
            unchanged = _('Your notification time is unchanged. To change it, reply: "%(order)s"')
            told += "\n" + unchanged % {"order": order}
        return told

    return Outcome(finish=keep)


def _set_notice_time(turn: Turn, clock: time, said: str) -> Outcome:
    """Change the reader's notification time, and say what it was."""

    def change() -> str:
        changed = own_settings.set_notice_time(turn.member, clock, said)
        if changed.row.is_proposal:
            return _noted(changed.row)
        turn.undo = str(changed.row.pk)
        told = _('Your notification time: %(old)s → %(new)s. Reply "撤回" to take it back.')
        return told % {"old": _clock_said(changed.old), "new": _clock_said(changed.new)}

    return Outcome(finish=change)


def _clock_said(clock: time | None) -> str:
    return f"{clock:%H:%M}" if clock else str(_("not set"))


def _noted(kept: UserMemory) -> str:
    """What the reader is told of something that was just kept, or only proposed."""
    if not kept.is_proposal:
        return _("Noted. It holds from your next message on.")
    return _(
        "Noted as a proposal; the study administrator decides whether it enters the study's memory."
    )


def _take_back(turn: Turn) -> str:
    row = own_settings.take_back(turn.member, turn.session.undo) if turn.session.undo else None
    turn.undo = "" if turn.session.undo else turn.undo
    if row is None:
        return _("There is nothing to take back.")
    if row.field != FIELD:
        return _("Taken back: it is not kept.")
    told = _("Taken back. Your notification time is: %(time)s")
    return told % {"time": _clock_said(best_time(turn.member))}


def _forget(turn: Turn, what: str) -> str:
    """The reply does not repeat what is gone."""
    member, project = turn.member, turn.project
    fact_store.claim(project.pk, member.identity)
    wish = forgotten.wish_of(what)
    picks = forgotten.matching(member, wish)
    lines = forgotten.own_lines(member, wish, injection.hot_text(project))
    forgotten.erase(
        project=project,
        user_id=member.identity,
        picks=picks,
        fields=forgotten.asked_fields(member, wish),
        actor=member,
    )
    if not picks and not lines:
        return _("I keep nothing of that kind about you.")
    forgotten.erase_lines(project=project, user_id=member.identity, lines=lines, actor=member)
    told = [pick.row.content for pick in picks if pick.row.superseded_by_id is None]
    shown = len(told) + sum(not any(one in line for one in told) for line in lines)
    return ngettext("Forgotten: %(count)d memory.", "Forgotten: %(count)d memories.", shown) % {
        "count": shown
    }


def _all_kept(turn: Turn) -> str:
    """The reader's own memories, most important first, then their profile in hot memory."""
    current = fact_store.rows_of(turn.member).filter(superseded_by=None)
    rows = facts.not_overruled([row for row in current if turn.scope.allows(row.content)])
    proposal = _("%(content)s (a proposal, not decided yet)")
    lines = [
        proposal % {"content": said} if row.is_proposal else said
        for row in rows
        for said in [commands.untold(row.content)]
    ]
    profile = injection.profile_of(turn.hot.text, turn.member.identity)
    kept = [line.strip("-# ").replace("*", "") for line in profile if line.strip().startswith("-")]
    lines += [line for line in kept if not any(row.content in line for row in rows)]
    if not lines:
        return _("I keep nothing about you.")
    # A ban on length in the reader's profile wins here, too.
    room = turn.limit if turn.limit < LIMIT else _ROOM
    shown = [_("This is what I keep about you:")]
    for number, line in enumerate(lines[:_LISTED], 1):
        row = f"{number}. {render.cut(line, min(_LONGEST, room // _SHARE))}"
        if len("\n".join([*shown, row])) > room - 20:
            break
        shown.append(row)
    left = len(lines) - len(shown) + 1
    more = ngettext(
        "… and %(count)d more in the console", "… and %(count)d more in the console", left
    ) % {"count": left}
    return "\n".join([*shown, *([more] if left else [])])


def _rate(turn: Turn, task: Task) -> Outcome:
    """Store 👍/👎 on the last answer; a bare 👎 is asked for its reason once.

    Words that leave open which of both is meant are asked back and rate nothing.
    """
    is_praise, reason = orders.opinion(task.said)
    if is_praise is None:
        turn.not_understood(())
        told = _("Was my last answer good or bad? Please reply 👍 or 👎.")
        return Outcome(told, guided=True, asks=True)
    value = UP if is_praise else DOWN

    def rate() -> str:
        rated = record_feedback(member=turn.member, feedback=value, reason=reason)
        if rated is None:
            return _("There is no answer of mine to rate yet.")
        if rated.wants_reason(value, reason):
            return _('Thank you. What was wrong? Reply "太长", "不准确" or "不清楚".')
        return _("Thank you for your feedback.")

    return Outcome(finish=rate)
