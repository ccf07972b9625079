"""Lists, tables and earlier talk: what a careful reader quotes of a passage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulators.llm_kit import Llm, serve_llm, system, user

LIMIT = system("你是助手。回答控制在60字以内。")
PASSAGES = system(
    "[文档1] guide.md (相关度: 92.0%)\n## 7 统计\n设备故障包括:停机后不符合停机条件而继续使用。\n---\n"
    "[文档2] manual.md (相关度: 71.0%)\n### 4.2 停机条件\n\n符合任何一条即停机。\n\n"
    "1. 油温高于九十度,或油压低于下限,且持续不少于十分钟。\n"
    "2. 轴承有异常声响,包括周期性的敲击和连续的摩擦。\n"
    "3. 冷却水中断。备用水泵不能代替主泵。\n"
    "4. 值班员认为不宜继续运行的其他情况,例如漏油。\n---\n"
    "[文档3] form.md (相关度: 60.0%)\n## 巡检表\n\n| 栏目 | 说明 |\n|---|---|\n"
    "| 油温 | 每小时读数 |\n| 油压 | 每班读数 |\n| 声响 | 正常或异常 |\n"
)


@pytest.fixture(scope="module")
def llm() -> Iterator[Llm]:
    with serve_llm() as found:
        yield found


def test_a_list_that_is_too_long_is_told_whole_and_short(llm: Llm) -> None:
    said = llm.ask(LIMIT, PASSAGES, user("停机条件有哪些?"))
    assert said == (
        "4.2 停机条件：油温高于九十度；轴承有异常声响；冷却水中断；值班员认为不宜继续运行的其他情况。"
    )


def test_the_column_that_is_asked_for(llm: Llm) -> None:
    said = llm.ask(LIMIT, PASSAGES, user("巡检的form里有哪些栏目?"))
    assert "油温:每小时读数" in said
    assert "声响:正常或异常" in said
    assert "|" not in said
    assert "说明" not in said


def test_earlier_talk_is_no_source_where_data_were_read(llm: Llm) -> None:
    talk = system("用户: P001 的油温?\n\nAI: 1. [设备] 已完成 / 结果:P001：油温:44。")
    read = system('查询结果:\n{"record_id": "P001", "油温": "58"}')
    assert llm.ask(LIMIT, read, talk, user("P001的油温是多少?")) == "P001：油温:58。"


def test_a_date_where_a_date_is_asked_for(llm: Llm) -> None:
    read = system('查询结果:\n{"record_id": "P001", "是否停机": "是", "停机日期": "2026-02-05"}')
    assert llm.ask(LIMIT, read, user("P001什么时候停机的?")) == "P001：停机日期:2026-02-05。"
