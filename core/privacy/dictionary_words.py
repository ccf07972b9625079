"""Words of a dictionary's names, labels and annotations by which study.identity decides."""

from __future__ import annotations

import re

PART_OF_A_DATE = re.compile(r"\s*(?:\d{1,4}\s?[年月日]?|[a-z]{3,9})\s*", re.IGNORECASE)
SAYS_DATE = re.compile(
    r"日期|年月日|\bdate\b|(?:^|_)(?:dt|dat|dtc|date|rq|riqi)\d*(?:_|$)", re.IGNORECASE
)
AGE = re.compile(r"年龄|岁|(?:^|[^a-z])age(?:[^a-z]|$)|(?:^|_)nl(?:_|$)", re.IGNORECASE)
SEX = re.compile(r"性别|\b(?:sex|gender)\b", re.IGNORECASE)
PERSON = re.compile(
    r"demogra|基本(?:信息|资料|情况)|一般(?:信息|资料|情况)|人口学|个人|(?:患者|病人|受试者|家庭)(?:信息|资料|情况)|"
    r"\bdm\b|\b(?:patient|subject|personal) (?:info|information|data|details)\b",
    re.IGNORECASE,
)
# What a study dates. The list only opens: a date that names none of it is asked, and closed meanwhile.
DATES_AN_EVENT = re.compile(
    r"知情|同意|签[署字名]|入组|入选|随机|筛选|访视|随访|就诊|入院|住院|出院|诊断|确诊|手术|采样|采血|采集|取样|送检|"
    r"检[查测验]|化验|测量|评[估价]|给药|用药|服药|首剂|治疗|化疗|放疗|输注|注射|接种|剂量|开始|起始|结束|停[止药用]|"
    r"发[生病现作]|起病|死亡|退出|脱落|完成|报告|填[写表报]|登记|录入|记录|审核|复查|复发|进展|缓解|转归|失访|终止|"
    r"(?<![a-z])(?:consent|icf|enrol|inclu|random|screen|visit|follow|admi(?:t|ssion)|discharg|diagnos|surg|operat|"
    r"sampl|collect|exam|assess|measur|test|lab|imag|scan|dos(?:e|ing)|drug|medic|treat|therap|infus|inject|"
    r"vaccin|start|begin|end|stop|onset|event|death|died|withdr|complet|report|entry|record|review|relaps|"
    r"progress|response|expos|baseline|refer|transplant)|"
    r"(?:^|_)(?:rf|sv|ae|cm|lb|vs|eg|ex|ds|pr|qs|dth|ic|vis)[a-z]{0,4}(?:dtc|dat)(?:_|$)",
    re.IGNORECASE,
)
FILLED = re.compile(r"@(?:DEFAULT|SETVALUE|CALCDATE|CALCTEXT|PREFILL)\b[^@]*", re.IGNORECASE)
ENTERED_NOW = re.compile(r"@(?:NOW|TODAY)\b", re.IGNORECASE)
