"""What the assistant keeps about the reader: shown, forgotten, asked back (issue 4). No model is needed."""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engines import render
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import LIMIT, Turn
from engines.assistant.intents import Detection, Part
from memory.hot import injection, superseded
from memory.models import MemoryQuestion, UserMemory
from memory.people import (
    clauses,
    commands,
    fact_store,
    forget_match,
    forgotten,
    questions,
)
from memory.people.commands import Forget, Show

_LISTED = 20
_ROOM = 900
# One long statement hides no other.
_LONGEST = 120
_SHARE = 3


def settle(turn: Turn) -> Detection:
    """The detection; a message that is nothing but such a command, or answers our question, is its own task."""
    found = turn.detection
    command = commands.parse(turn.text)
    turn.answered = None if command else questions.answered(turn.member, turn.text)
    if not (command or turn.answered):
        return found
    if isinstance(command, Forget) and len(found.parts) > 1:
        return found
    own = Part(turn.text, "remember", 1.0, [])
    return replace(found, intents=["remember"], parts=[own], confidence=1.0, sure=True)


def handle(turn: Turn, part: Part) -> Outcome | None:
    """The outcome of a command to one's own memory, or of an answer to our question; None for all else."""
    command = commands.parse(part.text)
    if isinstance(command, Show):
        return Outcome(_shown(turn))
    if isinstance(command, Forget):
        what = command.what
        return Outcome(finish=lambda: _forget(turn, what))
    answered = turn.answered
    return Outcome(finish=lambda: _kept(turn, *answered)) if answered else None


def _shown(turn: Turn) -> str:
    """The reader's own memories, most important first, then their profile in hot memory."""
    current = fact_store.rows(turn.member).filter(superseded_by=None)
    rows = superseded.holding([row for row in current if turn.scope.allows(row.content)])
    lines = [_line(row) for row in rows]
    profile = injection.profile_of(turn.hot.text, turn.member.identity)
    kept = [line.strip("-# ").replace("*", "") for line in profile if line.strip().startswith("-")]
    lines += [line for line in kept if not any(_repeats(line, row) for row in rows)]
    if not lines:
        return _("I keep nothing about you.")
    # A ban on length in the reader's profile wins here, too.
    return _fitting(lines, turn.limit if turn.limit < LIMIT else _ROOM)


def _repeats(line: str, row: UserMemory) -> bool:
    return row.content in line


def _line(row: UserMemory) -> str:
    content = clauses.untold(row.content)
    if row.category == fact_store.PROPOSAL:
        return _("%(content)s (a proposal, not decided yet)") % {"content": content}
    return content


def _fitting(lines: list[str], room: int) -> str:
    head = _("This is what I keep about you:")
    shown: list[str] = []
    for number, line in enumerate(lines[:_LISTED], 1):
        row = f"{number}. {render.cut(line, min(_LONGEST, room // _SHARE))}"
        if len("\n".join([head, *shown, row])) > room - 20:
            break
        shown.append(row)
    left = len(lines) - len(shown)
    more = ngettext(
        "… and %(count)d more in the console", "… and %(count)d more in the console", left
    ) % {"count": left}
    return "\n".join([head, *shown, *([more] if left else [])])


def _forget(turn: Turn, what: str) -> str:
    """The reply does not repeat what is gone."""
    member, project = turn.member, turn.project
    fact_store.claim(project.pk, member.identity)
    wish = forget_match.read(what)
    picks = forget_match.matching(member, wish)
    lines = forget_match.lines(member, wish, injection.read(project))
    forgotten.erase(
        project=project,
        user_id=member.identity,
        picks=picks,
        fields=forget_match.asked(member, wish),
        actor=member,
    )
    if not picks and not lines:
        return _("I keep nothing of that kind about you.")
    forgotten.erase_lines(project=project, user_id=member.identity, lines=lines, actor=member)
    told = [pick.row for pick in picks if pick.row.superseded_by_id is None]
    shown = len(told) + sum(not any(_repeats(line, row) for row in told) for line in lines)
    return ngettext("Forgotten: %(count)d memory.", "Forgotten: %(count)d memories.", shown) % {
        "count": shown
    }


def _kept(turn: Turn, question: MemoryQuestion, detail: fact_store.Detail) -> str:
    return noted(questions.settle(turn.member, question, detail))


def noted(kept: UserMemory) -> str:
    """What the reader is told of something that was just kept, or only proposed."""
    if kept.category != fact_store.PROPOSAL:
        return _("Noted. It holds from your next message on.")
    return _(
        "Noted as a proposal; the study administrator decides whether it enters the study's memory."
    )
