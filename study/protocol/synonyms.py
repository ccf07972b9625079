"""Other words for what a protocol calls by one name.

A table per study helps more than any choice of library (reference/redcap_dify.md 3.2): the study's own
`Project.synonyms` come on top of these, which hold for any clinical study.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

GROUPS: Sequence[Sequence[str]] = tuple(
    tuple(line.split())
    for line in """
转氨酶 ALT AST 肝功能 谷丙 谷草
胆红素 TBIL 肝功能
肌酐 Cr 肾功能 肌酐清除率
白细胞 WBC 血常规
中性粒细胞 ANC NEUT 粒细胞
中性粒细胞减少 粒缺 粒细胞减少
血小板 PLT 血常规
血红蛋白 HGB Hb 血色素
血糖 GLU
心电图 ECG QTc
体重指数 BMI
肿瘤标志物 CEA
腹泻 拉肚子 拉稀 闹肚子 稀便
皮疹 起疹子 出疹子 长疹子
恶心 想吐 反胃
呕吐 吐了 吐药
乏力 没劲 没力气 疲劳
食欲下降 没胃口 吃不下饭
口腔黏膜炎 口腔溃疡 嘴里长泡
发热 发烧 高烧
气促 气喘 喘不上气 憋气
黄染 黄疸 发黄
间质性肺炎 间质性肺疾病 间质肺 ILD
放射性肺炎 放疗后肺炎
脑卒中 中风
心肌梗死 心梗
高血压 血压升高 血压高
过敏 超敏反应
怀孕 妊娠 妊娠期 孕妇 有孕 怀上
妊娠试验 验孕 孕检 HCG
伴侣 配偶 老婆 妻子 爱人 女朋友
哺乳 哺乳期 母乳喂养 喂奶 奶孩子
避孕 节育
抽血 采血 血样 血标本
化验 实验室检查 检验 化验单
增强CT 影像 CT MRI 片子
阅片 读片 看片
疗效 RECIST 客观缓解率 ORR 肿瘤评估 影像评价 疗效评价
疾病控制率 DCR
无进展生存期 PFS
总生存期 OS
主要终点 主要研究终点 主要疗效指标
次要终点 次要研究终点 次要指标
分析集 分析人群 数据集
期中 中期
样本量 入组人数 例数
体力状态 体能状态 ECOG PS评分
疼痛 VAS 疼
吃药 服药 给药 用药 口服 服用
漏服 忘记吃药 忘吃 漏吃 忘服 没吃
补服 补吃 补上
停药 暂停用药 终止治疗 永久停用 暂停给药 停用 停研究药
减量 降低剂量 剂量调整 调整剂量 下调剂量 调药 怎么调 下调
上调 加回去 加量 增量
剂量 用量
依从性 服药率 吃药率
每日 每天 一天
早餐后 餐后 饭后 饭前 餐前 空腹吃
每片 一片
每瓶 一瓶
毫克 mg
毫升 ml
副作用 不良反应 不良事件 AE 毒副反应
严重不良事件 SAE
可疑且非预期的严重不良反应 SUSAR
相关性 因果关系 与研究药物的关系
死亡 致死 去世
入组 入选 纳入 参加 进组
入选标准 纳入标准 入组标准 入组条件
排除标准 不能入组 不得入组 除外
退出 脱落 撤回同意 中止 终止研究 不想参加 出组
提前终止 提前退出 提前出组
替换 补人 替补
筛选期 筛选访视 筛选
重新筛选 再筛 重筛 再次筛选
筛选失败 筛败
知情同意 知情同意书 ICF 签字 签知情
无阅读能力 不识字 文盲
公正见证人 见证人
合并用药 合用药 联合用药 伴随用药 禁用药
洗脱期 洗脱
禁用 禁用药物 禁药 违禁药
糖皮质激素 激素
随访 访视 复诊 回访 来院
时间窗 窗口期 窗口 访视窗
第一次访视 V1 访视1
第二次访视 V2 访视2
第三次访视 V3 访视3
第四次访视 V4 访视4
第五次访视 V5 访视5
第六次访视 V6 访视6
超窗 方案偏离 方案违背 PD
超期未访 没来访视 失访
计划外访视 计划外
顺延 往后推 往后延 推迟
改约 改期
随机 随机化 分组
揭盲 破盲 紧急揭盲
报销 补贴 补偿 交通费 车费
损害 赔偿
报告 上报 汇报
通知 告知
答复 回复
疑问 质疑 query
监查 CRA
整改 关闭 关掉
录入 录进 填报 上传数据
缺失代码 NA UNK ND
身份信息 隐私
账号 帐号
离岗 离职 辞职 调走
锁定 锁库
贮存 保存 存放 储存
保存 留存 保留 存档 归档
超出范围 超温 温度超了
效期 过期 有效期
余量 多发 多给 富余
遗失 丢了 弄丢 丢失
温湿度 温度
重大偏离 重大方案偏离 严重偏离
伦理委员会 伦理
批件 批准文件
主要研究者 PI
研究医生 医生 大夫
研究护士 护士
药物管理员 药师 药管
暂停 停过 叫停 停了 停止
提高 涨到 上涨 增加 上调
降到 降回 降低 下调 减少
春节 假期 节假日 过年
增派 加派 加人
当前 现在 目前 现行
年龄 岁
""".strip().splitlines()
)
"""Words of clinical studies that stand for one another, a group a line."""


@dataclass(frozen=True, slots=True)
class Synonyms:
    """The words of a question that have other words, and those."""

    said: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def synonyms_of(query: str, own: Mapping[str, Iterable[str]]) -> Synonyms:
    """Other words for what occurs in `query`, the study's own table first; without repetition."""
    text = _folded(query)
    groups = [[term, *others] for term, others in own.items()] + [list(group) for group in GROUPS]
    said = {word for group in groups for word in group if _occurs(_folded(word), text)}
    # "入选标准" does not speak of "入选": the longest word is the one that is meant.
    meant = {word for word in said if not any(word in other for other in said - {word})}
    others = (word for group in groups if meant & set(group) for word in group if word not in said)
    return Synonyms(
        tuple(sorted(meant, key=lambda word: (-len(word), word))), tuple(dict.fromkeys(others))
    )


def _occurs(word: str, text: str) -> bool:
    """Chinese words anywhere, Latin ones not inside another word; V2.1 is a version and speaks of no V2."""
    if not word.isascii():
        return word in text
    pattern = rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9]|\.\d)"
    return bool(word) and re.search(pattern, text) is not None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
