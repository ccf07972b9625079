"""From the text of a logic to something that can be evaluated; nothing in it is ever run as code."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from core.rules.limits import MAX_BYTES, MAX_DEPTH, RuleError
from core.rules.redcap import nodes
from core.rules.redcap.functions import FUNCTIONS
from core.rules.redcap.nodes import Node, Ref
from core.rules.text import translate as _

Token = tuple[str, str]
"""(kind, text); kind is field, text, number, operator or word."""

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<comment>(?:\#|//)[^\n]*)|(?P<field>\[[^\[\]]+\])|(?P<text>'[^']*'|"[^"]*")
      |(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)
      |(?P<operator><>|!=|!|<=|>=|==|=|<|>|&&|\|\||\+|-|\*|/|\^|\(|\)|,)|(?P<word>[A-Za-z_][A-Za-z_0-9]*)
    )""",
    re.VERBOSE,
)
_SAME = {"==": "=", "&&": "and", "||": "or", "!=": "<>"}


def tokens(text: str) -> list[Token]:
    """The tokens without comments, other spellings as the usual ones, words in lower case; RuleError."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = _("The logic is larger than %(max)d KiB.")
        raise RuleError(message % {"max": MAX_BYTES // 1024})
    found: list[Token] = []
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match or match.lastgroup is None:
            raise unexpected(text[position : position + 10].strip())
        kind, said = match.lastgroup, match[match.lastgroup]
        if kind == "word":
            said = said.lower()
        if kind == "operator" and said in _SAME:
            said = _SAME[said]
            kind = "word" if said in {"and", "or"} else kind
        if kind != "comment":
            found.append((kind, said))
        position = match.end()
    return found


def unexpected(text: str) -> RuleError:
    """The error about what should not stand there."""
    return RuleError(_("“%(text)s” is not expected there.") % {"text": text})


_COMPARISONS = frozenset({"=", "<>", "<", ">", "<=", ">="})
_DAYS = frozenset({"today", "now"})
_MAX_TERMS = 5000


@dataclass(frozen=True, slots=True)
class Logic:
    """A parsed logic: `node` evaluates it, `refs` are the references in their order, each once.

    `is_dated`: its result depends on the day of the evaluation.
    """

    node: Node
    refs: tuple[Ref, ...]
    is_dated: bool


@functools.lru_cache(maxsize=4096)
def parse_logic(text: str) -> Logic:
    """The logic of `text`; RuleError when it is outside of what is known."""
    parser = _Parser(tokens(text))
    node = parser.expression()
    if parser.peek() is not None:
        raise unexpected(parser.peek() or "")
    return Logic(node, tuple(parser.refs), parser.is_dated)


class _Parser:
    """Recursive descent: or < and < not < comparison < sum < product < power < primary."""

    def __init__(self, found: list[Token]) -> None:
        if len(found) > _MAX_TERMS:
            raise RuleError(_("The logic has more than %(max)d parts.") % {"max": _MAX_TERMS})
        self._tokens = found
        self._at = 0
        self._depth = 0
        self.refs: dict[Ref, None] = {}
        self.is_dated = False

    def peek(self) -> str | None:
        """The text of the next token."""
        return self._tokens[self._at][1] if self._at < len(self._tokens) else None

    def _next(self) -> Token:
        if self._at >= len(self._tokens):
            raise RuleError(_("The logic ends too early."))
        self._at += 1
        return self._tokens[self._at - 1]

    def _accept(self, *texts: str) -> str | None:
        if self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            if kind in {"word", "operator"} and text in texts:
                self._at += 1
                return text
        return None

    def _expect(self, text: str) -> None:
        if self._accept(text) is None:
            raise RuleError(_("“%(text)s” is missing.") % {"text": text})

    def expression(self) -> Node:
        """One whole logical expression."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            message = _("The logic is nested deeper than %(max)d levels.")
            raise RuleError(message % {"max": MAX_DEPTH})
        node = self._joined("or", self._conjunction, decisive=True)
        self._depth -= 1
        return node

    def _conjunction(self) -> Node:
        return self._joined("and", self._negation, decisive=False)

    def _joined(self, word: str, part: Callable[[], Node], *, decisive: bool) -> Node:
        parts = [part()]
        while self._accept(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else nodes.logical(parts, decisive=decisive)

    def _negation(self) -> Node:
        negations = 0
        while self._accept("not", "!"):
            negations += 1
        node = self._comparison()
        return nodes.negate(node) if negations % 2 else node

    def _comparison(self) -> Node:
        node = self._sum()
        if self.peek() in _COMPARISONS:
            operator = self._next()[1]
            return nodes.compared(operator, node, self._sum())
        return node

    def _sum(self) -> Node:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Node:
        return self._chain(("*", "/"), self._power)

    def _chain(self, operators: tuple[str, ...], operand: Callable[[], Node]) -> Node:
        first, steps = operand(), list[tuple[str, Node]]()
        while operator := self._accept(*operators):
            steps.append((operator, operand()))
        return nodes.chained(first, steps) if steps else first

    def _power(self) -> Node:
        node = self._primary()
        return nodes.chained(node, [("^", self._primary())]) if self._accept("^") else node

    def _primary(self) -> Node:
        minuses = 0
        while self._accept("-"):
            minuses += 1
        if minuses:
            node = self._primary()
            return nodes.chained(nodes.constant(Decimal(0)), [("-", node)]) if minuses % 2 else node
        kind, text = self._next()
        if text == "(" and kind == "operator":
            node = self.expression()
            self._expect(")")
            return node
        if kind == "field":
            return self._field(text[1:-1].strip())
        if kind == "text":
            return self._text(text[1:-1])
        if kind == "number":
            return nodes.constant(Decimal(text))
        if kind == "word":
            return self._word(text)
        raise unexpected(text)

    def _text(self, text: str) -> Node:
        self.is_dated |= text in _DAYS
        return nodes.constant("" if text == "NaN" else text)

    def _word(self, word: str) -> Node:
        if word in {"true", "false"}:
            return nodes.constant(word == "true")
        if word in _DAYS:
            return self._text(word)
        if word == "nan":
            return nodes.constant("")
        function = FUNCTIONS.get(word)
        if function is None:
            raise RuleError(_("Unknown function “%(name)s”.") % {"name": word})
        self._expect("(")
        arguments = [self.expression()]
        while self._accept(","):
            arguments.append(self.expression())
        self._expect(")")
        if not function.takes(len(arguments)):
            message = _("“%(name)s” does not take %(count)d arguments.")
            raise RuleError(message % {"name": word, "count": len(arguments)})
        return function.build(arguments)

    def _field(self, first: str) -> Node:
        """One to three pairs of brackets: event, field, instance."""
        parts = [first]
        while len(parts) < 3 and self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            if kind != "field":
                break
            parts.append(text[1:-1].strip())
            self._at += 1
        instance = parts.pop() if len(parts) > 1 and _is_instance(parts[-1]) else ""
        if len(parts) == 3:
            raise unexpected(f"[{parts[2]}]")
        event, name = parts if len(parts) == 2 else ("", parts[0])
        name, _parenthesis, code = name.partition("(")
        if name.endswith(":label"):
            raise RuleError(
                _("Logic cannot use the label of a choice: “%(name)s”.") % {"name": name}
            )
        stem = name.removesuffix(":value").strip()
        written = code.partition(")")[0].strip()
        ref = Ref(stem, written, event, instance)
        self.refs[ref] = None
        return nodes.field(ref)


def _is_instance(text: str) -> bool:
    return text.endswith("-instance") or re.fullmatch("[0-9]{1,9}", text) is not None
