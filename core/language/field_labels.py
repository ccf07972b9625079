"""What the label or the name of a field says that it holds, as people write dictionaries."""

from __future__ import annotations

import re

MEDICATION = re.compile(
    r"药物名称|药品名称|药名|\b(?:drug|medication) name\b|\bcm name\b|\bcmtrt\b", re.IGNORECASE
)
EVENT = re.compile(r"不良事件|\bAE\w*\b|adverse event", re.IGNORECASE)
SERIOUS = re.compile(r"严重不良事件|是否\s*SAE|\bserious\b|\baeser\b", re.IGNORECASE)
YES = re.compile(r"\W*(?:是的?|有|yes|true|y)(?!\w)", re.IGNORECASE)
"""At the beginning of a choice's label: 是, 是(已上报), Yes; not 是否, 有关."""
GRADE = re.compile(r"CTCAE|分级|\bgrade\b|\baetoxgr\b", re.IGNORECASE)
SCREEN_FAILURE = re.compile(r"筛选失败|筛败|screen(?:ing)?\W?fail", re.IGNORECASE)
COMPLETED = re.compile(
    r"(?!.*(?:筛选|入组|screen|enrol))"
    r"(?!.*(?:未|没|不|非|\b(?:not|never|non)\b).*(?:完成|complet))"
    r".*(?:完成|\bcomplet(?:ed|es?|ion)\b)",
    re.IGNORECASE,
)
"""In the label of a status, that the study was completed: no step before it, and no denial."""
START = re.compile(r"开始|发生|start|onset", re.IGNORECASE)
END = re.compile(r"结束|\bend|stop", re.IGNORECASE)
WITHDRAWAL = re.compile(
    r"退出|脱落|提前终止|withdr[ae]w|drop\W?out|discontinu|early terminat", re.IGNORECASE
)
TREATMENT = re.compile(
    r"(?:治疗|处理|对症|合并)用药|用药治疗|治疗药物|medication (?:given|taken)|treated with",
    re.IGNORECASE,
)
