"""How documents number and name their parts: headings, contents and page numbers, in Chinese and English."""

from __future__ import annotations

import re

NUMBERED = re.compile(r"\d+(?:\.\d+){1,4}[.、]?\s+\S.{0,60}")
CHAPTER = re.compile(r"(?:第[一二三四五六七八九十百\d]+[章节]|附录)\s*\S?.{0,40}")
OWN_NUMBER = re.compile(r"\d|第|附录|[一二三四五六七八九十]+、")
"""How a line begins that bears a number of its own, as no running head does."""
PAGE_NUMBER = re.compile(
    r"[\s\-–—/]*(?:第|page)?\s*\d+\s*(?:页)?[\s,，/]*(?:(?:of|共|/)?\s*\d+\s*页?)?[\s\-–—]*", re.I
)
HEADING_STYLE = re.compile(r"(?:heading|标题)\s*(\d)$", re.IGNORECASE)
TITLE_STYLE = re.compile(r"title|标题", re.IGNORECASE)
CONTENTS_STYLE = re.compile(r"(?:toc|目录)\b.*", re.IGNORECASE)
"""What word processors call the styles of headings, of the title and of the table of contents."""
BOLD_FONT = re.compile(r"bold|heavy|black|simhei", re.IGNORECASE)
MIXED = re.compile(r"[\u3400-\u9fff] ?[A-Za-z0-9]|[A-Za-z0-9] ?[\u3400-\u9fff]")
SPACED = re.compile(r"[\u3400-\u9fff] [A-Za-z0-9]|[A-Za-z0-9] [\u3400-\u9fff]")
"""A seam between Chinese and Latin text, with or without a blank; with one."""
