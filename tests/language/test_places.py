"""Patterns over what people write stand in four places only (design.md 2); what is still elsewhere is named.

A pattern is a regular expression with Chinese characters in it or with a choice of words. The list below may
only shrink: a file with more patterns than it is allowed fails, and so does a line that nothing needs any more.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    *("core", "projects", "study", "skills", "memory", "engines", "wechat", "iit_manager"),
    "demo",
)
PLACES = (
    "core/language/",
    "engines/assistant/read/",
    "memory/people/",
    "core/privacy/",
)
_MATCHERS = {
    "compile",
    "search",
    "match",
    "fullmatch",
    "sub",
    "subn",
    "findall",
    "finditer",
    "split",
}
_WRITTEN = re.compile(r"[\u3400-\u9fff]|[A-Za-z]{3,}\|[A-Za-z]{3,}")
_READ_AGAIN = "reads a question once more that `read` has read; its slots should do"
_DOCUMENTS = "finds the rule in a document; the typed lines of a passage should do"
_QUOTED = (
    "closed classes of words that change a rule or say what its sentence is about, beside a quote"
)
_LABELS = "reads labels and notes of a dictionary, which people write, to propose settings"
_REMEMBERED = "reads what a person told of themselves; belongs to memory/people"
_TOLD = "reads a week's report as a person wrote it; belongs to language"
_TYPED = "同意 / 驳回 as typed; belongs to language"
_SERVER = "what a server says in an error or a log line, no person"
# file or folder: (patterns, why)
ELSEWHERE: dict[str, tuple[int, str]] = {
    "engines/assistant/chat/handlers/": (10, _READ_AGAIN),
    "engines/assistant/chat/members.py": (2, _READ_AGAIN),
    "engines/assistant/chat/recall.py": (6, _READ_AGAIN),
    "engines/assistant/say/": (3, _QUOTED),
    "core/integrations/dify.py": (1, _DOCUMENTS),
    "core/integrations/llm/client.py": (4, _SERVER),
    "core/integrations/wecom/client.py": (1, _SERVER),
    "memory/mentions.py": (5, _REMEMBERED),
    "memory/reports/narrator.py": (1, _TOLD),
    "memory/reports/text.py": (4, _TOLD),
    "memory/hot/similarity.py": (3, _REMEMBERED),
    "study/protocol/": (13, _DOCUMENTS),
    "study/identities.py": (2, _LABELS),
    "study/metadata.py": (2, _LABELS),
    "core/rules/parse.py": (1, _LABELS),
    "skills/automap.py": (2, _LABELS),
    "study/proposals.py": (4, _LABELS),
    "wechat/inbound/commands.py": (4, _TYPED),
    "wechat/inbound/pending.py": (1, _TYPED),
}


def patterns(file: Path) -> Iterator[str]:
    """The regular expressions of a module that hold words of people."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        module = node.func.value
        if isinstance(module, ast.Name) and module.id == "re" and node.func.attr in _MATCHERS:
            texts = [n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)]
            pattern = "".join(text for text in texts if isinstance(text, str))
            if _WRITTEN.search(pattern):
                yield pattern


@cache
def found() -> Counter[str]:
    """How many stand outside the four places, by file or by the folder that is listed."""
    counts: Counter[str] = Counter()
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if not name.startswith((*PLACES, "demo/simulators/")) and "/migrations/" not in name:
                listed = next((one for one in ELSEWHERE if name.startswith(one)), name)
                counts[listed] += sum(1 for _pattern in patterns(file))
    return +counts


@pytest.mark.full
def test_no_pattern_is_added_elsewhere() -> None:
    more = {
        name: count for name, count in found().items() if count > ELSEWHERE.get(name, (0, ""))[0]
    }
    assert not more, f"patterns over what people write belong into {', '.join(PLACES)}: {more}"


@pytest.mark.full
def test_the_list_shrinks_with_the_code() -> None:
    assert not [name for name in ELSEWHERE if name not in found()], "nothing is there: strike it"
    assert all(why for _count, why in ELSEWHERE.values())


def test_what_counts_as_a_pattern(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(
        'import re\nA = re.compile("多少|几例")\nB = re.search(f"{A}(?:when|what)", "")\n'
        'C = re.compile(r"\\\\d+")\nD = "多少".split("|")\n',
        encoding="utf-8",
    )
    assert list(patterns(file)) == ["多少|几例", "(?:when|what)"]
