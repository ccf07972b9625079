"""The manuals as pages of the console, each page of the console with its place in them.

The text is that of `docs/`, in the language of the reader: one source for files and help.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from core.house.markdown import render_markdown
from engines.pages.layout import render_page

DOCS = settings.BASE_DIR / "docs"
CHAPTERS: Mapping[str, tuple[str, str]] = {
    **{
        name: (f"manual/{name}.md", f"manual/{name}.en.md")
        for name in ("clinician", "crc", "admin", "operator")
    },
    **{
        name: (f"operating/{name}.zh.md", f"operating/{name}.md")
        for name in (
            "install",
            "proxy",
            "sizing",
            "upgrade",
            "backup",
            "keys",
            "qualify",
            "model",
            "login",
        )
    },
}
"""Name in the address -> the file in Chinese and in English, below `docs/`."""

PAGES: Mapping[str, str] = {
    "index": "clinician",
    "engines_review_desk": "crc#review",
    "engines_review": "crc#review",
    "engines_taskrun": "crc#runs",
    "engines_batch": "crc#runs",
    "engines_pendingaction": "crc#findings",
    "engines_pendingaction_checks": "admin#checks",
    "engines_pendingaction_rates": "admin#checks",
    "engines_pendingaction_undecided": "admin#checks",
    "engines_redcapquery": "crc#queries",
    "study_redcapquery": "crc#queries",
    "visit_board": "crc#visits",
    "subject_page": "crc#visits",
    "study_subject": "crc#visits",
    "engines_safetyclock": "crc#safety",
    "engines_safetyclock_settings": "admin#setup",
    "engines_deviation": "crc#deviations",
    "projects_project": "admin#setup",
    "study_visitplanentry": "admin#setup",
    "study_syncstate": "admin#setup",
    "study_dictionary": "admin#dictionary",
    "study_fieldrole": "admin#dictionary",
    "study_referencelimit": "admin#dictionary",
    "study_synonym": "admin#dictionary",
    "skills_fieldmapping": "admin#mappings",
    "skills_formtemplate": "admin#mappings",
    "skills_skill": "admin#workflows",
    "engines_schedule": "admin#workflows",
    "engines_schedules": "admin#workflows",
    "skills_qualityrule": "admin#checks",
    "study_protocoldocument": "admin#protocol",
    "amendment": "admin#protocol",
    "projects_member": "admin#members",
    "projects_person": "admin#members",
    "projects_apitoken": "operator#accounts",
    "auth_user": "operator#accounts",
    "axes": "operator#accounts",
    "password_change": "operator#accounts",
    "hot_memory": "admin#memory",
    "memory": "admin#memory",
    "papers": "admin#reports",
    "pictures": "admin#reports",
    "site_risk": "admin#reports",
    "engines_openquestion": "admin#questions",
    "engines_agenttrace": "admin#questions",
    "what_would_be_sent": "admin#questions",
    "llm": "operator#watch",
    "llm_modelacceptance": "model",
    "llm_llmcanary": "model",
    "engines_modelacceptance": "model",
    "wechat": "operator#alerts",
    "wechat_inboxmessage": "operator#watch",
    "wechat_outboxmessage": "operator#watch",
    "django_celery_beat": "operator#watch",
    "house": "operator#watch",
    "projects_auditentry": "operator#trail",
    "trail_reviews": "operator#trail",
    "account": "login",
}
"""A page by the name of its address, or what that begins with -> `chapter#anchor`; the longest name counts."""

_ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>\n', re.MULTILINE)
_PICTURE = re.compile(r"^!\[(.*)\]\(\.\./\.\./static/(iit/manual/[\w-]+\.png)\)$", re.MULTILINE)
_LINK = re.compile(r"\]\((?:\.\./\w+/)?(\w+)(?:\.en|\.zh)?\.md(#[\w-]+)?\)")
_OTHER_LANGUAGE = re.compile(r"^\w+: \[[^\]]*\]\([^)]*\.md\)[^\w\s]?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """Text as HTML, or a picture: its static path and what it shows."""

    html: str = ""
    picture: str = ""
    alt: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """What stands from one anchor to the next."""

    anchor: str
    heading: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """One manual, as it is shown."""

    title: str
    sections: tuple[Section, ...]


def section_of(name: str) -> str:
    """`chapter#anchor` of a page, by the name of its address; "" for none."""
    while name and name not in PAGES:
        name = name.rpartition("_")[0]
    return PAGES.get(name, "")


def help_here(request: HttpRequest) -> dict[str, str]:
    """Context of each page: the address of what the manuals say about it."""
    match = request.resolver_match
    chapter, mark, anchor = (section_of((match and match.url_name) or "") or "clinician").partition(
        "#"
    )
    return {"help_here": reverse("help", args=[chapter]) + mark + anchor}


@cache
def chapter_of(name: str, language: str) -> Chapter:
    """A chapter in Chinese, or in English for any other language. Raises KeyError, OSError."""
    return read_chapter(
        (DOCS / CHAPTERS[name][0 if language.startswith("zh") else 1]).read_text("utf-8")
    )


def read_chapter(text: str) -> Chapter:
    """A file as a chapter: its first heading, then the sections at its anchors."""
    title, _line, body = _OTHER_LANGUAGE.sub("", text, count=1).partition("\n")
    head, *rest = _ANCHOR.split(body)
    pairs = [("", head), *zip(rest[::2], rest[1::2], strict=True)]
    sections = (_section(anchor, part) for anchor, part in pairs if part.strip())
    return Chapter(title.removeprefix("# "), tuple(sections))


def _section(anchor: str, text: str) -> Section:
    heading = re.search(r"^## (.+)", text, re.MULTILINE)
    first, *rest = _PICTURE.split(_LINK.sub(r"](../\1/\2)", text))
    pieces = [Piece(html=render_markdown(first))]
    for alt, picture, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        pieces += [Piece(picture=picture, alt=alt), Piece(html=render_markdown(after))]
    return Section(anchor, heading[1] if anchor and heading else "", tuple(pieces))


@staff_member_required
@require_safe
def help_view(request: HttpRequest, chapter: str) -> HttpResponse:
    """A chapter in the reader's language, beside the list of all; raises Http404 for one that there is not."""
    if chapter not in CHAPTERS:
        raise Http404
    language = get_language() or settings.LANGUAGE_CODE
    shown = chapter_of(chapter, language)
    chapters = [(name, chapter_of(name, language).title) for name in CHAPTERS]
    return render_page(
        request, "admin/help.html", shown.title, chapters=chapters, here=chapter, chapter=shown
    )
