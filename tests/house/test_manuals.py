"""The manuals name pages, pictures and buttons; each of them is there, or a reader looks for it in vain."""

from __future__ import annotations

import re
import struct
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation.trans_real import translation

from iit_manager import manual
from tests.support.addresses import addresses, console_pages

ROOT = Path(settings.BASE_DIR)
MANUALS = ROOT / "docs/manual"
CHINESE = sorted(path for path in MANUALS.glob("*.md") if not path.name.endswith(".en.md"))
PICTURES = ROOT / "static/iit/manual"
MOST_BYTES = 80_000
# Files, pages before the log-in and tables that no menu names.
WITHOUT = re.compile(
    r"(?:login|password_change_done|search|choose_study|markdown_preview|visit_calendar|help|)$"
    r"|auth_group_|projects_audithead_"
)


@cache
def labels() -> frozenset[str]:
    """Every text of the Chinese catalogues, ours and those of what we are built on."""
    catalog = translation("zh-hans")._catalog
    return frozenset(text for _key, text in catalog.items() if isinstance(text, str))


def unknown_labels(text: str) -> list[str]:
    return [one for one in re.findall(r"「([^」]+)」", text) if one not in labels()]


def anchors(language: str, chapter: str) -> set[str]:
    return {one.anchor for one in manual.chapter_of(chapter, language).sections}


@pytest.mark.parametrize("path", CHINESE, ids=lambda path: path.name)
def test_each_quoted_label_is_one_of_the_console(path: Path) -> None:
    assert unknown_labels(path.read_text("utf-8")) == []


def test_a_label_that_is_gone_is_found() -> None:
    assert unknown_labels("点「复核台」,再点「从未有过的按钮」") == ["从未有过的按钮"]


@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_each_page_leads_to_a_place_that_there_is(language: str) -> None:
    lost = []
    for name, place in manual.PAGES.items():
        chapter, _mark, anchor = place.partition("#")
        if anchor and anchor not in anchors(language, chapter):
            lost.append((name, place))
    assert lost == []


def test_each_name_in_the_table_is_that_of_a_page() -> None:
    names = {one.name for one in addresses()} | {"amendment_rehearsal", "amendment_flags"}
    names |= {"engines_redcapquery_redcap", "engines_schedule"}
    assert [
        key for key in manual.PAGES if not any(f"{name}_".startswith(f"{key}_") for name in names)
    ] == []


def test_each_page_of_the_console_has_its_place() -> None:
    """Where this fails for a new page: add it to `iit_manager.manual.PAGES`."""
    names = {one.name for one in console_pages()}
    assert {one for one in names if not manual.section_of(one) and not WITHOUT.match(one)} == set()


def test_every_manual_and_page_of_operation_is_a_chapter() -> None:
    """Where this fails for a new page of docs/operating: add it to `iit_manager.manual.CHAPTERS`."""
    there = {
        path for folder in ("manual", "operating") for path in manual.DOCS.glob(f"{folder}/*.md")
    }
    assert there == {manual.DOCS / path for pair in manual.CHAPTERS.values() for path in pair}


@pytest.mark.parametrize("name", [*manual.CHAPTERS])
def test_both_languages_have_the_same_sections(name: str) -> None:
    assert anchors("zh-hans", name) == anchors("en", name)
    assert manual.chapter_of(name, "en").title != manual.chapter_of(name, "zh-hans").title


def test_pictures_are_named_and_there_and_small() -> None:
    named = set[str]()
    for path in MANUALS.glob("*.md"):
        text = path.read_text("utf-8")
        found = [
            piece.picture for one in manual.read_chapter(text).sections for piece in one.pieces
        ]
        shown = {picture for picture in found if picture}
        assert len(shown) == len(set(re.findall(r"\]\(([^)]+\.png)\)", text))), path.name
        named |= shown
    assert named == {f"iit/manual/{path.name}" for path in PICTURES.glob("*")}
    assert {path.name for path in PICTURES.glob("*") if path.stat().st_size > MOST_BYTES} == set()


def test_pictures_have_the_size_that_the_page_keeps_free_for_them() -> None:
    """An anchor would move away while the pictures above it are loaded."""
    sizes = {struct.unpack(">II", path.read_bytes()[16:24]) for path in PICTURES.glob("*.png")}
    assert sizes == {(1100, 720)}
    assert 'width="1100" height="720"' in (ROOT / "templates/admin/help.html").read_text("utf-8")


@pytest.mark.parametrize("path", sorted(MANUALS.glob("*.md")), ids=lambda path: path.name)
def test_links_between_manuals_lead_somewhere(path: Path) -> None:
    found = re.findall(r"\]\(([^)#]+\.md)(?:#([\w-]+))?\)", path.read_text("utf-8"))
    for file, anchor in found:
        aim = (path.parent / file).resolve()
        assert aim.is_file(), file
        assert not anchor or f'<a id="{anchor}"></a>' in aim.read_text("utf-8")
