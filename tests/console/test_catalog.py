"""The Chinese catalog is complete: for our code and for the packages that bring no Chinese."""

from __future__ import annotations

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import axes
import django
import pytest
import unfold
from django.conf import settings

from projects import audit

ROOT = Path(settings.BASE_DIR)
CATALOGS = [Path(folder) / "zh_Hans" / "LC_MESSAGES" for folder in settings.LOCALE_PATHS]
APPS = ("iit_manager", "core", "projects", "study", "skills", "memory", "engines", "wechat", "demo")
CALLS = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "translate", "_"}
TAG = re.compile(r"""{%\s*(?:trans|translate)\s+(?:"([^"]+)"|'([^']+)')""")
FIELD = re.compile(r"%\((\w+)\)|%([sd])|\{(\w*)\}")


def entries(path: Path) -> Iterator[dict[str, str]]:
    """The entries of a .po file: msgid, msgstr, flags."""
    for block in path.read_text("utf-8").split("\n\n"):
        found: dict[str, str] = {"flags": "", "msgid": "", "msgstr": ""}
        key = ""
        for line in block.splitlines():
            if line.startswith("#,"):
                found["flags"] += line
            elif line.startswith("#"):
                continue
            elif match := re.match(r'(msgid|msgstr|msgid_plural|msgctxt)(?:\[\d\])? (".*")$', line):
                key = match[1]
                found[key] = ast.literal_eval(match[2])
            elif key:
                found[key] += ast.literal_eval(line)
        if found["msgid"] and "msgctxt" not in found:
            yield found


@pytest.fixture(scope="module")
def catalog() -> dict[str, str]:
    return {
        entry["msgid"]: entry["msgstr"]
        for folder in CATALOGS
        for entry in entries(folder / "django.po")
    }


def literals(path: Path) -> Iterator[str]:
    """The message ids of a Python file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not (isinstance(node, ast.Call) and node.args):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        first = node.args[0]
        if name in CALLS and isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def ours() -> Iterator[tuple[Path, str]]:
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            if "migrations" not in path.parts:
                yield from ((path, text) for text in literals(path))
    for path in [*(ROOT / "templates").rglob("*.html"), *ROOT.glob("*/templates/**/*.html")]:
        for match in TAG.finditer(path.read_text("utf-8")):
            yield path, match[1] or match[2]


def known_to_packages() -> set[str]:
    """Message ids that Django brings in Chinese."""
    known: set[str] = set()
    for path in Path(django.__file__).parent.rglob("locale/zh_Hans/LC_MESSAGES/django.mo"):
        with path.open("rb") as file:
            content = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        known |= {key[0] if isinstance(key, tuple) else key for key in content}
    return known


@pytest.mark.full
def test_nothing_is_untranslated_or_fuzzy() -> None:
    for folder in CATALOGS:
        for entry in entries(folder / "django.po"):
            assert entry["msgstr"], entry["msgid"]
            assert "fuzzy" not in entry["flags"], entry["msgid"]


def test_placeholders_are_kept(catalog: dict[str, str]) -> None:
    for source, text in catalog.items():
        # The name of a constraint is nothing to read: the Chinese says without it what is wrong.
        if source not in ("{term: [terms]}", "Constraint “%(name)s” is violated."):
            assert sorted(FIELD.findall(text)) == sorted(FIELD.findall(source)), source


@pytest.mark.full
def test_every_message_of_our_code_is_there(catalog: dict[str, str]) -> None:
    missing = sorted(
        {f"{path.name}: {text}" for path, text in ours() if text and text not in catalog}
    )
    assert missing == []


def test_every_action_of_the_trail_is_there(catalog: dict[str, str]) -> None:
    assert [label for label in audit.actions().values() if label not in catalog] == []


@pytest.mark.full
@pytest.mark.parametrize("package", [unfold, axes])
def test_every_message_of_the_packages_is_there(catalog: dict[str, str], package: object) -> None:
    known = known_to_packages() | set(catalog)
    root = Path(str(package.__file__)).parent  # type: ignore[attr-defined]
    found: set[str] = set()
    for path in root.rglob("*.html"):
        if "contrib" not in path.parts:
            found |= {a or b for a, b in TAG.findall(path.read_text("utf-8"))}
    for path in root.rglob("*.py"):
        if not {"contrib", "tests", "migrations"} & set(path.parts):
            found |= set(literals(path))
    assert sorted(text for text in found if text and text not in known) == []


@pytest.mark.parametrize("folder", CATALOGS)
def test_the_compiled_catalog_is_this_one(folder: Path) -> None:
    with (folder / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    assert [
        entry["msgid"]
        for entry in entries(folder / "django.po")
        if compiled.gettext(entry["msgid"]) != entry["msgstr"]
        and "%(counter)s" not in entry["msgid"]
    ] == []
