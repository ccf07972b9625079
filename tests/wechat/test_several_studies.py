"""Each reply and card names the study for a reader of several; "switch to" is confirmed."""

from __future__ import annotations

import json
import uuid
from datetime import date

import pytest
from django.core.management import call_command

from projects.models import Member, Project
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study
from tests.wechat.working import click, outgoing, payloads, receive, work
from wechat.models import Card
from wechat.outbound import cards, feedback_cards, outbox

pytestmark = pytest.mark.django_db
USER = "zhangyi"


@pytest.fixture
def other(study: Study) -> Project:
    project = Project.objects.create(
        code="GASTRIC-02", name="胃癌研究", start_date=date(2026, 1, 1)
    )
    Member.objects.create(project=project, person=study[USER].person, role="PI")
    return project


@pytest.mark.full
@pytest.mark.parametrize(
    "words",
    [
        "切换到GASTRIC-02",
        "请切换到 gastric-02。",
        "切换到胃癌研究",
        "Switch to GASTRIC-02",
        "换成ＧＡＳＴＲＩＣ-02吧",
    ],
)
def test_switching_is_confirmed_and_holds(study: Study, other: Project, words: str) -> None:
    told = ask(USER, words)
    assert told.project == other
    assert "已切换到 GASTRIC-02" in told.text
    assert ask(USER, "目标入组多少例?").project == other
    back = ask(USER, f"切换到{study.project.code}")
    assert back.project == study.project
    assert ask(USER, "目标入组多少例?").text.startswith(f"【{study.project.code}】")


@pytest.mark.parametrize("words", ["切换到GASTRIC-99", "怎么切换到GASTRIC-02的数据?", "换药的记录"])
def test_what_is_no_order_to_switch_switches_nothing(
    study: Study, other: Project, words: str
) -> None:
    assert "已切换" not in ask(USER, words).text


@pytest.mark.full
@pytest.mark.parametrize("between", ["LUNG-IIT 入组多少例?", "切换到LUNG-IIT"])
def test_a_number_does_not_answer_a_question_that_was_left(
    study: Study, other: Project, between: str
) -> None:
    """Its asker named the study meanwhile; the number is one of the readings offered since."""
    mute(study)
    assert f"1. {other.name}" in ask(USER, "入组多少例?").text
    assert ask(USER, between).project == study.project
    unclear = ask(USER, "体重怎么样")
    assert (unclear.project, unclear.asked_back) == (study.project, True)
    assert "1. " in unclear.text
    assert ask(USER, "1").project == study.project


def test_which_study_is_meant_is_a_question_back(
    study: Study, other: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("ask", "入组多少例?", user=USER, json=True)
    assert json.loads(capsys.readouterr().out)["asked_back"] is True
    assert ask(USER, "1").project == other


def test_nobody_switches_to_a_study_of_others(study: Study, other: Project) -> None:
    told = ask("wanghushi", "切换到GASTRIC-02")
    assert "已切换" not in told.text
    assert told.project != other


@pytest.mark.full
def test_each_reply_names_the_study_for_a_reader_of_several(study: Study, other: Project) -> None:
    head = f"【{study.project.code}】"
    ask(USER, f"切换到{study.project.code}")
    assert ask(USER, "P001 入组了吗?").text.startswith(head)
    assert not ask("wanghushi", "P002 入组了吗?").text.startswith("【")
    receive("P001 入组了吗?", user=USER)
    receive("P002 入组了吗?", user="wanghushi")
    receive("👍", user=USER)
    work()
    mine = outgoing(USER)
    assert [text.count(head) for text in mine] == [1] * len(mine)
    assert not any("【" in text for text in outgoing("wanghushi"))


def test_what_the_house_tells_names_the_study(study: Study, other: Project) -> None:
    for name in (USER, "wanghushi"):
        outbox.tell(to=study[name], content="有一项提醒", key=f"told:{name}")
    assert outgoing(USER) == [f"【{study.project.code}】有一项提醒"]
    assert outgoing("wanghushi") == ["有一项提醒"]


def test_each_card_names_the_study(study: Study, other: Project) -> None:
    refs = [uuid.uuid4() for _number in range(3)]
    for ref, to in zip(refs, [[USER], ["wanghushi"], ["wanghushi", USER]], strict=True):
        cards.send(
            kind=feedback_cards.KIND,
            ref=ref,
            version=1,
            project=study.project,
            to=to,
            content=feedback_cards.feedback_card(),
        )
    named = [study.project.code in json.dumps(one) for one in payloads("card")]
    assert named == [True, False, True]
    click(Card.objects.get(ref=str(refs[0])).task_id, "up", USER)
    work()
    assert study.project.code in json.dumps(payloads("card_update"))
