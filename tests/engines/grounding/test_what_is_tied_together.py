"""True words of one source are a lie all the same when the source does not tie them together."""

from __future__ import annotations

import pytest

from engines.grounding import Sources, check
from engines.tools import Fact, Status, ToolResult
from tests.engines.grounding.test_classes_of_lies import ASKED, EVENTS

PASSAGES = (
    "[文档1] protocol.md\n## 6.7 严重不良事件的报告\n"
    "研究者获知严重不良事件后，应在 24 小时内完成首次报告，报告对象包括主要研究者和伦理委员会。\n"
    "以死亡或者危及生命为后果的、可疑且非预期的严重不良反应，应在首次获知后 7 天内完成报告，"
    "其他可疑且非预期的严重不良反应应在 15 天内报告。",
    "[文档2] protocol.md\n### 2.4 研究终点\n| 类别 | 终点 | 评价时点 |\n|---|---|---|\n"
    "| 主要终点 | 客观缓解率（完全缓解与部分缓解的比例之和） | V3、V4 |\n| 次要终点 | 疾病控制率 | V3、V4 |\n"
    "| 研究目的 | 主要目的：评价客观缓解率。次要目的：评价疾病控制率、总生存期 | |\n"
    "### 7.3 次要终点的分析\n疾病控制率的分析方法同主要终点。",
    "[文档3] protocol.md\n### 4.1 入选标准\n受试者必须同时满足以下全部条件方可入组：\n"
    "2. 签署知情同意书时年龄为 18～75 周岁（含 18 周岁和 75 周岁），性别不限。",
    "[文档4] protocol.md\n### 3.3 样本量\n采用精确二项分布估算约需 28 例可评价受试者；计划入组 30 例。",
)
PROTOCOL = ToolResult("search_protocol", Status.OK, "", blocks=PASSAGES, lines=PASSAGES)
STATS = ToolResult(
    "get_project_stats",
    Status.OK,
    {"入组人数": 27, "目标入组": 30},
    facts=(
        Fact("", "enrolled", ("入组", "入组人数", "已入组"), "27"),
        Fact("", "target", ("目标", "目标入组"), "30"),
        Fact("", "remaining", ("还差", "还差例数"), "3"),
    ),
)
HOT = ("- 本周目标：完成 3 例入组",)
BOOK = (
    "[W23]: ## Week 23 (2026-06-09 ~ 2026-06-15)\n### 关键决策\n- 2026-06-10: 恢复筛选：新批次到货",
    "[W24]: ## Week 24 (2026-06-16 ~ 2026-06-22)\n### 进度\n- P004 V3 超窗 3 天\n"
    "- 恢复筛选后第一周，等候患者集中到访",
)
SOURCES = {
    "protocol": Sources([PROTOCOL], HOT),
    "stats": Sources([STATS], HOT),
    "events": Sources([EVENTS], HOT, asked=ASKED),
    "book": Sources([], [*HOT, *BOOK], record_ids=["P004"]),
}
TRUE = {
    "protocol": (
        "SAE 应在获知后 24 小时内完成首次报告。",
        "严重不良事件应在24小时内完成首次报告。",
        "研究者获知严重不良事件后,应在24小时内完成首次报告。",
        "SAE首次报告时限为获知后24小时内。",
        "首次报告:获知后24小时内",
        "其他可疑且非预期的严重不良反应应在15天内报告。",
        "死亡的可疑且非预期的严重不良反应,应在首次获知后7天内报告,其他的15天内报告。",
        "主要终点是客观缓解率。",
        "本研究以客观缓解率为主要终点。",
        "客观缓解率为主要终点,疾病控制率是次要终点。",
        "主要目的是评价客观缓解率。",
        "疾病控制率的分析方法同主要终点。",
        "性别不限。",
        "对性别没有限制。",
        "男女不限,年龄18-75周岁。",
        "入选标准要求年龄18-75岁,性别不限。",
        "计划入组30例,估算约需28例可评价受试者。",
        "目标入组30例。",
        "本周目标是完成 3 例入组。",
    ),
    "stats": (
        "目标入组 30 例。",
        "目标30例,已入组27例,还差3例。",
        "本周目标是完成3例入组。",
        "本周目标完成 3 例入组,目前已入组27例。",
    ),
    "events": (
        "P003 乏力 2026-03-06 痊愈。",
        "P003 乏力于2026-02-20开始,2026-03-06痊愈。",
        "急性阑尾炎2026-01-30开始,已痊愈。",
        "急性阑尾炎(2026-01-30至2026-02-08),痊愈。",
        "P003 2026-02-20出现乏力,后痊愈。",
        "1. 急性阑尾炎:2026-01-30,3级,痊愈\n2. 乏力:2026-02-20,1级,痊愈",
        "急性阑尾炎3级,痊愈,2026-01-30开始。",
    ),
    "book": (
        "第23周恢复筛选,新批次到货。",
        "2026-06-10恢复筛选。",
        "第24周是恢复筛选后第一周。",
        "第24周,恢复筛选后等候患者集中到访。",
        "P004 V3 超窗3天。",
    ),
}
FALSE = {
    "protocol": (
        "SAE 应在 15 天内完成首次报告。",
        "首次报告应在15天内完成。",
        "死亡的可疑且非预期严重不良反应应在15天内报告。",
        "主要终点是疾病控制率。",
        "主要研究终点是疾病控制率。",
        "疾病控制率是主要终点。",
        "主要目的是评价疾病控制率。",
        "不限年龄。",
        "年龄不限。",
        "对年龄没有限制。",
        "入选标准不限年龄,性别不限。",
        "目标入组 3 例。",
    ),
    "stats": ("目标入组 3 例。", "目标 3 例。", "目标入组3例,已入组27例。", "目标是入组3例"),
    "events": (
        "P003 乏力 2026-02-20 痊愈。",
        "P003 乏力已于2026-02-20痊愈。",
        "乏力痊愈日期为2026-02-20。",
        "P003 急性阑尾炎,痊愈,2026-01-30。",
        "急性阑尾炎2026-02-08开始。",
    ),
    "book": (
        "第24周恢复筛选。",
        "P004 第24周恢复筛选。",
        "P004 等候患者集中到访。",
    ),
}


@pytest.mark.parametrize(("source", "answer"), [(s, a) for s, told in TRUE.items() for a in told])
def test_what_a_source_ties_together_passes(source: str, answer: str) -> None:
    assert check(answer, SOURCES[source]) == []


@pytest.mark.parametrize(("source", "answer"), [(s, a) for s, told in FALSE.items() for a in told])
def test_what_only_stands_in_the_same_source_does_not(source: str, answer: str) -> None:
    assert check(answer, SOURCES[source])
