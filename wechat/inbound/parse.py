"""The decrypted callback as a small value (wecom.md 1.9). Pure: no Django, no network."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

MAX_QUESTIONS = 10
USERID_CHARS = 64
EVERYBODY = "@all"
_LETTERS = re.compile(r"[^a-z]")
_ADDRESSES = ("tousername", "corpid", "receiveid", "suiteid", "agentid", "aibotid")


class BadCallback(ValueError):
    """XML that is no callback of WeCom."""


@dataclass(frozen=True)
class Vote:
    """A vote under an answer of the smart bot: kind 1 good, 2 bad, 3 withdrawn; reasons 1 to 4 (wecom.md 5)."""

    feedback_id: str
    kind: int
    reasons: tuple[int, ...] = ()


@dataclass(frozen=True)
class Incoming:
    """A message or an event; a blank is an element that was not there. `created`: seconds since 1970.

    `addressees`: what every field says whom it is for, wherever it stands, as (name in small letters, value).
    `chat_id`: of the group it was said in. `beside`: the kinds of what came with the words and is no text.
    """

    to_user: str
    from_user: str
    created: int
    msg_type: str
    msg_id: str = ""
    agent_id: str = ""
    content: str = ""
    event: str = ""
    event_key: str = ""
    task_id: str = ""
    card_type: str = ""
    response_code: str = ""
    selected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    response_url: str = ""
    stream_id: str = ""
    is_group: bool = False
    chat_id: str = ""
    beside: tuple[str, ...] = ()
    vote: Vote | None = None
    addressees: frozenset[tuple[str, str]] = frozenset()

    @property
    def is_event(self) -> bool:
        """Whether nobody typed or sent anything."""
        return self.msg_type == "event"

    @property
    def dedup_key(self) -> str:
        """Equal for repeated deliveries only: MsgId alone collides, events have none (wecom.md 0.1, 4)."""
        who = self.from_user.lower()
        if self.msg_id:
            return _hash("message", self.msg_id, who, self.created)
        if self.is_event:
            what = (self.event, self.event_key, self.task_id, self.response_code, self.agent_id)
            return _hash("event", who, self.created, *what)
        return _hash("other", who, self.created, self.msg_type, self.content)


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def read_xml(raw: bytes | str) -> Element:
    """The root element; a DOCTYPE, an entity or broken XML raises BadCallback."""
    try:
        root: Element = fromstring(raw, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise BadCallback(type(error).__name__) from error
    return root


def envelope(raw: bytes) -> str:
    """The one <Encrypt> of a POST body. Raises BadCallback."""
    found = read_xml(raw).findall("Encrypt")
    text = (found[0].text or "").strip() if len(found) == 1 else ""
    if not text:
        raise BadCallback("exactly one Encrypt is expected")
    return text


def parse_xml(raw: str) -> Incoming:
    """The callback's plaintext as a value. Raises BadCallback where sender, kind or time is missing."""
    root = read_xml(raw)
    if root.tag != "xml":
        raise BadCallback("the root is not xml")
    return checked(
        Incoming(
            to_user=_text(root, "ToUserName"),
            from_user=_text(root, "FromUserName"),
            created=_seconds(_text(root, "CreateTime")),
            msg_type=_text(root, "MsgType").lower(),
            msg_id=_text(root, "MsgId"),
            agent_id=_text(root, "AgentID") or _text(root, "AgentId"),
            content=_content(root),
            event=_text(root, "Event").lower(),
            event_key=_text(root, "EventKey"),
            task_id=_text(root, "TaskId"),
            card_type=_text(root, "CardType"),
            response_code=_text(root, "ResponseCode"),
            selected=_selected(root),
            addressees=frozenset(_addressees(root)),
        )
    )


def is_for_all(
    incoming: Incoming, corp: str, agents: Collection[str], bots: Collection[str]
) -> bool:
    """Whether no field names another corp, app or bot; there may be several, and each is one too many."""
    known = {"agentid": agents, "aibotid": bots}
    return all(value in known.get(name, (corp,)) for name, value in incoming.addressees)


def addressee(name: str, value: object) -> tuple[str, str] | None:
    """What a field says whom it is for; None for any other field. Names are WeCom's, in any spelling."""
    plain = _LETTERS.sub("", name.casefold())
    found = next((one for one in _ADDRESSES if plain.endswith(one)), None)
    return (found, str(value or "").strip()) if found else None


def _addressees(root: Element) -> Iterator[tuple[str, str]]:
    for element in root.iter():
        fields = [(str(element.tag), element.text), *element.attrib.items()]
        yield from filter(None, (addressee(name, value) for name, value in fields))


def checked(incoming: Incoming) -> Incoming:
    """What says who did what. Raises BadCallback for anything else."""
    if not _is_userid(incoming.from_user) or not incoming.msg_type:
        raise BadCallback("sender or kind is missing")
    if incoming.is_event and not incoming.event:
        raise BadCallback("an event without a name")
    return incoming


def _is_userid(text: str) -> bool:
    """Whether it is one person and fits its column: in lower case a few letters become two.

    message/send takes `a|b` for two people and `@all` for everybody (wecom.md 3.2): a reply would reach
    them all.
    """
    userid = text.lower()
    return 0 < len(userid) <= USERID_CHARS and "|" not in userid and userid != EVERYBODY


def _text(root: Element, name: str) -> str:
    return (root.findtext(name) or "").strip()


def _content(root: Element) -> str:
    """What was typed, or the words WeCom recognised in a voice message."""
    return root.findtext("Content") or root.findtext("Recognition") or ""


def _seconds(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise BadCallback("CreateTime is no number of seconds")
    return int(text)


def _selected(root: Element) -> dict[str, tuple[str, ...]]:
    """{question: options}; the first answer to a question counts, a flood is cut (A7)."""
    found: dict[str, tuple[str, ...]] = {}
    for item in root.findall("SelectedItems/SelectedItem")[:MAX_QUESTIONS]:
        options = (option.text or "" for option in item.findall("OptionIds/OptionId"))
        chosen = tuple(option.strip() for option in options if option.strip())
        found.setdefault(_text(item, "QuestionKey"), chosen[:MAX_QUESTIONS])
    return found
