"""Markdown or plain text, per reader (wecom.md 3.2, 9.5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.models import Member
from tests.wechat.working import outgoing, payloads
from wechat.outbound import formats
from wechat.outbound.outbox import enqueue_text

pytestmark = pytest.mark.django_db
MARKED = "# 结论\n**P001** 已入组,见 `enroll_date`\n> 5.1 节"
PLAIN = "结论\nP001 已入组,见 enroll_date\n5.1 节"


def test_markup_goes_out_as_markdown(people: dict[str, Member]) -> None:
    enqueue_text(to_user="ZhangYi", project=people["zhangyi"].project, content=MARKED, key="k")
    assert payloads("markdown")[0]["markdown"]["content"] == MARKED


def test_a_reader_on_the_plug_in_gets_plain_text(people: dict[str, Member]) -> None:
    """WeChat shows "暂不支持此消息类型" in place of markdown."""
    Member.objects.filter(wecom_userid="zhangyi").update(plain_text=True)
    enqueue_text(to_user="ZhangYi", project=people["zhangyi"].project, content=MARKED, key="k")
    assert outgoing("zhangyi") == [PLAIN]


@pytest.mark.parametrize(
    "text", ["普通文字", "2 * 3 ** 4", "a > b", "#1 号", "** 没有 **", "x<5 且 y>3", "- 一\n- 二"]
)
def test_what_has_no_markup_stays_text(people: dict[str, Member], text: str) -> None:
    enqueue_text(to_user="zhangyi", project=people["zhangyi"].project, content=text, key="k")
    assert outgoing("zhangyi") == [text]


def test_a_link_of_the_model_shows_its_address(people: dict[str, Member]) -> None:
    """O18."""
    text = "**见** [这里](http://evil.example) <font color='red'>x</font>"
    enqueue_text(to_user="zhangyi", project=people["zhangyi"].project, content=text, key="k")
    shown = payloads("markdown")[0]["markdown"]["content"]
    assert shown == "**见** 这里 (http://evil.example) ＜font color='red'>x＜/font>"


@given(st.text(alphabet="*`#> \nab字", max_size=60))
def test_plain_text_loses_marks_only(text: str) -> None:
    kept = [char for char in text if char not in "*`#> "]
    assert [char for char in formats.strip_marks(text) if char not in "*`#> "] == kept
