"""Names of strangers: what says that the words are a name, and the sentences of a study that hold none."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.values import PLACEHOLDER
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known
from core.privacy.name_characters import (
    FAMILY,
    FUNCTION,
    GIVEN,
    ORDINARY,
    TELLING,
)

CUES = (
    "患者",
    "受试者",
    "病人",
    "患者:",
    "患者姓名",
    "其妻",
    "家属",
    "侄子",
    "主治医生",
    "研究护士:",
)
AFTER = (
    "复查",
    "头晕",
    "主诉乏力",
    "否认过敏史",
    "随访",
    "V3",
    "上周发热",
    "被通知",
    "打电话来",
    ",男",
)
PEOPLE = [
    "刘洋", "张建国", "王五", "肖战", "于海军", "付红", "闫妮", "涂磊", "代小华", "覃秀英",
    "盛强", "岳云", "路明亮", "成龙", "车晓", "兰芳", "麦志明", "管军", "阳丽", "迟超",
    "牟平", "佟丽娅", "隋文静", "欧阳娜娜", "高明亮", "安妮",
]  # fmt: skip


def mask(text: str, *known: Known) -> str:
    return str(Gate(known, today=date(2026, 11, 21)).text(text))


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("cue", CUES)
def test_a_usual_name_after_a_cue_whatever_follows(cue: str, name: str) -> None:
    for after in AFTER:
        assert name not in mask(f"{cue}{name}{after}")


@given(st.sampled_from(FAMILY + ORDINARY + FUNCTION), st.sampled_from(CUES))
def test_every_family_name_has_people(family: str, cue: str) -> None:
    assert f"{family}建军" not in mask(f"{cue}{family}建军今日复诊")


@given(
    st.sampled_from("王李张刘陈杨赵吴徐孙朱胡郭肖付闫涂覃"),
    st.text(st.sampled_from(TELLING), min_size=1, max_size=2),
    st.sampled_from(("查一下", "请联系", "3床")),
)
def test_a_name_in_a_question(family: str, own: str, asked: str) -> None:
    assert f"{family}{own[0]}" not in mask(f"{asked}{family}{own}")
    assert f"{family}{own[0]}" not in mask(f"{family}{own}的ALT是多少")


@pytest.mark.parametrize(
    "text",
    [
        "请王医生、李大夫看",
        "贺老师喜欢表格",
        "我叫张伟",
        "以后叫我李主任",
        "周五提醒王护士",
        "通知张伟",
        "和刘洋谈话",
    ],
)
def test_people_of_the_house_stay(text: str) -> None:
    """What members say of themselves and of colleagues would lose whom it is about."""
    assert mask(text) == text


def test_the_tables_do_not_overlap() -> None:
    families = FAMILY + ORDINARY + FUNCTION
    assert len(set(families)) == len(families)
    assert len(set(GIVEN)) == len(GIVEN) > 400


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("患者王五、赵六", "王五 赵六"),
        ("患者:王五和赵六", "王五 赵六"),
        ("家属赵卫东、钱学森", "赵卫东 钱学森"),
        ("姓名:赵卫东,钱学森", "赵卫东 钱学森"),
        ("联系人:赵卫东；钱学森及孙丽华", "赵卫东 钱学森 孙丽华"),
        ("受试者" + "、".join(f"{a}建国" for a in "王李张刘陈杨赵吴徐孙朱胡"), "李建国 胡建国"),
        ("患者张嚭、王喆、李瓒", "王喆 李瓒"),
        ("患者阿卜杜拉·买买提", "阿卜杜拉 买买提"),
        ("患者 赵 卫 东", "卫"),
        ("姓名 肖 战", "战"),
        ('{"name": "肖战", "alt": 38}', "肖战"),
        ('{\\"name\\": \\"肖战\\"}', "肖战"),
        ("name=肖战&x=1", "肖战"),
        ("<name>赵卫东</name>", "赵卫东"),
        ('{"姓名":"肖战"}', "肖战"),
        ("姓名——赵卫东", "赵卫东"),
        ("姓名/性别:赵卫东/男", "赵卫东"),
        ("患者名字是扎西多吉", "扎西多吉"),
        ("刘洋 13812345678", "刘洋"),
        ("刘洋(电话13812345678)", "刘洋"),
        ("刘洋,身份证号320502198706153318", "刘洋"),
        ("刘洋，58岁", "刘洋"),
        ("刘洋 58岁 男", "刘洋"),
        ("赵卫东(患者)", "赵卫东"),
        ("赵卫东患者今天来", "赵卫东"),
        ("我是赵卫东的家属", "赵卫东"),
        ("刘洋家属来电", "刘洋"),
        ("刘洋昨天没来", "刘洋"),
        ("叫刘洋的患者", "刘洋"),
        ("外甥女苗圃", "苗圃"),
        ("孙女凤小岳", "凤小岳"),
        ("岳父刘洋,姐夫王强,表弟李明", "刘洋 王强 李明"),
        ("患者之子刘洋", "刘洋"),
        ("保姆方芳,邻居俞飞鸿", "方芳 俞飞鸿"),
        ("陪同者任嘉伦", "任嘉伦"),
        ("患者本人袁弘", "袁弘"),
        ("患者名:刘洋", "刘洋"),
        ("患者-唐嫣", "唐嫣"),
        ("患者姓滕", "滕"),
        ("联系人(儿子):刘洋", "刘洋"),
        ("签字:曹操", "曹操"),
        ("主治医生华佗建议", "华佗"),
        ("报告医生:刘洋", "刘洋"),
        ("研究者魏征签字", "魏征"),
        ("CRC 姜文,PI 戚继光", "姜文 戚继光"),
        ("记录人:刘洋,审核者 王强", "刘洋 王强"),
        ("于先生,管女士", "于 管"),
        ('name: "Liu Yang"', "Liu Yang"),
        ("subject name: liu yang", "liu yang"),
        ("Pt Liu Yang", "Liu Yang"),
        ("Patient name: JOHN SMITH", "JOHN SMITH"),
        ("Dr. Chen Ming called", "Chen Ming"),
        ("患者Wang Xiaoming", "Wang Xiaoming"),
        ("Liu Yang, male, 58", "Liu Yang"),
        ("患者L.Y.复查", "L.Y."),
    ],
)
def test_a_name(text: str, names: str) -> None:
    masked = mask(text)
    assert not [name for name in names.split() if name in masked], masked


def test_each_name_of_a_list_gets_its_own_placeholder() -> None:
    assert mask("患者王五、赵六和钱学森") == "患者[姓名#1]、[姓名#2]和[姓名#3]"


@pytest.mark.parametrize(
    "text",
    [
        "受试者应年满18周岁",
        "受试者及其配偶应避孕",
        "育龄女性及其伴侣、配偶应采取有效避孕措施",
        "受试者应同意并签署",
        "受试者应完成V3",
        "受试者应能理解",
        "受试者应至少禁食8小时",
        "受试者应立即停药",
        "受试者应定期随访",
        "受试者应永久停用",
        "受试者应建立随访档案",
        "患者连用3天",
        "患者连续服药",
        "妻子常年服药",
        "病人都已签字",
        "病人从头到尾多少周",
        "家属应陪同",
        "家属应签字",
        "家属方可离开",
        "监护人应签署",
        "见证人应在场",
        "签名应清晰",
        "家属都同意",
        "家属全程陪同",
        "患者利福平治疗",
        "患者伊立替康化疗",
        "患者司美格鲁肽0.5mg",
        "患者康柏西普注射",
        "患者李斯特菌感染",
        "患者时有胸闷",
        "患者明天来",
        "患者丁卡因过敏",
        "患者贝伐珠单抗",
        "患者艾司唑仑",
        "患者莫西沙星",
        "患者石杉碱甲",
        "患者华法林在用",
        "患者沙利度胺",
        "患者曲妥珠单抗",
        "患者高钾血症",
        "患者高敏肌钙蛋白升高",
        "患者黄体功能不全",
        "患者窦性心律",
        "患者方便时来",
        "患者班级",
        "患者易怒",
        "患者幸好无碍",
        "患者国产药",
        "患者全麻手术",
        "患者古铜色皮肤",
        "患者周三来院",
        "患者名单",
        "受试者名额已满",
        "病人周四过来",
        "患者于国内就诊",
        "患者从江苏来",
        "患者成功入组",
        "患者当天离院",
        "其子宫内膜增厚",
        "朋友圈",
        "邻居家",
        "同事们",
        "外甥女高血压",
        "医生处方",
        "医生于当日",
        "研究者判断与药物有关",
        "研究者应向受试者说明",
        "研究者方案培训",
        "护士站",
        "护士长",
        "主任医师",
        "责任护士",
        "CRC 提醒",
        "PI 应签字",
        "记录人应签名",
        "系主任",
        "班主任",
        "主张医生参与",
        "谢谢老师",
        "每 **4 周** 访视",
        "顺铂 3周×6周期",
        "放疗5次/周×5周",
        "第4周X线复查",
        "紫杉醇每周×12次",
        "每12周*",
        "**高**风险",
        "Patient Reported Outcomes",
        "Patient Health Questionnaire",
        "Subject Information Sheet",
        "Drug name: Sodium Chloride",
        "Form name: Adverse Events",
        "Name: Adverse Event",
        "name: ALT AST",
        "Patient Global Assessment",
        "Subject Disposition",
        "Visit name: Day One",
        "Study Name: Lung Cancer Trial",
        '{"name": "query_record"}',
        '{"name": "阿司匹林"}',
        "姓名:未填",
        "姓名: NA",
        "姓名应为全名",
        "姓名是必填项",
        "姓名字段不导出",
        "姓名是否填写",
        "姓名|性别|年龄",
        "名字都列给我",
        "患者张力性气胸",
        "受试者高峰值",
        "姓名拼音缩写",
        "请核对姓名",
        "查一下方案",
        "查血常规",
        "复查平扫",
        "联系方式",
        "通知单",
        "看全文",
        "和安慰剂相比",
        "高峰的",
        "常规的检查",
        "国庆访视算不算超窗",
        "平均,58岁",
        "高龄 80岁",
        "成年 18岁",
        "安慰剂、高血压",
        "白天电话随访",
    ],
)
def test_a_sentence_without_a_name_stays(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "text", ["每周×12次", "4 周×3", "5次/周×5周", "第4周X线", "每 **4 周** 访视"]
)
def test_a_week_is_not_the_known_mr_zhou(text: str) -> None:
    assert mask(text, Known.of({"name": ["周明"]})) == text


@pytest.mark.parametrize("text", ["周先生", "老周", "周某", "张**", "患者张XX"])
def test_the_known_mr_zhou_and_mr_zhang_in_passing(text: str) -> None:
    assert PLACEHOLDER.search(mask(f"{text}的血压", Known.of({"name": ["周明", "张三"]})))


@pytest.mark.parametrize(
    "piece",
    [
        "患者",
        "王建国、",
        "[姓名#1]、",
        "name: ",
        "Liu ",
        "刘 ",
        "高",
        "应",
        "张·",
        "Patient ",
        "姓名",
        "医生:",
        "查",
        "a.",
        "(王",
    ],
)
def test_repetition_does_not_keep_a_worker_busy(piece: str) -> None:
    assert mask(piece * 4000) is not None
