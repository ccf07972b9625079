"""Numbers, accounts and places that are identifiers; the measurements and words beside them are none."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.values import PLACEHOLDER
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known


def mask(text: str, *known: Known) -> str:
    return str(Gate(known, today=date(2026, 11, 21)).text(text))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        *((text, "1234567") for text in (
            "住院号（旧）：1234567", "住院号(新)1234567", "住院号 (新) 1234567", "检验单号 1234567",
            "ID号：1234567（门诊）",
            "门（急）诊号 1234567", "EMPI 1234567", "EMPI:1234567", "accession number 1234567",
            "hospital_no=1234567",
            "patient_id: 1234567", "PatientID=1234567", "医保编码 1234567", "一卡通号1234567",
            "住院号：1234567/12",
            "passport no: EA1234567", "Passport: E1234567", "passport number is E1234567",
            "national ID 1234567",
        )),
        ("电话（家）：62756789", "62756789"),
        ("手机(儿子)：62756789", "62756789"),
        ("身份证(正面)G1234567", "G1234567"),
        ("床号12", "12"),
        ("3病区12床", "12"),
        ("12床患者ALT高", "12"),
        ("病床：A区12", "A区12"),
        ("车牌 沪A12345", "A12345"),
        ("开京AD12345来的", "AD12345"),
        ("WeChat ID is lisi_1980", "lisi_1980"),
        ("wechat: lisiwang", "lisiwang"),
        ("微信号lisiwang", "lisiwang"),
        ("微信 lisi-1980", "lisi-1980"),
        ("薇信:lisi1980x", "lisi1980x"),
        ("lisi1980(at)qq(dot)com", "lisi1980"),
        ("lisi1980@qq(dot)com", "qq"),
        ("Address: No. 12, Pingjiang Road, Suzhou", "Pingjiang"),
        ("老家在安徽阜阳颍上县黄桥镇", "黄桥"),
        ("籍贯:河南省信阳市固始县", "固始"),
        ("住宅:翠湖花园8-2-301", "翠湖"),
        ("他是四川省凉山州昭觉县支尔莫乡人", "支尔莫"),
        ("交通路12号", "交通路"),
        ("住址:和平区南京路12号", "和平"),
        ("家庭地址：应城市东马坊街道", "应城"),
    ],
)  # fmt: skip
def test_a_number_an_account_or_a_place(text: str, secret: str) -> None:
    assert secret not in mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "WeChat reminder sent", "微信integration", "vx ratio 12345", "WeChat message failed",
        "QQ plot residuals",
        "微信 20240315 已通知", "WechatCallbackController", "WeChat plug-in",
        "门诊 20240315", "急诊:20240315", "样本编号 S001-V2-01", "样本号 V2-001", "this 1234",
        "血小板计数15000000000/L", "血小板 15000000000 /L", "病毒载量 15912345678", "病毒载量:15912345678",
        "HBV-DNA 15912345678",
        "淋巴细胞 13800138000 个/L", "RBC 4500000000000/L", "起床后2小时", "床旁超声", "开放床位12床位",
        "卧床3天",
        "住址和联系方式请填写在知情同意书", "回调地址可访问", "住址和出生日期须核对", "请把地址发给CRC",
        "地址栏为空",
        "联系地址字段已标记identifier", "IP地址可访问", "静脉通路2号", "神经通路3号", "信号通路3号位点",
        "腹部正中线路2号",
        "现住院治疗", "家住外地", "家住较远", "上海市第一人民医院", "北京市朝阳区某街道社区卫生服务中心",
        "基因A12345", "批号 A240301", "受试者ID号 P001",
    ],
)  # fmt: skip
def test_study_text_stays(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("住院号1234567、1234568、1234569", "住院号[就诊号#1]、[就诊号#2]、[就诊号#3]"),
        ("住院号:1234567/1234568", "住院号:[就诊号#1]/[就诊号#2]"),
        ("住院号1234567,1234568和ZY1234569", "住院号[就诊号#1],[就诊号#2]和[就诊号#3]"),
        ("微信abc12345、def12345", "微信[账号#1]、[账号#2]"),
        ("电话 1234567;7654321", "电话 [电话#1];[电话#2]"),
        ("护照E12345678、E12345679", "护照[证件号#1]、[证件号#2]"),
        ("住院号1234567,38,41", "住院号[就诊号#1],38,41"),
        ("住院号1234567、65岁", "住院号[就诊号#1]、65岁"),
        ("住院号1234567、130/80mmHg", "住院号[就诊号#1]、130/80mmHg"),
        ("住院号1234567,20240315入院", "住院号[就诊号#1],20240315入院"),
        ("住院号1234567,2024-03-15入院", "住院号[就诊号#1],2024-03-15入院"),
        ("住院号1234567、12345 copies", "住院号[就诊号#1]、12345 copies"),
        ("微信abc12345,follow-up", "微信[账号#1],follow-up"),
        ("电话62756789,1500000 IU/mL", "电话[电话#1],1500000 IU/mL"),
    ],
)  # fmt: skip
def test_a_list_behind_one_cue(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_a_record_id_in_a_list_stays() -> None:
    assert (
        mask("住院号1234567、P00123", Known.of({}, keep=["P00123"])) == "住院号[就诊号#1]、P00123"
    )


@given(
    st.lists(st.integers(1_000_000, 9_999_999), min_size=2, max_size=6),
    st.sampled_from("、,/;和及"),
)
def test_every_number_of_a_list(numbers: list[int], joint: str) -> None:
    masked = mask(f"住院号{joint.join(map(str, numbers))}。")
    left = PLACEHOLDER.sub("", masked)
    assert not any(str(number) in left for number in numbers)


SHORT = Known.of({"hospital_no": ["13080", "20240315", "7654321"], "name": ["高飞", "测试甲"]})


@pytest.mark.parametrize(
    "text",
    [
        "BP 130/80 mmHg", "130,80", "130 80", "130-80", "13.080", "13:08:0", "2024-03-15访视", "2024.3.15",
        "2024/03/15",
        "2024 03 15", "血压高;飞蚊症", "血压高:飞蚊症", "血压高(飞蚊症)", "血压高+飞蚊症", "76543.21",
        "765/4321",
    ],
)  # fmt: skip
def test_a_short_known_value_is_no_pair_and_no_date(text: str) -> None:
    assert mask(text, SHORT) == text


@pytest.mark.parametrize(
    "text",
    ["13080", "1 3 0 8 0", "20240315", "2024 0315", "7654321", "765-4321", "765 43 21", "7654321床", "高飞",
     "高 飞",
     "高·飞", "高.飞", "高-飞", "高(飞)", "高\n飞", "测;试;甲", "测(试)甲"],
)  # fmt: skip
def test_a_short_known_value_is_found(text: str) -> None:
    left = PLACEHOLDER.sub("", mask(f"问{text},", SHORT))
    assert not any(char.isdigit() or char in "高飞测试甲" for char in left), left


@pytest.mark.parametrize(
    ("row", "sent"),
    [
        ({"field": "name", "value": "赵卫东"}, {}),
        ({"finding": {"field": "name", "value": "赵卫东"}, "n": 1}, {"finding": {}, "n": 1}),
        ({"x": {"y": {"label": "患者姓名", "old": "赵卫东"}}}, {"x": {"y": {}}}),
        ({"finding": {"field": "alt", "value": "38"}}, {"finding": {"field": "alt", "value": "38"}}),
        *(({key: "x1", "alt": "38"}, {"alt": "38"}) for key in (
            "phoneNumber", "homeAddress", "mobilephone", "telno", "subjname", "name_cn", "cn_name", "brxm",
            "dianhua",
            "emr_no", "patientName", "PatientName", "idCard", "hospitalNo", "braf_mut", "egfr_mut", "EGFR_MUT",
            "egfrMut",
        )),
        *(({key: "x1"}, {key: "x1"}) for key in (
            "egfr", "eGFR", "drug_name", "drugName", "drug_name_cn", "visit_no", "mutual", "HbA1c", "NTproBNP",
            "telomere",
            "cellCount", "AEName",
        )),
    ],
)  # fmt: skip
def test_rows_by_the_names_of_their_fields(row: object, sent: object) -> None:
    assert json.loads(Gate().data(row)) == sent
