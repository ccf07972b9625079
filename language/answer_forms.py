"""How answers write years, versions, ranges of visits, a number of a number, and that nothing was found."""

from __future__ import annotations

import re

YEAR = re.compile(r"20\d\d|年|今|明|昨|前天|后天")
"""Stands in a day that is told with its year."""
VERSION = re.compile(r"(?<![a-z])v\d+\.\d+(?!\d)")
SHORT_DAY = re.compile(r"(?<![\d./-])(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d/-])")
UP_TO = re.compile(r"v\d\s?(?:到|至|~|-|—|to)\s?$")
"""Before the last visit of a range."""
VISITS = re.compile(r"(?<![a-z])v(\d)\s?(?:至|到|~|-|—)\s?v(\d)(?!\d)")
RATIO = re.compile(r"(?<![\d./])(\d{1,3})\s?/\s?(\d{1,3})(?![\d./])(?:\s?例)?(?!mm)")
INDEFINITE = re.compile(r"一[批种个名些位项]")
"""Some, of which no number is meant."""
RANGE = re.compile("至|到|~|之间|-")
"""Between two bounds."""
SOURCES = (
    "资料",
    "方案",
    "周报",
    "报",
    "数据",
    "文档",
    "文件",
    "知情同意书",
    "指南",
    "检索",
    "记录",
)
NOT_FOUND = re.compile(
    rf"(?:{'|'.join(SOURCES)})[^,。]*?(?:没有?|未能?|并未|无法|不到)[^,。]*"
    r"|(?:没有?|未|并未)(?:记录|记载|说明|写明|提到|提及|查到|找到)"
)
"""That a source does not speak of something."""
