"""One spelling for what people type: `normal.normalise`."""

import pytest

from engines.assistant.read.spelling import (
    MAX_CHARACTERS,
    TYPOS,
    chinese_number,
    normalise,
)

SPELLINGS = {
    "Ｐ００１": "P001",
    "ｓｈ－０２－０１９": "sh-02-019",
    "P001，入组没？": "P001,入组没?",
    "P001（女）": "P001(女)",
    "①录入②质控": "录入\n质控",
    "P–001": "P-001",
    "P—001": "P-001",
    "P−001": "P-001",
    "a  b\t c": "a b c",
    "第一行\n\n  第二行": "第一行\n第二行",
    "  前后空格  ": "前后空格",
    "P\u200b001": "P001",
    "P\ufeff001": "P001",
    "\u202eP001": "P001",
    "": "",
    " ": "",
}
HOMOPHONES = {
    "P001至控": "P001质控",
    "跑下执空": "跑下质控",
    "直控制": "直控制",
    "至空腹": "至空腹",
}
# What is meant, and how it is mistyped.
MISTYPED = {
    "质控": "质孔 质空 治控 志控 制控 指控",
    "周报": "周抱 周暴 周爆 周保",
    "月报": "月抱 月爆 月暴 月保",
    "随访": "随仿 随房 随防",
    "访视": "访示 防视 访是 仿视",
    "受试者": "受式者 受试着 受视者",
    "入组": "入祖 入族 如组",
    "出组": "出祖",
    "筛败": "晒败 筛白",
    "脱落": "脱洛 托落",
    "方案": "方按 方暗",
    "知情同意": "知青同意 知情同一",
    "录入": "录如 录人 路入",
    "不良事件": "不良时间 不良事见",
    "排除标准": "排出标准",
    "入选标准": "入选标淮",
    "基线": "基现",
    "趋势": "趋式",
    "记住": "记注 记往",
    "合并用药": "合并用要",
}
OTHER_WORDS = [
    "P003放置空肠营养管了吗",
    "禁食至空肠排空",
    "把这个字段置空",
    "血糖降至控制目标",
    "体制控制",
    "失访是不是变多了",
    "安全性随访是停药后多少天",
    "预防视网膜病变",
    "筛白细胞低的",
    "AE记录如下",
    "登记注册号",
    "四周暴露量",
    "比如组织学分型",
    "对方按时来访",
]
SPOKEN = {
    "P零一八": "P018",
    "p零一八": "p018",
    "P幺零三": "P103",
    "P洞洞七": "P007",
    "皮零五二": "P052",
    "屁零零七": "P007",
    "批零零七": "P007",
    "S杠零零三一": "S-0031",
    "s横杠零零三一": "s-0031",
    "GZ杠零一杠零零四": "GZ-01-004",
    "P0一二": "P012",
    "P零1二": "P012",
    "P-0一二": "P-012",
    "P00七": "P007",
    "S零2三": "S023",
    "P三十二的血压": "P32的血压",
    "P十二号": "P12号",
    "零零八": "008",
    "零零八号": "008号",
    "十二号病人": "12号病人",
    "二十三号受试者": "23号受试者",
    "一百零五号患者": "105号患者",
    "七号那个病人": "7号那个病人",
    "一零一二号患者": "1012号患者",
    "受试者十二": "受试者12",
    "受试者二十一": "受试者21",
    "患者三十四他": "患者34他",
    "病人编号一零五": "病人编号105",
    "受试者九号": "受试者9号",
    "受试者七的血压": "受试者7的血压",
}
UNCHANGED = [
    "P001一直咳嗽",
    "P01一直咳嗽",
    "P12一天两次",
    "患者一直发烧",
    "受试者三例",
    "受试者两个",
    "病人十岁",
    "第一次访视",
    "三月五号",
    "一二三期",
    "二十例",
    "十个病人",
    "千零一夜",
    "血压一百三十",
    "第零零一版",
    "一般情况",
    "三甲医院",
    "P值小于零点零五",
]
NUMERALS = {
    "一": "1",
    "九": "9",
    "十": "10",
    "十二": "12",
    "二十": "20",
    "二十三": "23",
    "九十九": "99",
    "一百": "100",
    "一百零五": "105",
    "一百二十三": "123",
    "三百四十": "340",
    "零一八": "018",
    "〇〇七": "007",
    "一零一": "101",
    "幺零三": "103",
}


@pytest.mark.parametrize(("raw", "plain"), {**SPELLINGS, **HOMOPHONES}.items())
def test_width_dashes_and_spaces_become_one(raw: str, plain: str) -> None:
    assert normalise(raw) == plain


@pytest.mark.parametrize(("raw", "plain"), SPOKEN.items())
def test_spoken_subject_numbers_become_digits(raw: str, plain: str) -> None:
    assert normalise(raw) == plain


@pytest.mark.parametrize("text", UNCHANGED)
def test_other_numerals_stay(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize(("meant", "typos"), MISTYPED.items())
def test_homophones_are_replaced(typos: str, meant: str) -> None:
    assert [normalise(f"把{typo}给我") for typo in typos.split()] == [
        f"把{meant}给我" for _typo in typos.split()
    ]


@pytest.mark.parametrize("text", OTHER_WORDS)
def test_a_word_of_its_own_is_no_homophone(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize("meant", sorted(TYPOS))
def test_no_right_word_is_a_typo(meant: str) -> None:
    assert normalise(meant) == meant


@pytest.mark.parametrize(("spoken", "digits"), NUMERALS.items())
def test_numerals(spoken: str, digits: str) -> None:
    assert chinese_number(spoken) == digits


@pytest.mark.parametrize("text", [*SPELLINGS, *SPOKEN, *UNCHANGED])
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


def test_length_is_bounded_before_and_after_widening() -> None:
    assert len(normalise("ﷺ" * MAX_CHARACTERS)) == MAX_CHARACTERS
    assert len(normalise("入" * (MAX_CHARACTERS + 5))) == MAX_CHARACTERS
