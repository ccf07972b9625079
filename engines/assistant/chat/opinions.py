"""What somebody thinks of the last answer, in their own words (decisions.md, "feedback")."""

from __future__ import annotations

import re
from dataclasses import dataclass

UP, DOWN = "thumbs_up", "thumbs_down"

_GOOD = (
    r"好|棒|赞|牛|强|准|对|快|厉害|贴心|给力|方便|舒服|省[事心]|有用|聪明|清[楚晰]|及时|靠谱|到位"
)
# Praise that is made of words of blame, or the other way round.
_IS_PRAISE = re.compile(
    rf"不错(?!过)|不[赖差孬]|没毛病|没问题|没(?:有)?错|错不了|不愧|不简单|(?:{_GOOD})(?:得不得了|多了)"
    rf"|太(?:{_GOOD})(?!不)|差不多(?:了|就)|正(?:好)?是我想?要的|搞定|难得|重点(?:突出|明确|清[楚晰])"
    r"|省[^不没,]{0,4}半天|有点用|(?<![a-z])(?:not bad|no (?:problem|complaint)s?)(?![a-z])"
    r"|(?<![不没])(?:对的?|是的?)(?:了|呢|啊|呀|哈|嘞|咯)*$",
    re.IGNORECASE,
)
_UP = re.compile(
    r"👍|👏|💯|🌹|😍|👌|😊|🎉|❤|(?:得|真|很|挺|蛮|非常|特别|太|更|[这那]么)(?:好|准|快|强|全|行)|比.{1,4}(?:好|准|快"
    r"|强)|这[次回]准"
    r"|准确|精准|正确|有用|好[用使评]|有帮助|帮了?大忙|谢谢|感谢|赞|棒|满意|清楚|清晰|明白了?$|明白了"
    r"|讲得明白|给力|厉害|牛(?!头)"
    r"|漂亮|聪明|智能|靠谱|优秀|完美|到位|及时|直观|贴心|方便|省事|省心|麻利|利索|真香|绝了|绝绝子|点赞"
    r"|表扬|满分|进步"
    r"|正是|就是这个|就要这[个种]|可以(?!吗|不|再|更)|还行|喜欢|爱了|简洁明了|详细(?!点|些|一)|全面"
    r"|一目了然|专业|细致|效率高"
    r"|(?<!not )(?<!no )(?<![a-z])(?:good|great|nice|perfect|excellent|awesome|helpful|love|well|exact"
    r"|thank|yyds|nb|tql|right)"
    r"|thumbs? up|spot on",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"👎|😡|🙄|😠|😞|💩|🤦|😤|💔|❌|不|没|非所|错|漏|缺|少[了写算列答一来]|多[了算写列两一]|对不上|反了"
    r"|搞[混反岔串]|混|岔|串|颠倒|张冠李戴|重复|矛盾|什么鬼|啥玩意|太|冗长|长篇|啰|罗嗦|废话|话真多|官腔|官话"
    r"|差|乱|歪|糊|晕|烦|蠢|智障|人话|[说讲]重点|重说|重来|简单点|短点|直接点|用心|长?点心|认真点"
    r"|瞎|胡说|忽悠|敷衍|糊弄|骗|无语|跑题|慢|晚了|过时|扣分|零分|白[问搭费]|浪费|笨|傻|垃圾|鸡肋|凑合|将就|勉强"
    r"|有问题|有误|误报|能更|有出入|有待|需要改|存疑|可疑|可信吗|确定吗?\??$|打回|失望|烂|离谱|谁说|谁让|谁信"
    r"|真的假的|假的|又来|又忘|服了|出处|依据呢|哪来|哪有|不止|这也叫|这叫什么|叫你|让你"
    r"|你(?:写成|还说|还列|答的什么)|我.{0,6}数(?:了|是|的是)"
    r"|(?<![a-z])(?:(?:wrong|bad|useless|long|verbose|slow|vague|mixed|poor|worse|no|not|nope|mis(?:s(?:ed|ing)?|match))(?![a-z])"
    r"|confus|unclear|incorrect|inaccurate|mis(?:take|under|read)|terribl|awful|is off)|n['’]t(?![a-z])",
    re.IGNORECASE,
)
# A wish or a question: blame, unless praise stands beside it.
_WEAK = re.compile(
    r"(?<![特级类个])别|搞|咋|怎么(?!样)|为什么|为啥|凭什么|有点|绕|难|累(?!计)|编(?!号)|扯|卡(?!片)|久|旧|偏|半天|一般|重点|重新|希望|建议|应该是"
    r"|实际|明明|我(?:问|要|说|指|叫|让)"
)
_REASONS = (
    (
        "too_long",
        re.compile(
            r"太长|啰嗦|啰里|罗嗦|冗长|太多|简短|简洁点|话真多|too long|verbose", re.IGNORECASE
        ),
    ),
    (
        "inaccurate",
        re.compile(r"不对|错|不准|有误|对不上|不一致|inaccurate|incorrect|wrong", re.IGNORECASE),
    ),
    (
        "unclear",
        re.compile(r"不清楚|看不懂|没看懂|听不懂|没听懂|不明白|含糊|unclear|confus", re.IGNORECASE),
    ),
)


@dataclass(frozen=True)
class Opinion:
    """`value`: thumbs_up, thumbs_down, or None where the words leave it open; `reason` of a 👎."""

    value: str | None
    reason: str | None = None


def judged(text: str) -> Opinion:
    """The opinion that a text states. Praise and blame in one are blame: somebody should look at it.

    Praise beside a mere wish leaves it open.
    """
    rest = _IS_PRAISE.sub("", text)
    praised = rest != text or _UP.search(rest)
    weak = _WEAK.search(rest)
    if _DOWN.search(rest) or (weak and not praised):
        reason = next((name for name, regex in _REASONS if regex.search(rest)), None)
        return Opinion(DOWN, reason)
    return Opinion(UP if praised and not weak else None)
