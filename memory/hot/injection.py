"""Hot memory: what is in every prompt (seed 000, 2; decisions.md, "what is injected over 2000 tokens")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.integrations import tokens
from memory.hot.text import Kind, Line, lines
from memory.models import ProjectMemory, UserMemory
from memory.people import facts, length
from memory.visibility import Scope, scope_of
from projects.models import Member, Project

LIMIT = 2000
_FIRST_TO_GO = {Kind.FAQ: 0, Kind.CURRENT: 1}


@dataclass(frozen=True)
class Injection:
    """What goes into a prompt, and what was left out with the reason (console and trace show it)."""

    text: str
    left_out: tuple[dict[str, str], ...]


def hot_text(project: Project) -> str:
    """The text as people see it; "" where there is none. Never cached: a deleted line is gone at once."""
    stored = ProjectMemory.objects.filter(project=project).only("content").first()
    return stored.content if stored else ""


def inject(
    project: Project,
    member: Member,
    *,
    content: str | None = None,
    scope: Scope | None = None,
    said: Sequence[UserMemory] | None = None,
) -> Injection:
    """Hot memory for one reader: no line about a hidden record, never more than 2000 tokens.

    Nor a line of the reader's profile for which they gave another value themselves.

    Over the limit FAQ goes first, then the oldest 当前状态 lines, then other people's profiles and the
    rest; 系统禁令 and the reader's own profile never. `content`, `scope`, `said` (`facts.holding`): read by
    this request already.
    """
    scope = scope or scope_of(member)
    given = _parsed(hot_text(project) if content is None else content)
    seen = scope.seen([line.text for line in given])
    shown = [line for line, is_seen in zip(given, seen, strict=True) if is_seen]
    # The reason is kept, the text is not: the trace is read by people of every site.
    left_out = [{"line": "", "why": "scope"}] * (len(given) - len(shown))
    reader = member.identity.casefold()
    own = [line for line in shown if line.profile == reader and line.kind is not Kind.RULES]
    old: list[Line] = []
    if any(facts.single(line.text) for line in own):
        rows = facts.holding(member, scope=scope) if said is None else said
        old = [line for line in own if facts.is_outdated(line.text, rows)]
    left_out += [{"line": line.text, "why": "outdated"} for line in shown if line in old]
    kept, cut = _fit([line for line in shown if line not in old], reader)
    return Injection("\n".join(line.text for line in kept).strip(), (*left_out, *cut))


@lru_cache(maxsize=16)
def _parsed(content: str) -> tuple[Line, ...]:
    """By the text itself: an edited memory is another text."""
    return tuple(lines(content))


def _fit(given: list[Line], reader: str) -> tuple[list[Line], list[dict[str, str]]]:
    """The lines that fit, and those that do not."""
    if tokens.count("\n".join(line.text for line in given)) <= LIMIT:
        return given, []
    costs = [tokens.count(line.text) + 1 for line in given]
    over = sum(costs) - LIMIT
    dropped: set[int] = set()
    for index in _order(given, reader):
        if over <= 0:
            break
        dropped.add(index)
        over -= costs[index]
    dropped |= _bare(given, dropped)
    kept = [line for index, line in enumerate(given) if index not in dropped]
    return kept, [{"line": given[index].text, "why": "size"} for index in sorted(dropped)]


def _order(given: list[Line], reader: str) -> list[int]:
    """Indexes of the lines that may go, first to go first; the oldest line stands on top.

    Headings go last: without its heading one person's line would read as another's.
    """
    last = len(_FIRST_TO_GO)
    ranks = {
        index: _FIRST_TO_GO.get(line.kind, last) if line.is_content else last + 1
        for index, line in enumerate(given)
        if line.text.strip()
        and line.kind is not Kind.RULES
        and not (line.profile and line.profile == reader)
    }
    return sorted(ranks, key=lambda index: (ranks[index], index))


def _bare(given: list[Line], dropped: set[int]) -> set[int]:
    """The headings of sections and profiles of which every line was dropped."""
    content = {at: (line.section, line.profile) for at, line in enumerate(given) if line.is_content}
    left = {place for at, place in content.items() if at not in dropped}
    named = {section for section, _profile in left}
    return {
        at
        for at, line in enumerate(given)
        if line.text.startswith("#")
        and (line.section, line.profile) in {*content.values()} - left
        and (line.profile or line.section not in named)
    }


def profile_of(content: str, userid: str) -> list[str]:
    """The reader's own profile lines."""
    return [line.text for line in _parsed(content) if line.profile == userid.casefold()]


def length_ban(content: str, userid: str, said: str) -> int | None:
    """Characters a reply may have by the newest word of the reader, else by their profile.

    `said`: what they said of themselves (`facts.own`).
    """
    return length.newest_limit(_newest_first(content, userid, said))


def wants_short(content: str, userid: str, said: str) -> bool:
    """Whether the reader's newest word on length is short, such as "简洁"; `said` as for `length_ban`."""
    wishes = map(length.wants_short, _newest_first(content, userid, said))
    return next((wish for wish in wishes if wish is not None), False)


def _newest_first(content: str, userid: str, said: str) -> list[str]:
    """The reader's own lines, then those of their profile, which are written below each other."""
    return [*said.split("\n"), *reversed(profile_of(content, userid))]
