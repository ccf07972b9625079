"""Talk for which nothing was read: what it says of the study and its people needs a source all the same."""

from __future__ import annotations

import re

_OF_STUDY = re.compile(
    r"受试者|患者|病人|药物|药品|用药|疗效|入组|访视|终点|方案|标准|研究|试验|中心|数据|录[入错]|副作用|不良"
    r"|病情|医生|护士|安全"
)
_OFFER = re.compile(
    r"您(?!好)|请|[你我](?:是|可以|能|会|叫|在|们)|欢迎|随时|谢|抱歉|有什么|哪"
    r"|^[\s、]*(?:也|并|还|或|以及|可以?|能够?|帮您|为您)*(?:协助|帮助|查询|查看|统计|核对|解答|回答|提供|支持|启动|了解|咨询)"
)


def tells(clause: str, *, named: bool) -> bool:
    """Whether a clause tells something of the study, or of a subject it names, and does not only offer help."""
    return (named or _OF_STUDY.search(clause) is not None) and not _OFFER.search(clause)
