"""Word families of the trade: features that stand for many words the training data never shows."""

import re
from itertools import combinations

CONCEPTS = {
    "subject": r"[§¤]",
    "everyone": r"全部|所有|全员|全体|每个人|批量|大家|各个|all ",
    "fact": r"血|肌酐|尿|肝功|肾功|心电|化验|体重|身高|体温|心率|脉搏|血氧|年龄|多大|几岁|性别|男"
    r"|女|病史|过敏|吃药|剂量|诊断|分期"
    r"|病理|指标|评分|得分|量表|结果|ct|mri|b超|彩超|胸片|ecog|alt|ast|bmi|psa|wbc|plt|hb|qtc"
    r"|kps|nrs|住院|手术|随机|组别|入组"
    r"|签|状态|情况|资料|信息|病历|电话|依从性|白细胞|胆红素|蛋白|基因|肿瘤|病灶|疗效|lab",
    "event": r"s?ae(?![a-z])|不良事件|不良反应|susar|合并用药|方案偏离|偏离|违背",
    "how many": r"多少|几[例个人位名条份起次]|总数|合计|人数|例数|统计|总共|一共|数一?[下数]|占比"
    r"|比例|百分"
    r"|how many|number of|count|total",
    "trend": r"趋势|走势|走向|变化|曲线|折线|越来越|快了|慢了|多了|少了|增|减少|上升|下降|涨|跌"
    r"|环比|同比|逐[月周年]|每[月周]|按[月周]"
    r"|对比|比较|预[测计]|速度|提速|放缓|是升是降|波动|入满|高峰|trend|curve|over time|increas"
    r"|compar",
    "text": r"标准|方案|入选|排除|入排|知情同意书|知情书|icf|crf|终点|版本|第#版|规定|要求|定义"
    r"|条款|原文|上限|下限|界值|洗脱|窗口期"
    r"|给药|盲|随机方法|样本|流程|时限|protocol|criteria",
    "may": r"能.{0,6}[吗不]|可以|允许|要不要|算不算|会不会|能不能|可不可以|得多少|需要|必须|禁"
    r"|can |allowed",
    "project": r"项目|课题|试验|研究|负责人|申办|注册|伦理|批件|家中心|经费|资助|阶段|招募|启动"
    r"|结题|编号|联系|牵头|单位|合作|监查员|cro"
    r"|pi(?![a-z])|nct|chictr|家医院|sponsor|study|phase|几期|全称|名称",
    "visit": r"¶|访视|随访|窗|逾期|复查|复诊|来院|该来|回来|visit|overdue|due|window",
    "when": r"什么时候|哪天|几号|何时|啥时候|日期|多久|几天|明天|今天|下周|这周|本周|when|date",
    "check": r"质控|核查|核对|核一|核验|核实|校验|自查|审核|核$|核下|排查|清理|sdv|verify|check"
    r"|validat",
    "past": r"上次|上回|之前|以前|当时|当初|去年|那次|那会|过去|历史|曾|最早|最初|一开始|上周"
    r"|上个?月|上期|上一|例会|会上|会议|开会|讨论|决定"
    r"|怎么定|说过|last|previous|decided",
    "why": r"为什么|为啥|为何|原因|怎么会|咋|理由|why",
    "report": r"周报|月报|季报|年报|日报|双周报|报告|简报|总结|小结|汇报|材料|report|summary",
    "make": r"出[一份个]?|写|生成|整|弄|做|起草|搞|来[一份个]|给我|发我|准备|补|draft|write"
    r"|generate",
    "who": r"谁|哪[个位些几一]|那[个位]|有没有人|有人|哪种|哪家|有没有病人|which|who|any |list|列",
    "write": r"录|登记|填|改成|改为|改一?下|更新|新增|添加|新建|删|补|标[为成记]|写进|写入|记进"
    r"|记上|导入|上传|撤销"
    r"|提交|update|add |delete|enter|mark",
    "memory": r"记住|以后|今后|往后|下次|下回|每次|提醒|偏好|喜欢|习惯|记得|忘|备忘|备注|从现在"
    r"|称呼|默认|约定|爱看|只看"
    r"|remember|remind|from now|prefer",
    "blame": r"👎|💩|😡|🙄|错|不对|不准|有误|太|啰嗦|废话|没用|不行|看不懂|差|不是|搞反|弄混|答非"
    r"|垃圾|慢|乱|wrong|not |bad|useless",
    "praise": r"不错|很好|真棒|准|赞|👍|👏|厉害|满意|优秀|完美|好用|靠谱|good|great|perfect|nice"
    r"|helpful",
    "greeting": r"你好|早|晚安|午安|下午好|谢|辛苦|拜|再见|收到|好的|嗯|ok|hi$|hello|thank|bye|🙏"
    r"|🌹|😊",
    "you": r"你|小助手|助手|机器人|you",
    "ability": r"能干|能做|会什么|会啥|会哪|功能|怎么用|使用|帮助|技能|是谁|叫什么|叫啥|help"
    r"|can you",
    "outside": r"天气|气温|下雨|下雪|冷不冷|热不热|股|基金|彩票|电影|电视剧|歌|诗|笑话|段子|故事"
    r"|小说|菜|做饭|好吃|火锅|餐厅|外卖|食谱|旅游"
    r"|景点|机票|高铁|酒店|球|星座|运势|算命|翻译|代码|python|java|游戏|减肥|房价|房贷|汇率|快递"
    r"|手机|电脑|孩子|宝宝|离婚|恋爱|太阳|地球"
    r"|weather|joke|poem|song|movie|recipe|world",
    "family": r"[我咱](?:家|们家)?(?:爸|妈|爷|奶|外婆|外公|儿子|女儿|闺女|孩子|老婆|老公|媳妇|姥"
    r"|丈母|岳父|姐|弟|妹|哥|姑|舅|叔|朋友|邻居|同事)",
    "privacy": r"身份证|住址|手机号|联系电话|联系方式|姓名|名单|隐私|导出",
    "number": r"#",
}
FACT = re.compile(CONCEPTS["fact"])
_CONCEPTS = [(name, re.compile(pattern)) for name, pattern in CONCEPTS.items()]


def concepts(stripped: str) -> set[str]:
    """Return the families a stripped text touches, and their pairs."""
    present = [name for name, pattern in _CONCEPTS if pattern.search(stripped)]
    return {f"@{name}" for name in present} | {f"@{a}@{b}" for a, b in combinations(present, 2)}
