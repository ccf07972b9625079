"""The classes of lies that a model tells with true words: each beside the true answers that must pass."""

from __future__ import annotations

import pytest

from engines.grounding import Sources, check
from engines.tools import Fact, Status, ToolResult

GRADES = ("1级", "2级", "3级", "4级")
RELATIONS = ("很可能有关", "可能有关", "可能无关", "肯定无关")
OUTCOMES = ("痊愈", "好转", "持续")


def entry(number: int, subject: str, *values: str) -> tuple[Fact, ...]:
    """One adverse event: name, begin, end, grade, serious, relation, outcome."""
    rows = (
        ("term", ("不良事件名称", "不良事件", "ae"), ()),
        ("start", ("AE开始日期", "开始"), ()),
        ("end", ("AE结束日期", "结束"), ()),
        ("grade", ("CTCAE分级", "分级"), GRADES),
        ("serious", ("是否严重不良事件（SAE）", "严重不良事件", "sae"), ("是", "否")),
        ("relation", ("与研究药物的关系",), RELATIONS),
        ("outcome", ("AE转归", "转归"), OUTCOMES),
    )
    return tuple(
        Fact(
            subject,
            f"ae_{name}",
            names,
            value,
            f"Log 不良事件 #{number}",
            tuple(c for c in choices if c != value),
        )
        for (name, names, choices), value in zip(rows, values, strict=True)
    )


def record(subject: str, *facts: Fact) -> ToolResult:
    return ToolResult("read_clinical_data", Status.OK, {}, facts, record_ids=(subject,))


EVENTS = record(
    "P003",
    *entry(1, "P003", "急性阑尾炎", "2026-01-30", "2026-02-08", "3级", "是", "可能无关", "痊愈"),
    *entry(2, "P003", "乏力", "2026-02-20", "2026-03-06", "1级", "否", "可能有关", "痊愈"),
)
ASKED = ("ae_term", "ae_start", "ae_end", "ae_grade", "ae_serious", "ae_relation", "ae_outcome")
NOTES = record(
    "P001",
    Fact(
        "P001", "history", ("既往史",), "高血压病史8年，血压控制良好。否认间质性肺炎、活动性结核。"
    ),
    Fact("P001", "drugs", ("用药史",), "近28天内否认使用强效CYP3A4抑制剂、全身性免疫抑制剂。"),
    Fact("P001", "ecog", ("ECOG评分", "ecog"), "1分", "筛选", ("0分", "2分", "3分")),
)
PASSAGES = (
    "[文档1] protocol.md\n## 4 研究人群\n### 4.1 入选标准\n受试者必须同时满足以下全部条件方可入组：\n"
    "1. 年龄为 18～75 周岁。\n2. ECOG 评分为 0～2 分。ECOG 3 分及以上者不得入组。",
    "[文档2] protocol.md\n### 4.2 排除标准\n受试者符合以下任何一条即不得入组。\n"
    "1. 存在需要全身治疗的活动性感染。\n"
    "2. 首次用药前 4 周内接受过其他抗肿瘤治疗；骨转移的放疗间隔不少于 2 周。\n"
    "3. 妊娠期或哺乳期女性。",
    "[文档3] protocol.md\n#### 5.4 禁止的合并治疗\n研究治疗期间禁止使用：\n1. 强效 CYP3A4 抑制剂，例如酮康唑；",
    "[文档4] protocol.md\n### 2.4 终点\n"
    "| 类别 | 终点 |\n|---|---|\n| 主要终点 | 客观缓解率 |\n| 次要终点 | 总生存期 |",
)
PROTOCOL = ToolResult("search_protocol", Status.OK, "", blocks=PASSAGES, lines=PASSAGES)
BOOK = (
    "[W20]: ## Week 20 (2026-05-19 ~ 2026-05-25)\n### 关键决策\n- 2026-05-20: 暂停筛选新受试者：药物运输超温",
    "[W23]: ## Week 23 (2026-06-09 ~ 2026-06-15)\n### 关键决策\n- 2026-06-10: 恢复筛选：新批次到货且检验合格",
    "[W25]: ## Week 25 (2026-06-23 ~ 2026-06-29)\n### 进度\n- 本周新入组:2 例",
)


def due(subject: str, visit: str, opens: str, closes: str, state: str) -> tuple[Fact, ...]:
    return (
        Fact(subject, f"{visit}:open", (visit, "窗口", "窗口开始"), opens, visit),
        Fact(subject, f"{visit}:close", (visit, "窗口", "窗口结束"), closes, visit),
        Fact(subject, f"{visit}:state", (visit, "状态"), state, visit),
    )


VISITS = ToolResult(
    "check_visit_window",
    Status.OK,
    {},
    facts=(
        *due("P005", "V3", "2026-10-26", "2026-11-09", "已超窗 13 天"),
        *due("P006", "V3", "2026-11-17", "2026-12-01", "窗口期内,待完成"),
        *due("P006", "V4", "2026-12-15", "2026-12-29", "23 天后进入窗口期"),
    ),
    record_ids=("P005", "P006"),
)
HOT = (
    "- 重点关注：P005 患者依从性差，需每日提醒",
    "- P003 SAE 已判定为可能无关",
    "- 本周目标：完成 3 例入组",
)


def problems(answer: str, *results: ToolResult, blocks: tuple[str, ...] = HOT) -> list[str]:
    return check(answer, Sources(results, blocks, asked=ASKED))


SOURCES = {"events": EVENTS, "notes": NOTES, "protocol": PROTOCOL, "visits": VISITS}
TRUE = {
    "events": (
        "P003 急性阑尾炎 3级,乏力 1级。",
        "急性阑尾炎 可能无关,乏力 可能有关。",
        "P003 共有 2 条AE:急性阑尾炎、乏力,均已痊愈。",
        "P003 有1条SAE:急性阑尾炎,3级,2026-01-30开始,2026-02-08结束。",
        "急性阑尾炎和乏力分别为3级和1级。",
        "1. 急性阑尾炎(3级,SAE)\n2. 乏力(1级,2026-02-20至2026-03-06)",
        "P003 3级急性阑尾炎、1级乏力。",
        "P003 发生过1次乏力,非严重不良事件。",
    ),
    "notes": (
        "P001 近28天内未使用全身性免疫抑制剂。",
        "P001 近28天内没有使用过强效CYP3A4抑制剂、全身性免疫抑制剂。",
        "P001 有高血压病史8年,血压控制良好。",
        "P001 无间质性肺炎。",
        "P001 ECOG评分:1分,建议您登录REDCap查看。",
        "已为您查询:P001 ECOG评分1分,如需修改,请登录REDCap。",
    ),
    "protocol": (
        "ECOG 0-2 分可以入组,3 分及以上者不得入组。",
        "根据方案4.1节,年龄需为18至75周岁。",
        "首次用药前4周内不能接受其他抗肿瘤治疗。",
        "妊娠期女性不能入组。",
        "孕妇不得入组。",
        "排除标准包括:活动性感染、妊娠期或哺乳期女性。",
        "不可以。研究治疗期间禁止使用强效CYP3A4抑制剂。",
        "主要终点是客观缓解率,次要终点是总生存期。",
    ),
    "visits": (
        "P005 V3 已超窗13天,待完成的有P006 V3。",
        "本周该访视的是 P005、P006。",
        "P006 V3 窗口 2026-11-17 ~ 2026-12-01,V4 窗口 2026-12-15 ~ 2026-12-29。",
        "P005 依从性差,需每日提醒。",
    ),
}
FALSE = {
    "events": (
        "P003 急性阑尾炎 1级,乏力 3级。",
        "急性阑尾炎 可能有关,乏力 可能无关。",
        "P003 乏力 2026-01-30 开始。",
        "急性阑尾炎和乏力分别为1级和3级。",
        "P003 乏力是SAE。",
        "P003 两个不良事件均为SAE。",
        "P003 共有 3 条AE。",
        "P003 发生过2次乏力。",
        "P003 乏力仍持续。",
        "P003 乏力尚未结束。",
        "P003 有乏力和腹泻。",
        "P003 SAE 已判定为可能有关。",
    ),
    "notes": (
        "P001 近28天内使用过全身性免疫抑制剂。",
        "P001 使用过强效CYP3A4抑制剂。",
        "P001 有间质性肺炎病史。",
        "P001 否认高血压。",
        "P001 血压控制不佳。",
        "P001 有糖尿病史。",
        "ECOG评分:-1分",
        "ECOG评分为负一分",
        "P001 ECOG评分:1分。我已为您修改并录入REDCap。",
        "P001 ECOG评分:1分,已通知研究护士。",
        "P001 ECOG评分:1分。已发送。",
        "P001 ECOG评分:1分,有更新。",
        "P001 ECOG评分:1分,情况属实。",
        "P001 ECOG评分:1分,我会提醒您复查。",
        "P001 ECOG评分:1分,见 https://redcap.example.org/p",
        "P001 ECOG评分:1分,见 www.example.org",
        "P001 ECOG评分:<b>1分</b>",
    ),
    "protocol": (
        "ECOG 0-3 分可入组。",
        "ECOG 3 分可以入组。",
        "ECOG 0～2 分不得入组。",
        "年龄 20-75 岁。",
        "首次用药前 2 周内不能接受其他抗肿瘤治疗。",
        "排除标准包括糖尿病患者。",
        "可以,孕妇可以入组。",
        "可以。",
        "允许合并使用强效CYP3A4抑制剂。",
        "强效CYP3A4抑制剂不禁止使用。",
        "主要终点是总生存期。",
        "主要终点为客观缓解率,由独立影像委员会评估。",
    ),
    "visits": (
        "P006 V4 窗口 2026-11-17 ~ 2026-12-01。",
        "P006 V3 窗口 2026-12-01 ~ 2026-11-17。",
        "本周该访视的是 P003。",
        "超窗的有 P006。",
        "P006 V4 待完成。",
        "P005 依从性好。",
        "P006 依从性差,需每日提醒。",
    ),
}


@pytest.mark.parametrize(("source", "answer"), [(s, a) for s, told in TRUE.items() for a in told])
def test_true_answers_pass(source: str, answer: str) -> None:
    assert problems(answer, SOURCES[source]) == []


@pytest.mark.parametrize(("source", "answer"), [(s, a) for s, told in FALSE.items() for a in told])
def test_false_ones_do_not(source: str, answer: str) -> None:
    assert problems(answer, SOURCES[source])


@pytest.mark.parametrize(
    ("answer", "true"),
    [
        ("第23周恢复筛选。", True),
        ("筛选于6月10日恢复,新批次到货且检验合格。", True),
        ("2026-05-20 暂停筛选,2026-06-10 恢复筛选。", True),
        ("第20周,因药物运输超温暂停筛选。", True),
        ("第25周恢复。", False),
        ("第25周,恢复筛选。", False),
        ("2026-05-20 恢复筛选。", False),
        ("恢复筛选是在第20周。", False),
        ("因经费不足暂停筛选。", False),
    ],
)
def test_a_date_stays_with_its_event(answer: str, true: bool) -> None:
    assert (problems(answer, blocks=(*HOT, *BOOK)) == []) is true
