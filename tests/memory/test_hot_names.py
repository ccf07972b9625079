"""A subject of another site is hidden under every name, as it is under its id."""

from __future__ import annotations

import pytest
from django.utils.timezone import now
from rest_framework.test import APIClient

from memory.visibility import scope_of
from projects.models import Member
from study.identities import Names
from study.models import Subject
from tests.engines.chat.kit import ask, mute, sent
from tests.memory.hot_kit import base
from tests.support.study import Study

HIDDEN = [
    "患者测试丙一情绪低落需关怀",
    "测试 丙一 情绪低落",
    "请联系１３８００００ ０００３了解情绪",
    "138 0000 0003 情绪低落",
    "住院号ZY9000003情绪低落",
    "身份证110101196801010001情绪低落",
]


def read(member: Member) -> str:
    client = APIClient()
    assert member.user
    client.force_login(member.user)
    answer = client.get("/api/v1/project-memory/")
    assert answer.status_code == 200
    return str(answer.json())


def hot_of(study: Study, line: str) -> None:
    base(study, "# 当前状态", f"- {line}", "  - 下面的情绪细节", "- 本中心例会改为周三")


@pytest.mark.parametrize("line", HIDDEN)
def test_who_is_named_is_hidden_from_the_other_site(study: Study, line: str) -> None:
    hot_of(study, line)
    shown = read(study["crc_b"])
    assert "情绪" not in shown
    assert "本中心例会改为周三" in shown


@pytest.mark.parametrize("userid", ["wanghushi", "zhangyi"])
def test_those_whose_subject_it_is_read_on(study: Study, userid: str) -> None:
    hot_of(study, HIDDEN[0])
    assert "情绪低落" in read(study[userid])


@pytest.mark.full
@pytest.mark.parametrize("silent", [False, True])
def test_neither_prompt_nor_answer_tells_of_them(study: Study, silent: bool) -> None:
    hot_of(study, HIDDEN[0])
    if silent:
        mute(study)
    for question in ("你记得情绪低落的患者吗?", "最近有谁需要关怀?", "你好"):
        assert "情绪" not in ask("crc_b", question).text.replace(question, "")
    assert "需关怀" not in sent(study)
    assert "本中心例会改为周三" in sent(study)


def test_a_name_inside_a_longer_one_is_none(study: Study) -> None:
    subject = Subject.objects.get(project=study.project, record_id="P002")
    own = Subject.objects.filter(project=study.project, site=study["crc_b"].site).first()
    assert own
    for row, name in ((subject, "王小"), (own, "王小明")):
        row.identifiers = f'{{"subject_name": "{name}"}}'
        row.synced_at = now()
        row.save()
    scope = scope_of(study["crc_b"])
    assert scope.allows("王小明依从性好")
    assert not scope.allows("王小依从性好")


def test_latin_names_are_whole_words_and_namesakes_are_all_meant() -> None:
    names = Names.of([("Li Na", "P1"), ("Ann", "P2"), ("张三", "P3"), ("张三", "P4")])
    assert names.named("ＬＩ  NA came") == {"P1"}
    assert names.named("Anna came") == frozenset()
    assert names.named("张三丰与ann") == {"P2", "P3", "P4"}
    assert Names.of([("王小明", "P1"), ("明华", "P2")]).named("王小明华") == {"P1", "P2"}
