"""What somebody orders, by the form of the words alone: no model starts, stores or decides (design.md 5a.1).

A clause is an order where it has the form of an imperative; a question about a result never is one. What names
a deed in looser words is proposed and waits for a tap. The labels follow reference/intents_labels.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engines.assistant.read.records import PAD, cover, record_spans
from engines.assistant.read.spelling import normalise
from engines.assistant.read.task import Order, OrderKind

SUBJECT = "§"
_FILLED = re.compile(r"(?<![a-z0-9])\s+|\s+(?![a-z0-9])|[呃嗯]+(?=[^,]|$)")
_EDGE = re.compile(r"^[\s,。;:、!~.·\-]+|[\s,。;:、!~.]+$")
_PICTURE = re.compile(r"(?![👍👏💯😍👌❤👎😡🙄💩😤😠💔])[\U0001F300-\U0001FAFF\u2600-\u27bf\ufe0f]")
_LEAD = re.compile(
    r"^(?:然后|接着|顺便|顺带|顺手|另外|此外|还有|再者|并且|同时|完了|对了|而且|最后|那个(?![患病受人])"
    r"|什么(?=你|把)|那么?(?![个位些])|好的?(?=[,帮给把])"
    r"|继续|(?:and|then|also|btw)\b|@\S{2,6}|\(?\d[.、)](?!\d)|[\s,。;:、!~.])+"
)
# The words that make a clause a question: a closed class of the language.
_ASKS = re.compile(
    r"吗|(?<!什)么[?。]*$|没(?:有)?[啊呢?。]*$|有没有|有无|是否|是不是"
    r"|(?<!数)(?<![\u4e00-\u9fff])?([^\W\d])[不没]\1|什么|啥|怎[么样]|咋|哪|如何|为何"
    r"|谁|几(?![个例位条份天点](?:受试者|患者|病人|人)?(?:都|全|也|的|做|跑|给|质控|核)|乎)|多少|多久|何时"
    r"|呢[?。]*$|[?]"
    r"|\b(?:how|what|when|which|why|who|where|is|are|was|did|does|has)\b"
)
_TAG = re.compile(
    r"(?:,?(?:好|可以|行|成)(?:吗|么|不|吧)?|,?(?:好|行|可|要)不(?:好|行|可以|要)|,?谢谢(?:啦|了|哈)?"
    r"|,?辛苦(?:了|啦)?|,?please|,?thx)[?!。~]*$"
)
_FRONT = re.compile(
    r"^(?:请问,?)?(?:你|您)?(?:现在)?(?:能不能|可不可以|可否|能否|可以|能)(?=.*(?:帮|给|替|麻烦"
    r"|一[下遍份次]))(?P<rest>.*?)(?:吗|么)?[?]*$"
)
_PAST = re.compile(
    r"(?:上上?[次回个周月]|上一|之前|以前|刚才?|昨天|昨晚|去年|前几?[天周]|已经?|曾)(?!.{0,6}(?:录|入组|新|补"
    r"|改|漏|没|忘|失))"
)
_REFUSED = re.compile(
    r"^(?:你|就|这次|今天|现在|先|暂时|请|那|§|[日周月]报|质控|,)*(?:先?不用|不必|不需要|无需|别(?!忘)"
    r"|不要(?!忘)|先不|暂不|没必要|不想|不是要"
    r"|(?:请)?勿|严禁)(?!等)|(?:先?别|先不|不用|不必|暂不)再?(?:管|查|看|跑|录|做|写|出|弄|动|质控"
    r"|登记)?(?:它|他|了)*$"
    r"|^我?不问"
)

# --- quality control ---
_NAMED = r"质控|质检|(?<![a-z])qc(?![a-z])|sdv|edit ?check"
_CHECK = (
    rf"(?:{_NAMED}|核查|核对|核验|核实|校验|复核|审核|检查|排查|自查|逻辑核?查|查错|查漏"
    r"|eligibility check)"
)
_DO = r"(?:做|跑|走|来|搞|过|进行|执行|启动|开始|发起|安排|重跑|重做|补做|run|do|check|validate|verify)"
_ONCE = r"(?:一?[下遍次个轮趟把]|一回|流程|吧|呗|了|掉)"
_POLITE = (
    r"(?:请|麻烦|劳驾|烦请|帮忙|帮我|帮|给我|替我|跟我|你去|你来|你|我要|我想|要|直接|现在|马上|立刻|立即"
    r"|赶紧|赶快|快|先|再|就|去|来|也|都|顺便|顺手"
    r"|接着|然后|最后|重新|重|提前|强制|只|pls|please|can you|could you|,| )*"
)
_PLACE = r"(?:把|将|给|对|对于|针对|按|按照|拿|用|为|帮)"
_QC_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        # 质控P002, QC一下新入组的, 核查P003的数据
        rf"^{_POLITE}(?:整体|全面|double )?{_CHECK}(?:{_ONCE})*(?:on |for )?(?:受试者|患者|病人|id|:"
        rf"| )*(?:[§全所每]|新|一下|一遍|[一二三四五]中心)",
        # 给P001做质控, 把所有人的数据质控一遍, 对P009走一遍知情质控
        rf"^{_POLITE}{_PLACE}.{{1,30}}?(?:{_DO}{_ONCE}*.{{0,10}}?{_CHECK}|{_CHECK})(?:{_ONCE}|看看?|核|对|好"
        rf"|都)*$",
        rf"^{_POLITE}{_PLACE}.{{1,30}}?(?:[全都]|再|重新|也)*(?:核|审|查|过|捋|跑)(?:{_ONCE}"
        rf"|一[核审查])+(?:错|关|{_CHECK}|数据|逻辑|sdv|§)*(?:{_ONCE})*$",
        # 跑个质控, 做一次全库逻辑检查, run QC on P046, 执行核查
        rf"^{_POLITE}(?:质控质控|{_DO}{_ONCE}*.{{0,14}}?{_CHECK}|run qc|qc)(?:{_ONCE}|流程|走起| |on|for"
        rf"|again|everything|all|records|§|[,、和跟与]|and|全部的?|所有人?|一下)*$",
        # P014跑个质控, 全部受试者跑一遍质控, 安全性数据质控一下, P085入排核查做一下
        rf"^{_POLITE}(?:§|[^,]{{0,16}}?(?:受试者|患者|病人|人|中心|全员|全体|全库|数据|入排|ae|知情|安全性?"
        rf"|合并用药|用药|一致性)).{{0,14}}?(?:{_DO}{_ONCE}*.{{0,6}}?{_CHECK}|{_CHECK}{_POLITE}{_DO}{_ONCE}+"
        rf"|{_CHECK}(?:{_ONCE}|走起|看看)+|{_NAMED})(?:{_ONCE}|走起|看|我)*$",
        # P014质控, 全员质控, 质控 P002
        rf"^{_POLITE}(?:[§,、和跟与及到至~ ]|全员|全体|全部|所有|受试者|患者|的|数据|入排"
        rf"|安全性?)+(?:{_NAMED}|复核|核查)$",
        rf"^{_POLITE}(?:{_NAMED}) ?(?:[§,、和跟与及到至~ ]|都|一下)+$",
        # 再跑一次, 重新核一下 after something that was checked; 核完就出…
        r"^(?:please )?validate all|^check § data|^double check §|^run .{0,20}(?:qc|check)\b",
        rf"^.{{1,20}}(?:写|出|交|生成|提交|发).{{0,6}}(?:之前|前|以前)(?:你|先|再|把)*.{{0,12}}(?:{_CHECK}"
        rf"|核)(?:{_ONCE})+",
        r"^(?:§|[,、和跟与及]| )+(?:两个|一起|都|也|再)+(?:质控|核|核查|查)(?:一?[下遍])?$",
    )
)
_RESULT = re.compile(
    r"结果(?!不对|和|跟)|结论|走到|卡在|卡哪|进展|进度(?!报)|状态|历史|(?:质控|核查)记录|报告|发现|查出|提出"
    r"|测出|为什么"
    r"|原因"
    rf"|(?:{_NAMED}|核查|复核)(?:里|中|过的?(?!程)|了(?:的|没)|通过|没过|是|由|会|要|能|有|挂|失败|成功|几|多)"
    rf"|(?:做|跑|通)过|[被挨](?:质控|质检|核查|复核)|(?:谁|哪|几|没|未|不|还没)(?:做|跑|走)?(?:过)?(?:{_CHECK})"
    rf"|等.{{0,8}}(?:质控|复核)|(?:质控|复核)(?:的)?(?:人|员|规则|标准|流程图|办|频率)"
)
_DEED = re.compile(
    rf"{_CHECK}|{_PLACE}.{{1,24}}(?:跑|过)一?[遍轮次]|重新?跑|再跑|跑一?[下遍次]§|拿来?(?:标准)?去?核|一起核"
    rf"|validate all|sop.{{0,6}}跑|{_DO}.{{0,6}}sop|完整性|(?:{_PLACE}|帮忙|帮我|麻烦|请|再|全部|都|逐个"
    rf"|统一).{{0,24}}(?:核查?|核对|校验|捋|审)(?:{_ONCE}|看|核|对|$)"
    r"|(?:核|审|捋|查|过)一?遍|一?(?:核|审)一(?:核|审)|(?:核对?|校验|核查|审核|复核|验)(?:一?下|看)"
    r"|数据.{0,8}(?:矛盾|逻辑|毛病|漏项|漏的|错的|有错|把把?关)|录得.{0,4}错|捋一?[遍捋]|看.{0,10}(?:有没有"
    r"|是否|是不是)(?:漏|错|前后)|把(?:一?遍)?关|质量检查|一致性(?:核对|检查)|data consistency"
)
_FAULTS = re.compile(
    r"(?:有没有|有无|是否|是不是|符不符合?|合不合).{0,6}(?:矛盾|问题|毛病|漏|错|反|早于|晚于|入排|填反)"
    r"|那几[个例位]|几[个例位](?=都|全)"
)
_TELL = re.compile(r"(?:请|麻烦|你|帮我|给我|先|再|我想)*(?:说|讲|介绍|了解|谈|告诉|显示|列)")
_READS = re.compile(
    r"^(?:请|麻烦|你|帮我|给我|先|再|我想)*(?:说|讲|看|查(?!错|漏)|列|告诉|问|介绍|了解|谈|显示)|方案|标准是"
    r"|上限是|定义|规定|原件|源文件|sop(?:怎么|是|在)|(?:告诉|发)我|多少|统计|列出|名单"
)

# --- reports ---
_REPORT = (
    r"(?:[日周月季年]报|双周报|简报|早报|(?<!检查)(?<!病理)(?<!检验)(?<!化验)(?<!ct)(?<!影像)(?<!体检)(?<!心电"
    r")(?<!后续)(?<!sae)(?<!述职)报告(?!单|里|中|的)|小结|总结|汇总报告|汇报材料|进展?材料|进展汇报"
    r"|整改小结|(?:weekly|monthly|week \d+) (?:report|summary|update)|report|summary)"
)
_MAKE = (
    r"(?:出具?|生成|写|做|整|弄|搞|来|起草|拟|补|赶|发|给|要|交|汇总|产出|准备|总结|draft|make|write|prepare"
    r"|produce|send|summari[sz]e)"
)
_REPORT_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{_POLITE}(?:(?!述职)[^,]){{0,24}}?(?:{_MAKE})(?:出|成|个|一?[份个版段下篇页]|了|我|到"
        rf"|进)*.{{0,18}}?{_REPORT}",
        rf"^{_POLITE}[^,]{{0,18}}?{_REPORT}.{{0,12}}?(?:{_MAKE})(?:出|成|个|一?[份个版段下]|了|我|给我|上|吧"
        rf"|呗|好|起|就|掉|过来|进)*",
        rf"^{_POLITE}(?:本|这|今|当)?(?:[天日周月季年]|星期)?的?{_REPORT}(?:呢|一份|please|吧)?$",
        r"^(?:请|麻烦|帮我)?(?:汇总|总结)(?:一?下)?(?:本|这个?|今)(?:[天日周月季年]|星期|礼拜)",
        r"^(?:weekly|monthly) (?:report|summary)\b",
        rf"^{_POLITE}(?:出|写|做|整|弄|搞|补)(?:个|一?[份段]|了)*.{{0,8}}(?:进展|汇报)(?:给|发)?",
        r"^(?:顺便|顺手|再|就|把|也|那)*(?:本|这|今|上上?)个?[天日周月季年]的?(?:[日周月]报)?(?:也|先|现在|就"
        r"|再)*(?:出|写|做|给我?|补)(?:一?份|了|出)*$",
        r"写进[日周月季]报",
    )
)
_OLD_REPORT = re.compile(
    rf"(?:上[上两]?个?(?:次|期|周|月|星期|礼拜|季度)|上一|往[期年]|前[几两]|之前|以前|那份|第\d+[周期]"
    rf"|w\d+)的?.{{0,4}}{_REPORT}"
)
_MISSED = re.compile(r"补|漏|忘|没出|没发|没写|没生成|没做|重新?(?:出|生成|做)|还没|失了")
# What only makes a report, unlike 发 and 给, is no wish to read one that there is.
_MADE = re.compile(rf"^{_POLITE}(?:生成|起草|出具|(?:写|做)(?!的)|draft |make |write |generate )")
_ABOUT_REPORT = re.compile(
    rf"{_REPORT}(?:里|中|写得|写的|做得|说|讲|上|怎么|什么时候|是|都|太|呢.*(?:看|写)|(?:已经?)?(?:出"
    rf"|发)(?:了|过)?(?:没|吗))|(?<!没)(?:看|读|查(?!报)|翻|找)(?:一?下|看)?.{{0,6}}{_REPORT}"
    rf"|{_REPORT}.{{0,6}}(?:看看|翻|找|要点|主要内容)|不用|不急"
)

# --- memory ---
_KEEP = re.compile(
    r"^(?:请|你|帮我?|麻烦|给我|替我|永久)*(?:记住|记牢|记着点?|记好|记得(?!不|没|吗|么)|别忘了?|备忘"
    r"|remember (?!me)|please note|请?记录(?=[:,])|帮?我?记个事"
    r"|记注|记一下[:,]?(?!§)|记下来?[,: ]?|记一记|我?要记得|帮记)"
    r"|(?:记住|记牢|记着|记好|存好|存牢|存牢了|你知道就行|请知悉|记一下|记一记)[了啊哦吧哈点住]*$"
)
# How long the answers may be: 回复不超过五十个字.
_LENGTH = re.compile(
    r"^(?:请|麻烦|希望|你|给我的|我的|的|每次|所有|每条|,)*(?:回复|回答|答复|答案|汇报|消息)我?的?"
    r"(?:都|要|请|尽量|最好|必须|应该?|得|内容|字数|长度|控制|限制|压缩|限|在|到|不要?|别|勿|能|可以|超过?"
    r"|多于|最多|至多)*"
    r"(?:\d+|[一二两三四五六七八九十百]{1,5})个?字(?:以?内|之内|以下)?(?:吧|哈|谢谢)?$"
)
_WHOEVER = re.compile(r"(?:不管|无论|不论)[^,都]*都")
_WRITTEN = re.compile(r"\d|登记|体[温重]|完成|更新|标记|来着|的那个")
_LASTING = re.compile(
    r"^(?:那|请|你|给我的?|嗯|老样子)?,?(?:从(?:今天|现在|今)(?:往后|起|开始)?|从下[周月]起?(?:开始)?|以后"
    r"|今后|往后|下次|下回|每次|每当|凡是|默认|from now on)"
    r"(?!你是)(?!.{0,4}(?:访视|随访|来|复查|给药|什么时候|几号|哪天))"
    r"|(?:(?<![完了药])以后|今后|往后|从今往后|from now on)(?:都|就|别|不要|只|一律|也|按|发|每|都要"
    r"|统一)[^,]{0,14}$|(?:以后|from now on)$|^(?:[日周月]报|报数|提到|说到|谈到|提起).{0,6}(?:以后|都|只"
    r"|一律|带|的时候|按|用|精确)"
    r"|(?:按|照)(?:这个|此)(?:规矩|格式)"
)
_ME = r"(?:我(?!们这|要看|想看)|本人|我们组?|咱们?组?|我们科室?)"
_OWN = re.compile(
    rf"^(?:其实|对了|补充一下|更正一?下|纠正一?下|订正一?下|我[说写]错了|[,: ])*{_ME}(?:现在|目前|平时|主要"
    rf"|专门|一直|比较|特别|最|更|只|就|个人|不太|不|重点|一般)*"
    r"(?:喜欢|不喜欢|不爱|爱看|偏好|习惯|讨厌|关注|关心|在意|看重|看(?:安全|报告)|做.{1,8}工作|负责|分管|主管"
    r"|管(?!理员)|姓|叫(?!你)|只看|值夜班|换岗|不吃|眼睛|不会看"
    r"|是(?!说|想|问|要|让|来|在|不是|不|觉)[^,?把给]{0,12}?(?:科|中心|护士|医生|医师|药师|研究者|协调员"
    r"|监查员|crc|cra|pm|pi|新来的)|把.{1,6}叫)"
    r"|^(?:叫|称呼|喊)我(?!的)|称呼我"
)
_NOTICE = r"(?:通知|提醒|推送|推给|叫|喊|发)"
_SENT = re.compile(
    rf"^(?:请|麻烦|帮我|你|能不能|还是|最好|就|在|,)*(?:把)?(?:我的|消息)?(?:通知|提醒|推送)(?:我)?的?(?:时间"
    rf"|时刻|频率)?.{{0,6}}(?:改|换|调|设|挪|提前|推迟|早|晚)"
    rf"|(?:改|换|调|挪|移)[成到为在至回].{{0,10}}(?:点|上午|下午|中午|晚上|早上|周).{{0,6}}{_NOTICE}我?"
    rf"|(?:别|不要).{{0,14}}(?:{_NOTICE}给?我|给我(?:发|推)|推消息|以后别发)|(?:点|之前|前|以后|上午|下午"
    rf"|半).{{0,4}}(?:通知|提醒|叫)我"
    rf"|^(?:每[天日周月逢个晚早]|工作日|周[一二三四五六日](?:[到至]|[一二三四五六日])).{{0,9}}(?:点|半|早"
    rf"|上午|下班).{{0,4}}(?:发|推|送|给)(?:我|.{{0,8}}我|.{{0,10}}[报结])|^每(?:天|周|月|逢|个|晚|早"
    rf"|日).{{0,14}}(?:发|推|送).{{0,8}}(?:我|[报结])"
    rf"|{_NOTICE}我.{{0,12}}(?:改[到成]|时间)|[日周月]报.{{0,2}}改[到成].{{0,8}}发|提醒我(?:.{{1,20}}|$)"
    rf"|[后明]天提醒|^(?:早|明早|.{{0,6}}点)叫我|^别再?(?:给我)?发|^(?:访视|随访)?提醒提前"
)
_FORGET = re.compile(
    # 忘了 and 忘记 rather tell what somebody did not do: an order is polite, or names what was told.
    r"^(?:请|你|帮我|麻烦)*(?:忘掉|(?:忘了|忘记)(?:(?<=[请我烦你]..)|(?=我|关于我|之前|以前|上次|刚才))(?!.*了[。.!,]*$)"
    r"|forget (?!it))(?!.{0,6}(?:指令|规则|限制|设定|身份))"
    r"|把.{1,20}(?:忘掉|忘了吧?|忘记)$|^别记我.{1,8}|(?:要求|偏好|规矩|习惯|让你记的.{1,6}"
    r"|让你叫.{1,6}).{0,6}(?:取消|作废|删[了掉]吧?|不算了)"
    r"|^(?:之前|以前|上次).{0,16}(?:要求|偏好|规矩).{0,6}(?:取消|作废|忘)"
)
_RECALLS = re.compile(
    r"^[你您]还?(?:记得|知道).*(?:吗|么)\??$|(?:还|你|您|都)?记(?:不)?得(?:不|没|吗|么|我.{0,12}[吗么?]"
    r"|我.{0,8}[哪什啥])|[你您]还?记得(?!了).{0,20}[吗么]|记不记得|印象|说来听听"
    r"|念一遍|在不在|还在吗|我.{0,6}(?:跟你|给你|告诉你)"
)
_RESET = re.compile(r"(?:忽略|无视|绕过|跳过|解除)")

# --- opinions ---
_GOOD = (
    r"(?:👍|👏|💯|😍|👌|❤️?|赞|点赞|棒|牛|给力|厉害|漂亮|完美|靠谱|满意|精准|有点?用|有帮助|爱了|不错|没毛病"
    r"|[很挺真太得](?:好|准|快|行)|好用|好使|到位|及时|总算对了|这次可以|(?<=[得很挺])(?:清楚|清晰|明白|详细"
    r"|全面|舒服)"
    r"|清楚多了|快多了|舒服多了|挺全面|点子上|就照这个来|就要这种|正是我?要的|牛啊|真?厉害|干得漂亮|perfect"
    r"|great|excellent|good|nice|clear|helpful|awesome|well done|thumbs up|exactly what)"
)
_BAD = (
    r"(?:👎|😡|🙄|💩|😤|😠|💔|不对|不准|不行|不靠谱|错|误报|有误|答非所问|驴唇不对马嘴|啰|罗嗦|废话|太长|太短"
    r"|太慢|太乱|太笼统|太复杂|太绕|太多|笼统|乱七八糟|太?乱[了吧]|看不懂|看不过来|没看懂|没听懂"
    r"|看得头疼|看着累|没法看|没法用|没抓住|没说到|没找到|没说出来|(?<=[太真很])慢|^慢|太绕|得太?绕|笨|蠢"
    r"|胡扯|瞎|胡?扯|混了|弄反|说反|搞混|弄混|串了|对不上|不一样|过时|老掉牙|没必要|不认|听不明白|没看明白"
    r"|搞错|看错|查错|说错|算错|数错|拿错|答错|漏|不是我要的|两码事|不是这个|答不出|wrong|bad|not (?:good"
    r"|accurate|right|helpful)|incorrect|too long|verbose|useless|unclear)"
)
_OF_ANSWER = (
    r"(?:你|您|这|那|刚才?|上面|前面|上次|回答|回复|答案|答复|答得|答的|说得|说的|讲得|查得|数得|算得|写得"
    r"|画得|数字|数据|数|结果|格式|日期|字|重点|统计|缺失率|例数|这个|这次|这回|还是|又|还|都|很|真|太|挺|非常"
    r"|特别|有点|嗯|哎哟|好家伙|咋|怎么|全|总算|得|的|里|也|就|了|啊|吧|呀|啦|哈|嘛|么|一下|答|说|讲|查|写|看"
    r"|问|不|挺|蛮|比上次|继续|保持|干|把|连|可以|对|叫|这么|那么|more|very|so|it|is|this|that|the|answer|was"
    r"|too|i need|,| |!|。|\.|~)"
)
_JUDGED = re.compile(rf"{_GOOD}|{_BAD}", re.IGNORECASE)
_OF_ONE = re.compile(_OF_ANSWER, re.IGNORECASE)
_STUDY = re.compile(
    r"天气|你出过|快乐|血|肝|肾|心|体[重温]|年龄|身份|受试者|患者|病人|入组|筛|脱落|访视|方案|中心|化验|ae|药"
    r"|知情|录|填|写错|登记|数据管理"
)
_OTHER = 4
"""So many characters of an opinion may be about what it is an opinion of (这个图画得不错)."""
_CORRECTS = re.compile(
    r"^(?:你|您|又|咋|是不是|都|可|明明|刚才?|上面)*(?:把)?.{0,12}(?:看|弄|搞|算|数|说|理解|查|答|列|拿"
    r"|整)(?:错|反|混|串|岔)(?!误?率)[^吗?录填改]{0,6}(?:了|吧|啦|人)*$"
    r"|^(?:我|你)?(?:又|都|明明)?(?:不是|没有?)(?:让|叫|请|问)(?!题|过)|^不是(?:这个|那个|§)|^(?:我"
    r"|人家)(?:说|问|要|指|让你)的?是?.{1,12}你(?:却|给我|又|查)"
    r"|你.{0,8}(?:看成|查成|说成|写成|算成|搞错|弄反|弄混|漏算)|^(?:不对|错|胡扯|错得离谱|全错)[,吧了啊 ]*$"
    r"|^你(?:这)?.{0,6}(?:有误|对不上|不靠谱|不准|跟没说一样)"
    r"|我(?:问|要|说)的是|跟.{1,10}(?:对不上|不一样|不一致|两码事)|^是\d+不是\d+|^§?不是.{1,6}(?:是|,)"
    r"|不是.{1,6}(?:你搞错|你看错|你弄错)"
    r"|你怎么.{1,12}(?:算进去|进去了)|^能不能别|^别(?:扯|啰|废话|那么)|(?:这|那)(?:谁|都).{0,4}(?:看得?懂"
    r"|答不)|数?我不认"
)

# --- decisions, writing ---
_DECIDE = re.compile(
    rf"^{_POLITE}(?:批准|同意|驳回|拒绝|否决|核准|通过|放行)(?:了|掉|吧|一下|\s|这[个条]|那[个条]|review|复核"
    rf"|审核|审批|#|§|\d|的|[,:])*(?:[^吗?]{{0,12}})$"
    rf"|^{_POLITE}(?:把|将)?.{{0,14}}(?:复核|审核|审批|质疑|发现|违规|待办)(?:直接|给|都|全部|也)*(?:批准"
    rf"|同意|驳回|通过|关闭|关掉|关了|解决|结案|取消|撤销|删除|删了)(?:了|掉|吧|一下)*$"
    rf"|^{_POLITE}(?:关闭|关掉|取消|终止|停止|停掉|撤销|解决|消除|删除|清除|豁免)[^,吗?]{{0,14}}"
    r"(?:复核|审核|审批|质控|质疑|问题|发现|任务|流程|警告|运行)"
)
_UNDO = frozenset({"撤回", "撤销", "undo"})
_WRITE = re.compile(
    r"(?:补录|录入|录进|录成|录上|登记|记进|填进|填上|填成|写进(?:系统|表)|更新一下|标[成为记]|改[成为到]"
    r"|改过来|锁定|锁了|解锁|预约|改约|约上?|补条|补[成为到]|补上?质疑|加一条|新增一?条|添加一?条|作废|删除|删了|enter"
    r"|record)"
    r"|^(?:帮我|请|麻烦|给|替)*(?:记|录|登)(?:一?[条个笔下]).{0,12}(?:s?ae|不良事件|合并用药|方案偏离|cm"
    r"|就诊)|^(?:帮我|请|给|把|将|麻烦).{0,24}(?:录|填|登|记)(?:一?下|上|好|成)?"
    r"|^录|§.{0,16}\d.{0,8}(?:记一?下|记上|记进去|录)|(?:补|加)(?:个|一?条|上).{0,6}(?:s?ae|不良事件|合并用药"
    r"|质疑)|(?:推迟|提前|顺延|延后|挪|改)(?:到|至|成|\d|[一二两三]).{0,8}(?:天|周|号|日|点)?$"
    r"|^记.{0,4}(?:s?ae|不良事件)"
    r"|(?:脱落|失访|退出|死亡).{0,6}系统"
)


def masked(clause: str, pattern: str | None = None) -> tuple[str, tuple[str, ...]]:
    """A clause in one spelling, lower case, each subject a `§`, without what leads over to it; the subjects."""
    text = normalise(clause)
    spans = record_spans(text, pattern)
    covered = cover(text, spans, SUBJECT).replace(PAD, "").lower().replace("您", "你")
    covered = _EDGE.sub(
        "", _LEAD.sub("", _EDGE.sub("", _FILLED.sub("", _PICTURE.sub(" ", covered))))
    )
    return covered, tuple(dict.fromkeys(span.value for span in spans))


def order_of(clause: str, pattern: str | None = None) -> Order | None:
    """The order that one clause is; None for all else. `pattern`: of the study's record ids."""
    said, ids = masked(clause, pattern)
    if said in _UNDO:
        return Order(OrderKind.UNDO)
    kind = _memory(said if _RECALLS.search(said) else _NODDED.sub("", said)) or _opinion(said)
    if kind is not None:
        return Order(kind, ids)
    if _REFUSED.search(said):
        return None
    ordered = _TAG.sub("", said) if _TAG.sub("", said) else said
    front = _FRONT.match(ordered)
    ordered = front["rest"] if front else ordered
    if _DECIDE.search(ordered) and not _ASKS.search(ordered):
        return Order(OrderKind.DECIDE, ids)
    if (sure := _report(ordered)) is not None:
        return Order(OrderKind.REPORT, ids, sure)
    if (sure := _check(ordered)) is not None:
        return Order(OrderKind.QC, ids, sure)
    return None


def joined(clauses: Sequence[str]) -> list[str]:
    """The clauses; what is announced goes to its announcement (记住,…), a nod to what it is asked of (…,好吗),
    further subjects to their order (质控P006,P007的AE).
    """
    found: list[str] = []
    for clause in clauses:
        before = found[-1] if found else ""
        own = order_of(clause)
        is_told = _ANNOUNCED.fullmatch(before) and (own is None or own.kind is OrderKind.REMEMBER)
        is_nod = before and _NOD.fullmatch(clause)
        order = order_of(before) if before and _OBJECT.fullmatch(masked(clause)[0]) else None
        if is_told or is_nod or (order is not None and order.kind is OrderKind.QC):
            found[-1] = f"{before},{clause}"
        else:
            found.append(clause)
    return found


_ANNOUNCED = re.compile(
    r"(?:请|你|帮我|麻烦)*(?:记住|记牢|记一下|记下来?|备忘|提醒你一下|跟你交代一下|记得)[了啊哦吧:：]*"
)
_NOD = re.compile(
    r"(?:这样)?[你您]?(?:都)?(?:(?:记住|记下|记得|知道|明白|清楚|听懂)了?(?:吗|么|没有?)?|(?:好|可以|行|成"
    r"|ok)(?:吗|么|嘛|不)"
    r"|好不好|行不行|可以吗|存好|记好|记着)[?？。!！~]*",
    re.IGNORECASE,
)
_NODDED = re.compile(rf"[,。;! ]*(?:{_NOD.pattern})$")
_OBJECT = re.compile(r"§(?:[、和跟与及 ]*§)*(?:的?(?:ae|入排|数据|安全性?|用药|知情|访视))?")


def asks(clause: str) -> bool:
    """Whether a clause has the form of a question."""
    return bool(_ASKS.search(_TAG.sub("", masked(clause)[0])))


def writes(clause: str, pattern: str | None = None) -> bool:
    """Whether a clause wants data entered or changed, which nobody does here."""
    said, _ids = masked(clause, pattern)
    plain = _TAG.sub("", said)
    if _REFUSED.search(said) or _ASKS.search(plain):
        return False
    tail = said[len(plain) :]
    if "不" in tail and tail[0] != "," and not re.search("[帮请把将给替]|麻烦", said):
        # Whether it may be done is asked, where nobody is told to do it.
        return False
    return bool(_WRITE.search(said)) and not _memory(said)


def opinion(clause: str) -> tuple[bool | None, str | None]:
    """Whether an opinion is praise, None where its words leave it open; the reason of blame: too_long,
    inaccurate, unclear, None for another one. Praise and blame in one are blame: somebody should look at it.
    """
    said = masked(clause)[0]
    if re.search(_BAD, said) or _CORRECTS.search(said):
        return False, next((name for name, words in _REASONS if re.search(words, said)), None)
    return (True if re.search(_GOOD, said, re.IGNORECASE) else None), None


_REASONS = (
    ("too_long", "太长|啰|罗嗦|冗长|太多|废话|too long|verbose"),
    ("inaccurate", "不对|错|不准|有误|误报|对不上|不一致|不一样|wrong|incorrect|accurate"),
    ("unclear", "不清楚|懂|不明白|听不|乱|绕|unclear|confus"),
)


def _memory(said: str) -> OrderKind | None:
    """Something to be kept or forgotten; what asks for it is no order."""
    if _RECALLS.search(said) or _RESET.match(said):
        return None
    if _FORGET.search(said):
        return OrderKind.FORGET
    if _KEEP.search(said) and not (SUBJECT in said and _WRITTEN.search(said)):
        return OrderKind.REMEMBER
    said = _WHOEVER.sub("", said)
    if _ASKS.search(said) or (SUBJECT in said and not _LASTING.match(said)):
        return None
    kept = _LENGTH.search(said) or _LASTING.search(said) or _OWN.search(said) or _SENT.search(said)
    return OrderKind.REMEMBER if kept else None


def _opinion(said: str) -> OrderKind | None:
    """Praise or blame of an answer, or that another thing was asked for."""
    if _CORRECTS.search(said):
        return OrderKind.FEEDBACK
    if not _JUDGED.search(said) or _STUDY.search(said):
        return None
    left = _OF_ONE.sub(
        "", _JUDGED.sub("", said.replace(SUBJECT, "你" if "你" in said else SUBJECT))
    )
    is_asked = _ASKS.search(_JUDGED.sub("", said)) and "你" not in said
    return None if is_asked or SUBJECT in left or len(left) > _OTHER else OrderKind.FEEDBACK


def _report(said: str) -> bool | None:
    """Whether a report is ordered for sure; None where none is."""
    if not any(form.search(said) for form in _REPORT_FORMS):
        return None
    if _ABOUT_REPORT.search(said):
        return None
    if _OLD_REPORT.search(said) and not (_MISSED.search(said) or _MADE.search(said)):
        return None
    return not _ASKS.search(said)


def _check(said: str) -> bool | None:
    """Whether a check is ordered for sure; None where none is, as in every question about one."""
    if not _DEED.search(said) or _RESULT.search(said) or _PAST.match(said):
        return None
    if _TELL.match(said) or _ASKS.search(_FAULTS.sub("", said)):
        return None
    return not _READS.search(said) and any(form.search(said) for form in _QC_FORMS)
