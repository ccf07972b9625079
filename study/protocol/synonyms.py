"""Other words for what a protocol calls by one name.

A table per study helps more than any choice of library (reference/redcap_dify.md 3.2): the study's own
`Project.synonyms` come on top of these, which hold for any clinical study.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

GROUPS: Sequence[Sequence[str]] = (
    ("转氨酶", "ALT", "AST", "肝功能"),
    ("胆红素", "TBIL", "肝功能"),
    ("肌酐", "Cr", "肾功能", "肌酐清除率"),
    ("白细胞", "WBC", "血常规"),
    ("中性粒细胞", "ANC", "NEUT", "粒细胞"),
    ("血小板", "PLT", "血常规"),
    ("血红蛋白", "HGB", "Hb", "贫血"),
    ("心电图", "ECG", "QTc"),
    ("怀孕", "妊娠", "妊娠期", "孕妇", "有孕"),
    ("哺乳", "母乳喂养"),
    ("避孕", "节育"),
    ("吃药", "服药", "给药", "用药"),
    ("停药", "暂停用药", "终止治疗", "永久停用", "暂停给药", "停用"),
    ("减量", "降低剂量", "剂量调整", "下调剂量", "调药", "下调"),
    ("上调", "加回去", "加量", "增量"),
    ("副作用", "不良反应", "不良事件", "AE"),
    ("严重不良事件", "SAE"),
    ("入组", "入选", "纳入", "参加"),
    ("入选标准", "纳入标准", "入组标准", "入组条件"),
    ("排除标准", "不能入组", "不得入组", "除外"),
    ("退出", "脱落", "撤回同意", "中止", "终止研究", "不想参加"),
    ("合并用药", "合用药", "联合用药", "伴随用药", "禁用药"),
    ("随访", "访视", "复诊", "回访"),
    ("时间窗", "窗口期", "窗口", "访视窗"),
    ("第一次访视", "V1", "访视1"),
    ("第二次访视", "V2", "访视2"),
    ("第三次访视", "V3", "访视3"),
    ("第四次访视", "V4", "访视4"),
    ("第五次访视", "V5", "访视5"),
    ("第六次访视", "V6", "访视6"),
    ("筛选期", "筛选访视", "筛选"),
    ("知情同意", "知情同意书", "ICF", "签字"),
    ("抽血", "采血", "血样", "血标本"),
    ("化验", "实验室检查", "检验"),
    ("影像", "CT", "MRI", "肿瘤评估"),
    ("疗效", "RECIST", "客观缓解率", "ORR", "肿瘤评估"),
    ("主要终点", "主要研究终点", "主要疗效指标"),
    ("样本量", "入组人数", "例数"),
    ("体力状态", "体能状态", "ECOG", "PS评分"),
    ("随机", "随机化", "分组"),
    ("揭盲", "破盲", "紧急揭盲"),
    ("超窗", "方案偏离", "方案违背", "PD"),
    ("报销", "补贴", "补偿", "交通费"),
    ("过敏", "超敏反应"),
    ("高血压", "血压升高"),
    ("发烧", "发热"),
    ("年龄", "岁"),
    ("相关性", "因果关系", "与研究药物的关系"),
    ("重新筛选", "再筛", "重筛", "再次筛选"),
    ("遗失", "丢了", "弄丢", "丢失"),
    ("报告", "上报", "汇报"),
    ("贮存", "保存", "存放", "储存"),
    ("锁定", "锁库"),
    ("补服", "补吃", "补上"),
    ("替换", "补人", "替补"),
    ("暂停", "停过", "叫停", "停了", "停止"),
    ("提高", "涨到", "上涨", "增加", "上调"),
    ("降到", "降回", "降低", "下调", "减少"),
    ("春节", "假期", "节假日", "过年"),
    ("增派", "加派", "加人"),
    ("当前", "现在", "目前", "现行"),
    ("漏服", "忘记吃药", "忘吃", "漏吃"),
)


@dataclass(frozen=True, slots=True)
class Synonyms:
    """The words of a question that have other words, and those."""

    said: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def synonyms_of(query: str, own: Mapping[str, Iterable[str]]) -> Synonyms:
    """Other words for what occurs in `query`, the study's own table first; without repetition."""
    text = _plain(query)
    groups = [[term, *others] for term, others in own.items()] + [list(group) for group in GROUPS]
    said = {word for group in groups for word in group if _occurs(_plain(word), text)}
    # "入选标准" does not speak of "入选": the longest word is the one that is meant.
    meant = {word for word in said if not any(word in other for other in said - {word})}
    others = (word for group in groups if meant & set(group) for word in group if word not in said)
    return Synonyms(tuple(sorted(meant, key=len, reverse=True)), tuple(dict.fromkeys(others)))


def _occurs(word: str, text: str) -> bool:
    """Chinese words anywhere, Latin ones not inside another word."""
    if not word.isascii():
        return word in text
    start = text.find(word) if word else -1
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(word) :]
        # V2.1 is a version and speaks of no V2.
        goes_on = _is_latin(after[:1]) or (after[:1] == "." and after[1:2].isdecimal())
        if not _is_latin(before) and not goes_on:
            return True
        start = text.find(word, start + 1)
    return False


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
