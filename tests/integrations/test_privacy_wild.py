"""Identifiers of strangers as hospital staff type them, and the clinical text beside them that must stay."""

from __future__ import annotations

from datetime import date

import pytest

from core.language.values import PLACEHOLDER
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known


def mask(text: str, *known: Known) -> str:
    return str(Gate(known, today=date(2026, 11, 21)).text(text))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        *((text, "5678") for text in (
            "打138-1234 5678找他", "他的号码 138 1234-5678", "138 (1234) 5678", "(138)1234 5678",
            "1381 2345 678 或 1381-234-5678", "138～1234～5678", "138·1234·5678", "手机:138*1234*5678",
            "手机 138 - 1234 5678", "Tel:+86(138)1234-5678", "TEL：１３８－１２３４－５６７８",
            "联系方式=13812345678", "微信同号13812345678", "固话 025-8371 5678", "宅电:83715678",
            "打83715678找家属", "短号65678", "分机 15678", "传真:8371-5678",
        )),
        ("一三八-一二三四-五六七八九", "五六七"),
        ("幺三八 一二三四 五六七八九", "五六七"),
    ],
)  # fmt: skip
def test_a_telephone_number(text: str, secret: str) -> None:
    assert secret not in mask(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("身份证:32010219850307123x", "123x"),
        ("证件号码=320102198503071234", "1234"),
        ("身份证号码(320102198503071234)", "1234"),
        ("3201 02 1985 0307 1234", "1234"),
        ("320102-1985-0307-1234", "1234"),
        ("３２０１０２１９８５０３０７１２３Ｘ", "0307"),
        ("15位老身份证320102850307123", "850307"),
        ("身份证后四位1234", "1234"),
        ("手机尾号5678的那位", "5678"),
        ("港澳通行证 C12345678", "C1234"),
        ("居住证号 12345678", "1234"),
        ("驾驶证号 320102345678", "3201"),
        ("士官证号 1234567", "1234"),
        ("建行卡 6217 0012 3456 7890", "7890"),
        ("医保编号：A12345678", "A1234"),
        ("住院号 = 88231", "88231"),
        ("住院号#88231", "88231"),
        ("住院流水号 88231", "88231"),
        ("病历本号88231", "88231"),
        ("门诊卡号 88231", "88231"),
        ("诊疗卡 No.88231", "88231"),
        ("条形码 88231", "88231"),
        ("挂号单号 88231", "88231"),
        ("体检编号 88231", "88231"),
        ("档案号:88231", "88231"),
        ("病员号 88231", "88231"),
        ("放射号 88231,超声号 88232", "8823"),
        ("patient ID 88231", "88231"),
        ("zhang.wei[at]163.com", "zhang"),
        ("zhang.wei at 163.com", "zhang"),
        ("zhangwei 艾特 qq.com", "zhangwei"),
        ("zhang.wei#163.com", "zhang"),
        ("zhang.wei@163。com", "zhang"),
        ("微信(zhangwei88)", "zhangwei"),
        ("WeChat ID: zhangwei88", "zhangwei"),
        ("加微zhangwei88", "zhangwei"),
        ("QQ号码 12345678", "1234"),
        ("支付宝账号：zhangwei88", "zhangwei"),
        ("家庭地址(六合区马鞍街道城西村)", "城西村"),
        ("住玄武区锁金新村", "锁金"),
        ("阳光花园5栋2单元301", "301"),
        ("长江路三号", "三号"),
        ("No. 88 Zhongshan Road, Nanjing", "Zhongshan"),
        ("邮编100083", "100083"),
    ],
)
def test_a_number_an_account_or_a_place(text: str, secret: str) -> None:
    assert secret not in mask(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *((text, "张伟") for text in (
            "姓名(张伟)", "姓名 = 张伟", "姓名【张伟】", "姓名“张伟”", "姓 名：张伟", "姓名|张伟|男",
            "患者(张伟)血压高", "患者“张伟”今日入组", "他叫张伟,58岁", "曾用名张伟",
            "联系人=张伟", "监护人(张伟)", "法定代理人：张伟", "签字人:张伟", "其子张伟陪同",
            "张伟(男,58岁)", "张伟,男,58岁", "张伟 女 45岁", "张伟同志",
        )),
        ("小朋友姓名张小伟", "张小伟"),
        ("Patient name=Zhang Wei", "Zhang"),
        ("name: ZHANG WEI", "ZHANG"),
        ("Mr. Zhang came", "Zhang"),
    ],
)  # fmt: skip
def test_a_name(text: str, name: str) -> None:
    assert name not in mask(text)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("生于1990年3月7号,女", "年龄36岁,女"),
        ("出生日期=1990-03-07", "年龄36岁"),
        ("DOB=1990-03-07", "年龄36岁"),
        ('"dob": "1990-03-07"', '"年龄36岁"'),
        ("born on 1990-03-07", "年龄36岁"),
        ("她是1990年3月7日生的", "她是年龄36岁的"),
        ("19900307出生", "年龄36岁"),
        ("3月7日出生", "[出生日期#1]出生"),
        ("90年3月7日出生", "[出生日期#1]出生"),
        ("生日90-3-7", "生日[出生日期#1]"),
        ("1990年3月出生", "[出生日期#1]出生"),
        ("一九九〇年三月七日出生", "[出生日期#1]出生"),
        ("农历1990年二月十一出生", "农历[出生日期#1]出生"),
        ("生日三月七号", "生日[出生日期#1]"),
    ],
)
def test_a_date_of_birth(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "between", ["～", "~", "(", ")", "+", ":", "；", "：", "〜", "ー", "*", " ~ ", ") "]
)
def test_a_known_number_whatever_stands_between_its_groups(between: str) -> None:
    known = Known.of({"phone": ["19812345678"], "hospital_no": ["ZY9000001"]})
    for text in (f"198{between}1234{between}5678", f"ZY9000{between}001"):
        assert not any(char.isdigit() for char in PLACEHOLDER.sub("", mask(text, known)))


@pytest.mark.parametrize(
    "text",
    [
        "ALT 138 U/L, AST 1234 U/L", "血小板 138 150 162 171 180", "参考值 135-145 mmol/L",
        "139 1234,5678", "1444, 266, 1018", "1301, 1360, 616", "剂量 1500, 200, 180 mg",
        "HBV-DNA 13812345678 IU/mL", "NT-proBNP 13500 pg/mL", "HR 0.68 (95% CI 0.52-0.89)",
        "1500 mg, 2000 mg, 2500 mg", "BP 138/85, 140/90, 135/88", "CA125 138.5 U/mL, CEA 3.2 ng/mL",
        "WBC 3.5-9.5 10^9/L", "CT值 1200 HU", "出生体重 3200 g", "体温 36.5-37.2",
        "卡培他滨 1000 mg/m2 bid d1-14", "10-20 mg q12h 08:00 20:00", "PK 0, 0.5, 1, 2, 4, 8, 24 h",
        "一三五隔日给药", "保留小数点后3位", "打 5 mg", "打针 3 次", "拨打3次未接",
        "2026-03-07 访视V3", "3月7号来访视", "1990年3月7日手术", "3月7日生化检查",
        "2026年3月7日生效", "2026-03-07 生化:ALT 38", "2026-03-07T08:30:00", "26-03-07",
        "2026-03-07 10:30:00 至 2026-03-07 11:45:00", "20260307-20260321", "窗口 2026-03-21 ~ 2026-04-04",
        "电话 2026-03-07 未接", "微信 2026-03-07 已通知", "住院病历2026-03-07", "检验 2026-03-07",
        "SH-01-003 入组", "随机号 R0123, 筛选号 S-0020", "AE编号 AE-003", "中心编号 03",
        "NCT03012345 与 ChiCTR1900012345", "CTR20260001", "EudraCT 2019-001234-56",
        "伦理批件号 2026-KY-0123", "药物批号 20260115", "国药准字H20123456", "版本 1.0.2.3456",
        "姓名(必填)", "姓名、性别、年龄", "姓名保密", "性别:男", "已婚,女", "农民,男", "成人,男女不限",
        "父亲高血压病史", "母亲(乳腺癌)", "配偶体健", "家属同意", "丈夫代签", "联系人关系", "签名处空白",
        "患者高钾血症", "患者温和", "患者平时血压 130/80", "患者(n=30)", "受试者(安全集)共30例", "病人常诉乏力",
        "地址见方案附录", "地址信息不详", "住院部 3 楼", "住普通病区三天", "住在哪个病区", "邮箱未填",
        "registered at clinicaltrials.gov", "ALT at 1.5 ULN",
    ],
)  # fmt: skip
def test_clinical_text_stays(text: str) -> None:
    assert mask(text) == text
