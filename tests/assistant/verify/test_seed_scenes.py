"""The answers that the customer printed go out word for word when the model says them with marks (seed 000)."""

from __future__ import annotations

import pytest

from engines.assistant.verify import verify
from tests.assistant.mutations.run import marked
from tests.support.sheets import sheet

pytestmark = pytest.mark.xdist_group("sheets")

SCENES = [
    (
        "P001 入组了吗?",
        "已入组,时间是 2026-02-05{P001|入组日期|2026-02-05}。",
        "已入组,时间是 2026-02-05。",
    ),
    (
        "最近入组太慢了,我们之前有没有讨论过怎么解决?",
        "我们曾在第 12 周尝试增加补贴{2026-03-26|补贴},第 15 周增派了 CRC{2026-04-16|CRC}"
        "当时效果有短暂提升{补贴只带来短暂提升}...",
        "我们曾在第 12 周尝试增加补贴,第 15 周增派了 CRC当时效果有短暂提升...",
    ),
    (
        "我上次跟你说的那个只要看结果的规矩,你记得吗?",
        "记得的,教授。您要求汇报时只列数据结论,不要冗长的过程描述{只看结论}。我会严格遵守。",
        "记得的,教授。您要求汇报时只列数据结论,不要冗长的过程描述。我会严格遵守。",
    ),
]


@pytest.mark.parametrize(("question", "say", "printed"), SCENES)
def test_it_goes_out_word_for_word(question: str, say: str, printed: str) -> None:
    sources = sheet("zhangyi", question)
    verdict = verify(marked(say, sources), sources)
    assert verdict.passed, [(span.text, span.reason) for span in verdict.spans]
    assert verdict.text == printed


@pytest.mark.parametrize(
    ("question", "lie"),
    [
        ("P001 入组了吗?", "已入组,时间是 2026-02-06{P001|入组日期|2026-02-05}。"),
        (
            SCENES[1][0],
            "我们曾在第 15 周尝试增加补贴{2026-03-26|补贴},第 12 周增派了 CRC{2026-04-16|CRC}...",
        ),
        (SCENES[2][0], "记得的,教授。您要求汇报时写明详细步骤{只看结论}。我会严格遵守。"),
    ],
)
def test_the_same_with_a_lie_in_it_does_not(question: str, lie: str) -> None:
    sources = sheet("zhangyi", question)
    assert not verify(marked(lie, sources), sources).passed
