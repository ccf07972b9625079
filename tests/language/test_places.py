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

ROOT = Path(__file__).parents[2]
PACKAGES = (
    *("house", "language", "rules", "privacy", "integrations", "projects", "study", "llm"),
    *("skills", "memory", "engines", "wechat", "iit_manager", "demo"),
)
PLACES = (
    "language/",
    "engines/assistant/understand/",
    "engines/assistant/intents/",  # the same reading of a message, for the tasks that are no data question
    "memory/people/",
    "privacy/",
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
_READ_AGAIN = "reads a question once more that `understand` has read; its slots should do"
_DOCUMENTS = "finds the rule in a document; the typed lines of a passage should do"
_LABELS = "reads labels and notes of a dictionary, which people write, to propose settings"
_REMEMBERED = "reads what a person told of themselves; belongs to memory/people"
_TOLD = "reads a week's report as a person wrote it; belongs to language"
_TYPED = "同意 / 驳回 as typed; belongs to language"
_VERIFIER = "reads what a model wrote; its words are to stand in language"
_SERVER = "what a server says in an error or a log line, no person"
# file or folder: (patterns, why)
ELSEWHERE: dict[str, tuple[int, str]] = {
    "engines/assistant/lines/prose.py": (1, _DOCUMENTS),
    "engines/assistant/verify/": (21, _VERIFIER),
    "engines/briefing/__init__.py": (1, _READ_AGAIN),
    "engines/assistant/chat/handlers/": (31, _READ_AGAIN),
    "engines/assistant/chat/opinions.py": (7, _READ_AGAIN),
    "engines/assistant/chat/past.py": (4, _READ_AGAIN),
    "engines/assistant/chat/subjects.py": (1, _READ_AGAIN),
    "engines/assistant/chat/wording.py": (1, _SERVER),
    "engines/assistant/react.py": (3, _SERVER),
    "engines/assistant/tools/": (1, _READ_AGAIN),
    "integrations/dify.py": (1, _DOCUMENTS),
    "integrations/llm/client.py": (3, _SERVER),
    "integrations/wecom/client.py": (1, _SERVER),
    "memory/length.py": (2, _REMEMBERED),
    "memory/mentions.py": (4, _REMEMBERED),
    "memory/sites.py": (1, _REMEMBERED),
    "memory/reports/checks.py": (1, _TOLD),
    "memory/reports/text.py": (4, _TOLD),
    "memory/hot/similarity.py": (3, _REMEMBERED),
    "study/protocol/bm25.py": (1, _DOCUMENTS),
    "study/protocol/chunking.py": (2, _DOCUMENTS),
    "study/protocol/excerpts/": (9, _DOCUMENTS),
    "study/identities.py": (2, _LABELS),
    "study/metadata.py": (2, _LABELS),
    "rules/parse.py": (1, _LABELS),
    "skills/automap.py": (2, _LABELS),
    "study/proposals.py": (5, _LABELS),
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
            if not name.startswith(PLACES) and "/migrations/" not in name:
                listed = next((one for one in ELSEWHERE if name.startswith(one)), name)
                counts[listed] += sum(1 for _pattern in patterns(file))
    return +counts


def test_no_pattern_is_added_elsewhere() -> None:
    more = {
        name: count for name, count in found().items() if count > ELSEWHERE.get(name, (0, ""))[0]
    }
    assert not more, f"patterns over what people write belong into {', '.join(PLACES)}: {more}"


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
