"""Cut a message into fragments at punctuation and connectives, never inside quotes or numbers."""

import re
from itertools import islice
from typing import NamedTuple

from engines.assistant.intents import orders, own
from engines.assistant.intents.concepts import concepts
from engines.assistant.intents.marks import PAD, RECORD

HARD, LINK, COMMA, SPACE, AND = "hard", "link", "comma", "space", "and"
MAX_FRAGMENTS = 24


class Fragment(NamedTuple):
    """A stretch of the marked text and the kind of boundary before it."""

    start: int
    end: int
    boundary: str


_QUOTES = re.compile(
    r"“[^”\n]{0,80}”|\"[^\"\n]{0,80}\"|「[^」\n]{0,80}」|『[^』\n]{0,80}』|《[^》\n]{0,40}》|‘[^’\n]{0,80}’"
)
_HARD = re.compile(r"[。;!?\n]+[。;!?\s]*")
_COMMA = re.compile(r"(?:[,、:]|~(?!\s?§))+\s*|\.{2,}\s*|(?<=[\u4e00-\u9fff])\.\s*")
_SPACE = re.compile(
    r"(?<=[\u4e00-\u9fff\U0001F300-\U0001FAFF❤]) +(?=[^\s])|(?<=[^\s]) +(?=[\u4e00-\u9fff])"
    r"|(?<=[\U0001F300-\U0001FAFF])(?=[^\s\U0001F300-\U0001FAFF])"
)
# "A 中心", "2 组": the blank that people type beside Latin letters and digits parts nothing.
_PLACE = re.compile(
    r"(?<![a-z0-9])[a-z0-9]{1,2} +(?=中心|组(?!长)|队列|院区|病区|臂|期)", re.IGNORECASE
)
_VERB = (
    "给帮把查看跑做出写生录补报登记统数问核质告说列算画来发改标更新确对弄整搞汇导找讲通重提按加填建"
)
# "Before writing the report, do X" and "if X, Y" without a comma between the two.
_DOING = "出写发交做跑录约签质控生成整弄提开汇填上查核寄补改登"
_BEFORE = (
    rf"(?<![\u4e00-\u9fff])(?:[给在赶等把]?[^,。;!?\n]{{0,6}}?)[{_DOING}][^,。;!?\n]{{0,12}}?(?:之前|以前|前)"
    rf"(?=[你我先把给帮请要得麻看查跑核数说统§])(?!.{{0,2}}过)"
)
# "Having checked X, do Y".
_AFTER = rf"[{_DOING}数]完[^,。;!?\n]{{1,14}}?(?=[就再][出写生给把跑做登])"
_LINK = re.compile(
    rf"(?:然后|接着|顺便|顺带|顺手|另外|此外|还有(?![多几谁没哪个什])|并且|同时(?![参用吃服有患合满符具在])"
    r"|(?<=[^\s,。;])(?:但是|可是)|以及"
    r"|(?<![做跑写录出看查弄核填签吃用打问说改补传修交发采抽])完了(?![没吗吧])"
    r"|对了|最后(?![一次]|定[了没的]|怎么|咋|结[果论]|有没有|是怎么|通过))(?=[\u4e00-\u9fff§¶†¤※A-Za-z ,])"
    rf"|(?<![一不先别])再(?=[{_VERB}§¶¤])|(?<!合)并(?=[{_VERB}])|(?<=[\u4e00-\u9fff])直接(?=[{_VERB}])"
    r"|(?<=之前)(?=先|得先|要先|帮|麻烦)|(?<=以前)(?=先)|(?<=前)(?=先)|(?<=[报控告入]前)(?=[帮得要把给看查数核])|(?<=[^\s先欢爱惯想])先(?=[查看帮把给跑])"
    r"|第[二三]步|[二三]是|(?<=[完好])(?=就[给帮把出写])"
    r"|(?<=的话)(?=[\u4e00-\u9fff§])|(?<=[了没过高低])(?=就[重给帮把出写登报记改补标])"
    r"|(?<= )(?:and|then|also)(?= )",
    re.IGNORECASE,
)


# Two things asked for in one breath ("入组人数和下周访视名单").
_AND = re.compile(
    r"(?:(?<=[\u4e00-\u9fff])[和与跟](?=[\u4e00-\u9fff§¶¤A-Za-z])|(?<=\x00)[和与跟](?=[\u4e00-\u9fff]))"
    r"(?<![饱温总缓参].)(?![^,。;?!]*(?:[比致符]|[一相]样|[相不]同|是否|区别|矛盾|冲突|对[得不]?上))"
)

_NEAR = 24
_CLAUSE_MARK = re.compile(r"[,、。;:?!\s]")

_CLAUSES = re.compile(f"{_BEFORE}|{_AFTER}")

# An object without its verb ("把全部数据|再核一遍"), a verb or a question word without its object.
_OBJECT = re.compile(
    r"(?:[把将]|对(?!了)|给(?!我))[^质录改核查跑做出写看标填登补删报统算发告设换关加锁]{1,14}"
    r"|[^,。;?!]{1,12}(?:[的新]|[录入]的?)[这那][批些几][例个位份条]?(?:数据|病人|患者|受试者|记录|资料|表)?"
)
_TAIL = re.compile(
    r"(?:帮我|麻烦|请|给)?(?:记|备注|登记?|录|填|补|更新|标)(?:一下|上|进去|下)(?:吧|哈|谢谢)?"
    r"|(?:现在|是|到底)?(?:多少|几分|几个?|怎么样|咋样|是多少|啥情况|如何)[啊呢呀]?"
)

# A step named by its verb alone is the one before it once more ("月报漏了,帮忙补上").
_AGAIN = re.compile(
    r"(?:请|帮忙|帮我|麻烦|你|快|赶紧|给我|也|给)*(?:补|重做|重出|重跑|删掉|删了|删除)"
    r"(?:上|一下|下|出来|一份|好)*(?:吧|哈|呗|谢谢)?"
)
# An order named by its verb alone waits for its object, what is owned for its owner ("质控 P006 的AE").
_BARE_ORDER = re.compile(
    r"(?:请|麻烦|帮我|帮忙|给我|你|您|再|先|现在|马上|重新|直接|去)*"
    r"(?:质控|质检|核查|核对|核验|核实|复核|校验|审核|检查|自查|排查|核|统计|查询|查看|查找|查|看|录入|登记|记录|更新|修改|删除|填写|补录|翻译|qc)"
    r"(?:一下|一遍|一次|下)?",
    re.IGNORECASE,
)
_OBJECT_OF = re.compile(
    r"[§¤¶#]|[a-z0-9]|受试者|患者|病人|病例|记录号|编号|全部|所有|全体|本中心", re.IGNORECASE
)
_OWNED = re.compile(r"的(?!话|确)")
# An order goes on to its next subject, with what of all of them is meant ("质控 P006,P007 的AE").
_ORDERED = re.compile(rf"(?:{_BARE_ORDER.pattern})[ 的]*§(?:[,、和跟与及 ]*§)*", re.IGNORECASE)
_NEXT_OBJECT = re.compile(r"§(?:[,、和跟与及 ]*§)*(?: ?的?[^多少几什么哪怎吗呢没?]{1,8})?")
# What somebody is charged with follows ("我负责 A中心的随访").
_CHARGED = re.compile(r"[^,。;?!]{0,8}(?:负责|分管|主管)")
_ORDER = re.compile(r"\S[先再直并]")
_STANDING = re.compile(r"\s*(?:请|你|记住|,)*(?:以后|今后|往后|每次|从现在起|下次|记住)")

# Two clauses of a contrast are two tasks: then and now, if and then, a complaint and
# what was meant.
_TURNS = tuple(
    (re.compile(before), re.compile(after))
    for before, after in (
        (
            r"当初|当时|当年|最初|以前|之前|去年|前年|上次|上回|上一?个?[周月期]",
            r"[那\s]*(?:现在|目前|如今|眼下|当前|到现在|这会儿?)",
        ),
        (r"如果|要是|假如|的话", r"就"),
        (r"(?:看|弄|搞|算|数|说|查|答|列)(?:错|反|混|串)[^,。;?!\s]{0,4}[了吧啦]+[,\s]*$", r""),
        (r"(?:不是|没|没有)(?:问|说|让|叫|要|查)", r"[是\s]*我?(?:问|说|要|查|指|想)"),
    )
)

# A fragment that only leads over to the next one: connectives, subjects, a visit.
_WEAK = re.compile(
    r"(?:请|帮我|麻烦|给我|你)*(?:记住|记着|记好|记一下|记下|记录|备注|备忘|注意|提醒|记)"
    r"|(?:然后|另外|还有|顺便|接着|对了|最后|完了|再|先|那|麻烦|帮我|帮忙|请|[§¤¶※†#、,和跟与及的给对把将 ]"
    r"|受试者|患者|病人|编号|号|为|是|id)+",
    re.IGNORECASE,
)


def bare_order(text: str) -> bool:
    """Tell whether a part orders something without saying of whom or what ("再核一次")."""
    return bool(_BARE_ORDER.fullmatch(text))


def fragments(marked: str) -> list[Fragment]:
    """Return the fragments of a marked text in order of the words, at most `MAX_FRAGMENTS`."""
    quoted = _QUOTES.sub(lambda m: PAD * len(m.group()), marked)
    cuts: dict[int, str] = {}
    cuts |= dict.fromkeys(_pairs(quoted), AND)
    cuts |= {m.end(): LINK for m in _CLAUSES.finditer(quoted)}
    for pattern, kind in ((_SPACE, SPACE), (_COMMA, COMMA), (_LINK, LINK), (_HARD, HARD)):
        for m in pattern.finditer(quoted):
            cuts[m.start() if pattern is _LINK else m.end()] = kind
    for m in _PLACE.finditer(quoted):
        cuts.pop(m.end(), None)
    cuts = _without_order_of_speech(quoted, cuts)
    cuts |= dict.fromkeys(_turns(quoted, cuts), LINK)
    starts = [0, *sorted(at for at in cuts if 0 < at < len(marked))]
    pieces = [
        Fragment(a, b, cuts.get(a, HARD))
        for a, b in zip(starts, [*starts[1:], len(marked)], strict=True)
    ]
    return _limit(_solid(marked, pieces))


def _without_order_of_speech(quoted: str, cuts: dict[int, str]) -> dict[int, str]:
    """Keep "first … then …" inside a standing instruction ("以后先说数再说原因") in one piece."""
    kept: dict[int, str] = {}
    clause = 0
    for at in sorted(cuts):
        inside = cuts[at] == LINK and _ORDER.match(quoted, at - 1)
        if not (inside and _STANDING.match(quoted[clause:at])):
            kept[at] = cuts[at]
            clause = at
    return kept


def _pairs(quoted: str) -> list[int]:
    """Return the cuts after an "and" between things of different families."""
    found = []
    for m in islice(_AND.finditer(quoted), MAX_FRAGMENTS):
        before = _CLAUSE_MARK.split(quoted[max(0, m.start() - _NEAR) : m.start()])[-1]
        after = _CLAUSE_MARK.split(quoted[m.end() : m.end() + _NEAR], maxsplit=1)[0]
        if concepts(before) != concepts(after):
            found.append(m.end())
    return found


def _turns(quoted: str, cuts: dict[int, str]) -> list[int]:
    """Return the weak cuts between the two clauses of a contrast."""
    weak = [at for at, kind in cuts.items() if kind in {COMMA, SPACE}]
    return [
        at
        for at in weak
        if any(after.match(quoted, at) and before.search(quoted, 0, at) for before, after in _TURNS)
    ]


def _solid(marked: str, pieces: list[Fragment]) -> list[Fragment]:
    """Join fragments without a word of their own to a neighbour: "P003、", "另外", a trailing id."""
    kept: list[Fragment] = []
    for piece in pieces:
        text = _words(marked, piece)
        trailing = piece is pieces[-1] and _WEAK.fullmatch(text)
        before = _words(marked, kept[-1]) if kept else ""
        mark = marked[: piece.start].rstrip()[-1:]
        owned = _needs_object(before, piece, text, mark)
        if kept and (not text or trailing or owned or _belong(before, piece, text)):
            kept[-1] = Fragment(kept[-1].start, piece.end, kept[-1].boundary)
        else:
            kept.append(piece)
    return kept


def _needs_object(before: str, piece: Fragment, text: str, mark: str) -> bool:
    """Tell whether a bare order gets its object, an owner what is owned, or a list its next subject."""
    if mark == "、" and before.endswith(RECORD) and text.startswith(RECORD):
        return True
    if mark == "," and _ORDERED.fullmatch(before) and _NEXT_OBJECT.fullmatch(text):
        return True
    if piece.boundary == SPACE and _OWNED.match(text):
        return True
    led = piece.boundary == SPACE or mark == ":"
    return bool(led and _BARE_ORDER.fullmatch(before) and _OBJECT_OF.match(text))


def _belong(before: str, piece: Fragment, text: str) -> bool:
    """Tell whether a fragment and the one before it make one clause."""
    tail = piece.boundary == SPACE and _TAIL.fullmatch(text)
    unfinished = piece.boundary == LINK and _OBJECT.fullmatch(before)
    again = piece.boundary in {SPACE, COMMA} and _AGAIN.fullmatch(text)
    alone = orders.only_again(text) or orders.only_decides(text)
    repeated = piece.boundary != HARD and alone
    charged = piece.boundary == SPACE and _CHARGED.fullmatch(before)
    told = piece.boundary != HARD and own.continues(before, text)
    duty = piece.boundary == AND and own.shares_duty(before, text)
    joined = tail or again or repeated or unfinished or charged or told or duty
    return bool(joined or _WEAK.fullmatch(before))


def _words(marked: str, piece: Fragment) -> str:
    return marked[piece.start : piece.end].replace(PAD, "").strip(" ,。;:、!~.\n")


def _limit(pieces: list[Fragment]) -> list[Fragment]:
    while len(pieces) > MAX_FRAGMENTS:
        at = min(range(1, len(pieces)), key=lambda i: pieces[i].end - pieces[i - 1].start)
        merged = Fragment(pieces[at - 1].start, pieces[at].end, pieces[at - 1].boundary)
        pieces = [*pieces[: at - 1], merged, *pieces[at + 1 :]]
    return pieces
