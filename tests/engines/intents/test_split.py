"""Where a marked text is cut: `split.fragments`."""

import pytest

from engines.assistant.intents import features
from engines.assistant.intents.marks import PAD
from engines.assistant.intents.normal import normalise
from engines.assistant.intents.split import (
    COMMA,
    HARD,
    LINK,
    MAX_FRAGMENTS,
    SPACE,
    fragments,
)


def _pieces(text: str) -> list[str]:
    marked = features.mark(normalise(text))[0]
    return [marked[f.start : f.end].replace(PAD, "") for f in fragments(marked)]


def _boundaries(text: str) -> list[str]:
    return [f.boundary for f in fragments(features.mark(normalise(text))[0])]


CUT = {
    "查血压。出周报": ["查血压。", "出周报"],
    "查血压;出周报": ["查血压;", "出周报"],
    "查血压!出周报": ["查血压!", "出周报"],
    "查血压?出周报": ["查血压?", "出周报"],
    "查血压\n出周报": ["查血压\n", "出周报"],
    "查血压，出周报": ["查血压,", "出周报"],
    "查血压...出周报": ["查血压...", "出周报"],
    "查血压 出周报": ["查血压 ", "出周报"],
    "查血压然后出周报": ["查血压", "然后出周报"],
    "查血压接着出周报": ["查血压", "接着出周报"],
    "查血压顺便出周报": ["查血压", "顺便出周报"],
    "查血压顺手出周报": ["查血压", "顺手出周报"],
    "查血压另外出周报": ["查血压", "另外出周报"],
    "查血压此外出周报": ["查血压", "此外出周报"],
    "查血压并且出周报": ["查血压", "并且出周报"],
    "查血压以及出周报": ["查血压", "以及出周报"],
    "查血压再出周报": ["查血压", "再出周报"],
    "查血压最后出周报": ["查血压", "最后出周报"],
    "查血压对了出周报": ["查血压", "对了出周报"],
    "写周报之前把血压录了": ["写周报之前", "把血压录了"],
    "出季报以前你先统计人数": ["出季报以前", "你先统计人数"],
    "交月报前先核一遍": ["交月报前", "先核一遍"],
    "核完P001就出周报": ["核完§", "就出周报"],
    "录完血压再跑质控": ["录完血压", "再跑质控"],
    "入组慢的话写进周报": ["入组慢的话", "写进周报"],
    "check labs and run QC": ["check labs ", "and run QC"],
    "👍查血压": ["👍", "查血压"],
}
WHOLE = [
    "P001、P002、P003的血压",
    "P001~P003的血压",
    "P001 的 血压",
    "P001血糖 多少",
    "P001迟到 备注一下",
    "受试者编号为 0105 的血压",
    "记住,周三不在",
    "备忘:周三不在",
    "请记录:周三不在",
    "把全部数据再核一遍",
    "给所有人再质控一遍",
    "用药前要查血常规吗",
    "手术前给药吗",
    "之前给过你的那个",
    "入组前多久不能用抗生素",
    "查一下之前看过的病人",
    "“先出周报,再跑质控”",
    '"先出周报,再跑质控"',
    "「先出周报,再跑质控」",
    "《方案,第二版》",
    "血压132.5",
    "还有多少人",
    "还有几个",
    "还有谁",
    "弄完了没",
    "最后一次随访",
    "合并用药",
    "同时参加两个研究",
    "周报",
]


@pytest.mark.parametrize(("text", "pieces"), CUT.items())
def test_tasks_are_cut_apart(text: str, pieces: list[str]) -> None:
    assert _pieces(text) == pieces


@pytest.mark.parametrize("text", WHOLE)
def test_one_clause_stays_whole(text: str) -> None:
    assert len(_pieces(text)) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("查血压。出周报", HARD),
        ("查血压\n出周报", HARD),
        ("查血压然后出周报", LINK),
        ("查血压再出周报", LINK),
        ("写周报之前把血压录了", LINK),
        ("查血压,出周报", COMMA),
        ("查血压、出周报", COMMA),
        ("查血压:出周报", COMMA),
        ("查血压 出周报", SPACE),
    ],
)
def test_the_kind_of_a_boundary(text: str, kind: str) -> None:
    assert _boundaries(text) == [HARD, kind]


@pytest.mark.parametrize("text", [*CUT, *WHOLE, "", "。", ",,,"])
def test_fragments_spell_the_text(text: str) -> None:
    marked = features.mark(normalise(text))[0]
    assert "".join(marked[f.start : f.end] for f in fragments(marked)) == marked


def test_many_fragments_are_merged_down() -> None:
    assert len(fragments("查血压。" * 200)) == MAX_FRAGMENTS


def test_a_leading_subject_joins_what_follows() -> None:
    assert _pieces("P001,血压和体重") == ["§,血压和体重"]


def test_a_trailing_subject_joins_what_precedes() -> None:
    assert _pieces("查一下血压,P001") == ["查一下血压,§"]
