"""What no source can give: addresses, markup, and deeds that the assistant can't have done."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,15}:)?//[^\s<>\"'()\u4e00-\u9fff]+|\bwww\.[^\s<>\"'()\u4e00-\u9fff]+"
    r"|\b(?:javascript|data|mailto|tel):\S+"
    r"|(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:com|cn|net|org|gov|edu|io|info|xyz|top|link|app|me|cc)\b(?:/\S*)?",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<\s*/?\s*[a-zA-Z!?][^<>]*>?")
_DEED = (
    r"修改|更新|更改|更正|改为|改成|调整|录入|写入|填入|填写|输入|提交|保存|存入|删除|清除|撤回|发送|发出|发给|转发|推送|通知|告知|提醒"
    r"|联系|安排|预约|登记|上报|创建|新建|开启|关闭|启动|触发|执行|处理|批准|审批|锁定|同步|导出|备案|记录下"
)
_DONE = re.compile(
    rf"(?:已经?|刚刚?|均已|成功)(?:成功|自动)?(?:为您|帮您|替您|给您)?(?:将|把|向|给|对)?[^,。;!?\d]{{0,10}}?({_DEED})"
    rf"|({_DEED})(?:成功|完成|完毕|好了|了(?=$|[,。;!]))"
)
_OWN = re.compile(
    rf"(?:我|本助手)(?:们)?(?:已经?|会|将|将会|马上|稍后|可以?|能|来|就|这就|现在)+(?:为您|帮您|替您|给您|向|将|把)?[^,。;!?]{{0,12}}?({_DEED})"
    rf"|(?:稍后|马上|随后|之后|届时)(?:会|将)?(?:为您|帮您|替您|给您)?[^,。;!?]{{0,6}}?({_DEED})"
    rf"|(?:已经?|将|会|正在)(?:为您|帮您|替您|给您)[^,。;!?]{{0,12}}?({_DEED})"
)

_PRIVATE = (
    r"身份证|密码|口令|验证码|密钥|手机号|电话号码|银行卡|住院号|病历号|家庭住址|真实姓名|姓名"
)
_ASKS = re.compile(
    rf"(?:请|麻烦|需要您|您需要?)[^,。;!?]{{0,8}}(?:回复|提供|发送|发来|输入|填写|告诉|告知|上传|报)[^,。;!?]{{0,10}}(?:{_PRIVATE})"
    rf"|(?:请|麻烦)[^,。;!?]{{0,4}}[把将][^,。;!?]{{0,8}}(?:{_PRIVATE})"
)


def addresses(text: str) -> list[str]:
    """Addresses of the net in a text."""
    return [hit[0].rstrip(".,;") for hit in _ADDRESS.finditer(text)]


def foreign(answer: str, told: str) -> Iterator[str]:
    """Addresses that no source has, and markup: an answer is plain text."""
    for address in addresses(answer):
        if address.casefold() not in told:
            yield address
    for hit in _MARKUP.finditer(answer):
        if hit[0].casefold() not in told:
            yield hit[0]


def deeds(clause: str, told: str) -> Iterator[str]:
    """Claims that something was done, which a source must tell, as the assistant only reads; and asking
    for what identifies."""
    for regex in (_OWN, _ASKS):
        yield from (hit[0] for hit in regex.finditer(clause))
    for hit in _DONE.finditer(clause):
        deed = next(filter(None, hit.groups()))
        if not re.search(
            rf"(?:已经?|了|完成|日期)[^,。;]{{0,12}}{deed}|{deed}(?:成功|完成|日期|时间|了)", told
        ):
            yield hit[0]
