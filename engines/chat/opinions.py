"""What somebody thinks of the last answer, in their own words (decisions.md, "feedback")."""

from __future__ import annotations

import re
from dataclasses import dataclass

UP, DOWN = "thumbs_up", "thumbs_down"

# Praise that is made of words of blame, or the other way round.
_IS_PRAISE = re.compile(
    r"不错(?!过)|不赖|不差|没毛病|没问题|没(?:有)?错|错不了|不愧|不简单|好得不得了|好多了|差不多(?:了"
    r"|就)|not bad"
    r"|太(?:好|棒|赞|牛|强|准|对|厉害|贴心|给力|方便|快)(?!不)|(?<![不没])(?:对的?|是的?)(?:了|呢|啊|呀"
    r"|哈|嘞|咯)*$"
)
_UP = re.compile(
    r"👍|👏|💯|🌹|😍|👌|😊|🎉|❤|(?:得|真|很|挺|蛮|非常|太|更)(?:好|准|快|强|全|行)|比.{1,4}(?:好|准|快"
    r"|强)|这[次回]准"
    r"|准确|精准|正确|有用|好[用使评]|有帮助|帮了?大忙|谢谢|感谢|赞|棒|满意|清楚|清晰|明白了?$|明白了"
    r"|讲得明白|给力|厉害|牛(?!头|马)"
    r"|漂亮|聪明|智能|靠谱|优秀|完美|到位|及时|直观|贴心|方便|省事|省心|麻利|利索|真香|绝了|绝绝子|点赞"
    r"|表扬|鸡腿|满分|进步"
    r"|正是|就是这个|就要这[个种]|可以(?!吗|不|再|更)|还行|喜欢|爱了|简洁明了|详细(?!点|些|一)|全面"
    r"|一目了然|专业|细致|效率高"
    r"|(?<!not )(?<!no )(?<![a-z])(?:good|great|nice|perfect|excellent|awesome|helpful|love|well"
    r"|exactly|yyds|nb|tql|right)"
    r"|thumbs? up|spot on",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"👎|😡|🙄|😠|😞|💩|🤦|😤|💔|❌|不|没|非所|错|漏|缺|少[了写算列答一来]|多[了算写列两一]|对不上|反了"
    r"|混|岔|串|偏|颠倒|张冠|重复|矛盾"
    r"|怎么(?!样)|为什么|为啥|凭什么|咋|什么鬼|啥玩意|太|冗长|长篇|有点|啰|罗嗦|废话|话真多|官腔|官话"
    r"|绕|差|乱|歪|糊|晕|难|累|烦|蠢|智障"
    r"|说人话|点人话|讲?重点|重说|重来|重新|简单点|短点|直接点|用心|上点心|长点心|认真点|别|编|瞎|胡说"
    r"|忽悠|敷衍|糊弄|骗|无语|跑题|扯"
    r"|卡|慢|久|半天|晚了|旧|过时|扣分|零分|白问|白[搭费]|浪费|笨|傻|垃圾|鸡肋|一般|凑合|将就|勉强"
    r"|有问题|有误|误报|有出入|有待|需要改"
    r"|希望|建议|存疑|可疑|可信吗|确定吗?\??$|打回|失望|烂|离谱|应该是|实际|谁说|谁让|谁信|真的假的"
    r"|假的|老毛病|又来|又忘|服了|出处|依据呢"
    r"|哪来|哪有|明明|不止|搞|这也叫|这叫什么|我(?:问|要|说|指|叫|让)|叫你|让你|你(?:写成|还说|还列"
    r"|答的什么)|我.{0,6}数(?:了|是|的是)"
    r"|wrong|bad|useless|long|verbose|slow|confus|unclear|vague|incorrect|inaccurate|(?<![a-z])(?:no"
    r"|not|nope)(?![a-z])"
    r"|mis|mixed|match|is off|no sense|terrible|awful|worse|poor",
    re.IGNORECASE,
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
    """The opinion that a text states. Praise and blame in one are blame: somebody should look at it."""
    rest = _IS_PRAISE.sub("", text)
    if _DOWN.search(rest):
        reason = next((name for name, regex in _REASONS if regex.search(rest)), None)
        return Opinion(DOWN, reason)
    praised = rest != text or _UP.search(rest)
    return Opinion(UP if praised else None)
