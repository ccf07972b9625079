"""Characters that sound alike, for what dictation and input methods make of a word.

GB 2312 lists its first-level characters (3,755, the ones in use) by their reading, so a syllable is a stretch
of that list: knowing the first character of each of the 396 syllables is enough.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

_FIRSTS = (
    "啊埃鞍肮凹芭白斑邦苞杯奔崩逼鞭标鳖彬兵玻哺擦猜餐苍操厕层插拆搀昌超车郴撑吃充抽初揣川疮吹春戳疵聪凑粗蹿摧"
    "村磋搭呆耽当刀德蹬堤颠碉跌丁丢东兜都端堆墩掇蛾恩而发藩坊菲芬丰佛否夫噶该干冈篙哥给根耕工钩辜刮乖棺光瑰辊"
    "锅哈骸酣夯壕呵嘿痕哼轰喉呼花槐欢荒灰荤豁击嘉歼僵蕉揭巾荆炯揪鞠捐撅均喀开刊康考坷肯坑空抠枯夸块宽匡亏坤括"
    "垃莱蓝琅捞勒雷棱厘俩联粮撩列琳玲溜龙楼芦驴峦掠抡萝妈埋瞒芒猫么玫门萌眯棉苗蔑民明谬摸谋拇拿氖南囊挠呢馁嫩"
    "能妮蔫娘鸟捏您柠牛脓奴女暖虐挪哦欧啪拍攀乓抛呸喷砰坯篇飘撇拼乒坡扑期掐牵枪橇切钦青琼秋趋圈缺裙然瓤饶惹壬扔"
    "日戎揉茹软蕊闰若撒腮三桑搔瑟森僧莎筛珊墒梢奢砷声师收蔬刷摔栓霜谁吮说斯松搜嗽酸虽孙蓑塌胎坍汤掏特藤梯天挑贴"
    "厅通偷凸湍推吞拖挖歪豌汪威瘟嗡挝巫昔瞎掀相萧楔薪星兄休墟轩靴勋压焉殃邀椰一茵英哟拥幽淤鸳曰耘匝栽咱赃遭责贼"
    "怎增扎摘瞻樟招遮珍蒸芝中舟珠抓拽专桩椎谆捉兹鬃邹租钻嘴尊昨"
)
_LAST = 0xD7F9
# Characters of medicine that GB 2312 lists by their radical, each with one of the same reading.
_RARE = dict(
    zip(
        "黏酐疸脲嘌呤癫痫痉挛胍腙痰疱疹癣痤疮痔瘘蛔鳞纭吡喹铂霉苷腺噻唑咪啶哌嗪酞羟",
        "粘干胆尿飘令颠闲净栾瓜宗谈泡枕选错疮志漏回林云比奎伯煤干县塞作眯定派秦太抢",
        strict=True,
    )
)
_STARTS = [int.from_bytes(char.encode("gb2312"), "big") for char in _FIRSTS]
# Beginnings and endings that much of the country does not tell apart, zh and z, in and ing and so on:
# pairs of first characters, the second stands for both.
_ALIKE = (
    "扎匝摘栽樟赃招遭遮责珍怎蒸怎增怎芝兹中鬃舟邹珠租专钻椎嘴谆尊捉昨插擦拆猜搀餐昌苍超操车厕吃疵充聪抽凑初粗"
    "川蹿吹摧春村戳磋莎撒筛腮珊三墒桑梢搔奢瑟砷森声森僧森师斯收搜栓酸说蓑兵彬乒拼明民柠您玲琳荆巾青钦星薪英茵"
    "崩奔砰喷萌门丰芬能嫩耕根坑肯哼痕撑郴扔壬嗡瘟脓龙挪萝"
)
_MERGED = dict(zip(_ALIKE[::2], _ALIKE[1::2], strict=True))


@lru_cache(maxsize=8192)
def syllable(char: str) -> str:
    """The reading of a character, as the first character that has it; itself where none is known."""
    char = _RARE.get(char, char)
    try:
        code = int.from_bytes(char.encode("gb2312"), "big")
    except UnicodeEncodeError:
        return char
    if not _STARTS[0] <= code <= _LAST:
        return char
    first = _FIRSTS[bisect_right(_STARTS, code) - 1]
    return _MERGED.get(first, first)


def sound(text: str) -> str:
    """A text with every character put as the first of those that sound like it: 入阻 and 入组 are one."""
    return "".join(map(syllable, text))
