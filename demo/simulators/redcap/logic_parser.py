"""filterLogic text -> tree (reference/redcap_dify.md 1.14). A single `=` is equality."""

from __future__ import annotations

import re
from dataclasses import dataclass

from demo.simulators.redcap.errors import BAD_LOGIC, ApiError

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<comment>(?:\#|//)[^\n]*)
    | (?P<text>'[^']*'|"[^"]*")
    | (?P<field>\[[^\[\]]+\])
    | (?P<number>\d+(?:\.\d+)?|\.\d+)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark><>|!=|<=|>=|[=<>()+\-*/^,])
    )""",
    re.VERBOSE,
)
FUNCTIONS = ("datediff", "if", "round", "sum", "abs", "contains", "isblankormissingcode")
_LEVELS = (("or",), ("and",), ("=", "<>", "!=", "<", ">", "<=", ">="), ("+", "-"), ("*", "/"))
_COMPARISON = 2


@dataclass(frozen=True)
class Node:
    """`kind` literal, field, not, minus, call or an operator; `value` its name or constant."""

    kind: str
    value: str | float | bool = ""
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True)
class FieldRef:
    """`[event][field(code)]`."""

    event: str
    name: str
    code: str


def syntax_error() -> ApiError:
    """400 for logic REDCap cannot read."""
    return ApiError(400, BAD_LOGIC)


def parse(text: str) -> Node:
    """The tree of a logic expression. Raises ApiError 400 on wrong syntax."""
    parser = _Parser(_tokens(text))
    tree = parser.binary(0)
    if parser.peek() is not None:
        raise syntax_error()
    return tree


def field_ref(text: str) -> FieldRef:
    """`event][race(3)` -> its parts. Raises ApiError 400."""
    match = re.fullmatch(r"(?:(\w+)\]\[)?(\w+)(?:\(([^()]+)\))?", text)
    if match is None:
        raise syntax_error()
    return FieldRef(match[1] or "", match[2], match[3] or "")


def _tokens(text: str) -> list[tuple[str, str]]:
    found, position = [], 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None or match.lastgroup is None:
            raise syntax_error()
        if match.lastgroup != "comment":
            found.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    def peek(self) -> tuple[str, str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._power()
        if level == _COMPARISON and self._accept(("not",)):
            return Node("not", parts=(self.binary(level),))
        left = self.binary(level + 1)
        while operator := self._accept(_LEVELS[level]):
            left = Node(operator, parts=(left, self.binary(level + 1)))
        return left

    def _power(self) -> Node:
        left = self._unary()
        while self._accept(("^",)):
            left = Node("^", parts=(left, self._unary()))
        return left

    def _unary(self) -> Node:
        if self._accept(("-",)):
            return Node("minus", parts=(self._unary(),))
        return self._primary()

    def _primary(self) -> Node:
        kind, text = self._next()
        if kind == "text":
            return Node("literal", text[1:-1])
        if kind == "number":
            return Node("literal", float(text))
        if kind == "field":
            return self._field(text[1:-1])
        if kind == "word":
            return self._word(text.lower())
        if text != "(":
            raise syntax_error()
        inner = self.binary(0)
        self._expect(")")
        return inner

    def _field(self, text: str) -> Node:
        following = self.peek()
        if following is not None and following[0] == "field" and "(" not in text:
            self._at += 1
            text = f"{text}][{following[1][1:-1]}"
        return Node("field", text)

    def _word(self, name: str) -> Node:
        if name in ("true", "false"):
            return Node("literal", name == "true")
        if name not in FUNCTIONS:
            raise syntax_error()
        self._expect("(")
        arguments = [self.binary(0)]
        while self._accept((",",)):
            arguments.append(self.binary(0))
        self._expect(")")
        return Node("call", name, tuple(arguments))

    def _next(self) -> tuple[str, str]:
        token = self.peek()
        if token is None:
            raise syntax_error()
        self._at += 1
        return token

    def _accept(self, marks: tuple[str, ...]) -> str:
        token = self.peek()
        if token is None or token[0] not in ("mark", "word") or token[1].lower() not in marks:
            return ""
        self._at += 1
        return token[1].lower()

    def _expect(self, mark: str) -> None:
        if not self._accept((mark,)):
            raise syntax_error()
