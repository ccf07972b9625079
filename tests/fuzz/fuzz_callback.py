"""atheris: both callback views on raw bytes, and what stands behind a good signature. No 5xx, no other error.

Without a database: what is not genuine never reaches it, and genuine plaintext is only parsed here (the suite
stores it: tests/wechat/test_callback_refuses.py, test_aibot_callback.py).
"""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.harness import run

SEEDS = [
    b"\x00msg_signature=x&timestamp=1&nonce=2\n<xml><Encrypt>AAAA</Encrypt></xml>",
    b"\x01msg_signature=x&timestamp=1&nonce=2\n" + b'{"encrypt":"AAAA"}',
    b"\x02<xml><FromUserName>a</FromUserName><CreateTime>1</CreateTime><MsgType>event</MsgType>"
    b"<Event>template_card_event</Event><SelectedItems><SelectedItem><QuestionKey>reason</QuestionKey>"
    b"<OptionIds><OptionId>r_ok</OptionId></OptionIds></SelectedItem></SelectedItems></xml>",
    b'\x03{"msgid":"1","from":{"userid":"a"},"msgtype":"event","event":{"eventtype":"feedback_event",'
    b'"feedback_event":{"id":"f","type":2,"inaccurate_reason_list":[2,4]}}}',
]


def check() -> Callable[[bytes], None]:
    """One input: the first byte chooses the view or the parser, the rest is what it gets."""
    from django.test import RequestFactory

    from wechat.aibot.callback import bot_callback as aibot
    from wechat.aibot.parse import parse_json as parse_json
    from wechat.inbound.callback import callback as app
    from wechat.inbound.parse import BadCallback, parse_xml

    views, parsers, requests = (app, aibot), (parse_xml, parse_json), RequestFactory()

    def refused(which: int, content: bytes) -> None:
        query, _, body = content.partition(b"\n")
        request = requests.generic("POST", "/", body, QUERY_STRING=query.decode("latin-1"))
        answer = views[which](request)
        if not 400 <= answer.status_code < 500 or answer.content:
            raise RuntimeError(f"refused with {answer.status_code}, {len(answer.content)} bytes")

    def parsed(which: int, content: bytes) -> None:
        try:
            incoming = parsers[which](content.decode(errors="replace"))
        except BadCallback:
            return
        incoming.dedup_key.encode()
        incoming.content.encode()

    def one_input(content: bytes) -> None:
        if content:
            which = content[0] & 3
            (refused if which < 2 else parsed)(which & 1, content[1:])

    return one_input


if __name__ == "__main__":
    run("callback", check, SEEDS)
