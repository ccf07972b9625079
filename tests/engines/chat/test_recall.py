"""What is asked of memory is answered of whom it asks; a tag question behind a statement is none."""

from __future__ import annotations

import pytest

from memory.models import UserMemory
from tests.engines.chat.kit import ask, mute, say
from tests.memory.hot_kit import base, said, without
from tests.support.study import Study

OWN = ("只要看结果", "角色: PI")
RULE = "我只看随访窗口"
REPEATED = "记住我喜欢表格" * 300


@pytest.fixture
def memory(study: Study) -> Study:
    base(study)
    return study


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize(
    "question",
    [
        "还记得P003的事吗?",
        "你还记得王护士喜欢什么吗",
        "你记得wanghushi的偏好吗?",
        "李主任的偏好是什么?你记得吗",
        "还记得下个月的安排吗",
        "你记得我刚才问的是谁吗?",
    ],
)
def test_whoever_asks_of_others_is_not_told_of_themselves(
    memory: Study, question: str, silent: bool
) -> None:
    if silent:
        mute(memory)
    text = ask("zhangyi", question).text
    assert text
    assert not [line for line in OWN if line in text]


@pytest.mark.parametrize("silent", [False, True])
def test_a_model_that_dumps_the_profile_is_not_believed(memory: Study, silent: bool) -> None:
    dumped = "您的偏好:只要看结果。" if silent else "角色是PI,偏好只要看结果。"
    memory.stand_ins.script(say(dumped), say(dumped))
    assert "只要看结果" not in ask("zhangyi", "还记得下个月的安排吗").text


@pytest.mark.parametrize("userid", ["zhangyi", "crc_b"])
def test_anothers_profile_where_it_is_named(memory: Study, userid: str) -> None:
    mute(memory)
    assert ask(userid, "你还记得王护士喜欢什么吗").text == "记得：偏好: 详细步骤,需要解释"


def test_somebody_who_is_called_by_name_there(memory: Study) -> None:
    mute(memory)
    base(memory, "# 用户画像", "## 王芳(护士) (user_id: wanghushi)", "- 偏好: 详细步骤")
    assert ask("zhangyi", "你还记得王芳喜欢什么吗").text == "记得：偏好: 详细步骤"


def test_a_line_of_the_study_until_it_is_removed(memory: Study) -> None:
    mute(memory)
    assert "完成 3 例入组" in ask("zhangyi", "还记得本周目标吗").text
    base(memory, *without("- 本周目标:完成 3 例入组"))
    gone = ask("zhangyi", "还记得本周目标吗").text
    assert not [word for word in ("例入组", "冲刺", *OWN) if word in gone]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("你记得我吗?", ("角色: PI", "记得，您要求：只要看结果", RULE)),
        ("你知道我喜欢什么样的汇报吗?", ("记得，您要求：只要看结果",)),
        ("我的角色你记得吗", ("角色: PI",)),
        ("do you remember my preferences?", ("只要看结果",)),
        ("你记得大家的偏好吗", ("张医生 偏好: 只要看结果", "王护士 偏好: 详细步骤")),
        ("我让你记的随访窗口还记得吗", (RULE,)),
        ("我上次跟你说的那个规矩你记得吗?", ("记得，您要求：只要看结果",)),
    ],
)
def test_of_themselves_they_are_told_what_they_ask_for(
    memory: Study, question: str, told: tuple[str, ...]
) -> None:
    mute(memory)
    said(memory, RULE, own=True)
    text = ask("zhangyi", question).text
    assert all(line in text for line in told)


def test_the_running_talk_knows_what_was_asked(memory: Study) -> None:
    mute(memory)
    ask("zhangyi", "P003 的 ECOG 是几分")
    assert "P003 的 ECOG 是几分" in ask("zhangyi", "你还记得我刚才问的是谁吗?").text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("以后先说结论再说数据,记住了吗?", "以后先说结论再说数据"),
        ("以后回复简短一点,好吗?", "以后回复简短一点"),
        ("以后回复简短一点好不好", "以后回复简短一点"),
        ("请记住我只看百分比,可以吗", "请记住我只看百分比"),
        ("我是科研处的医生,记得了吗", "我是科研处的医生"),
        ("我喜欢看表格,你知道了吗？", "我喜欢看表格"),
        ("今后别用缩写,明白吗", "今后别用缩写"),
        ("以后汇报记得先说结论", "以后汇报记得先说结论"),
    ],
)
def test_a_tag_question_keeps_the_statement(memory: Study, text: str, kept: str) -> None:
    reply = ask("zhangyi", text).text
    assert list(UserMemory.objects.values_list("content", flat=True)) == [kept]
    assert not [line for line in OWN if line in reply]


def test_what_was_just_told_is_asked_back(memory: Study) -> None:
    mute(memory)
    ask("zhangyi", "记住我每周五下午在门诊,别安排电话")
    assert "周五" in ask("zhangyi", "我星期几下午在门诊来着").text
    assert UserMemory.objects.count() == 1


@pytest.mark.parametrize("text", ["记住我每周几点都不接电话", "以后不管谁来问都先说结论"])
def test_a_statement_with_a_question_word_is_kept(memory: Study, text: str) -> None:
    ask("zhangyi", text)
    assert UserMemory.objects.count() == 1


@pytest.mark.parametrize(
    "text",
    [
        "我上次跟你说的那个只要看结果的规矩,你记得吗?",
        "我之前说的规矩,记住了吗?",
        "张医生的偏好记住了吗?",
        "你记得我喜欢什么吗",
        "我喜欢什么,你知道吗",
        "以后几点通知我,你记得吗?",
    ],
)
def test_a_question_stores_nothing(memory: Study, text: str) -> None:
    ask("zhangyi", text)
    assert not UserMemory.objects.exists()


@pytest.mark.full
def test_one_long_statement_hides_no_other(memory: Study) -> None:
    said(memory, RULE, own=True)
    ask("zhangyi", REPEATED)
    shown = ask("zhangyi", "你记得我什么").text
    assert "喜欢表格" in shown
    assert RULE in shown
    assert "只要看结果" in shown
