"""Questions find their passage, or nothing."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.models import AuditEntry, Project
from study.models import ProtocolChunk, ProtocolDocument
from study.protocol.index import EmptyDocumentError, import_document, search
from study.protocol.rules import RuleIndex
from study.protocol.synonyms import synonyms_of
from study.protocol.terms import without_asking

pytestmark = pytest.mark.django_db

PROTOCOL = """# 4 受试者
## 4.1 入选标准
年龄 18 至 75 周岁,ECOG 评分 0 至 2 分,签署知情同意书。
## 4.2 排除标准
活动性感染;哺乳期女性;既往使用过同类药物。
# 5 治疗与访视
## 5.1 给药
示例替尼片 80 mg 每日一次,早餐后口服。漏服超过 12 小时不再补服。
## 5.2 剂量调整
| 情况 | 处理 |
|---|---|
| ALT 或 AST 高于正常上限 5 倍 | 永久停用 |
| PLT 低于 50 | 暂停给药,恢复后下调一级 |
## 5.3 访视安排
| 访视 | 计划日 | 窗口 |
|---|---|---|
| V1 | Day 1 | ±3 天 |
| V2 | Day 28 | ±7 天 |
# 6 安全性
## 6.7 严重不良事件
获知后 24 小时内完成首次报告。
## 6.8 妊娠
发生妊娠的女性立即停药,随访至妊娠结束。
# 9 其他
## 9.3 补偿
受试者在计划访视当天领取交通补贴。
"""


@pytest.fixture
def project() -> Project:
    return Project.objects.create(code="T", name="T", start_date=date(2024, 1, 1))


@pytest.fixture
def study(project: Project) -> Project:
    import_document(project, "方案V2.1", PROTOCOL)
    return project


@pytest.mark.parametrize(
    ("question", "heading", "words"),
    [
        ("V2访视的时间窗是多少?", "5.3", "±7"),
        ("第二次访视什么时候做", "5.3", "V2"),
        ("入选标准是什么", "4.1", "18 至 75"),
        ("ecog要求几分", "4.1", "ECOG"),
        ("ＥＣＯＧ 评分", "4.1", "ECOG"),
        ("排除标准有哪些", "4.2", "感染"),
        ("怀孕了怎么办", "6.8", "停药"),
        ("转氨酶升高多少要停药", "5.2", "ALT"),
        ("血小板低了怎么办", "5.2", "PLT"),
        ("SAE多久内报告", "6.7", "24 小时"),
        ("忘记吃药,漏服怎么办", "5.1", "12 小时"),
        ("交通费能报销吗", "9.3", "交通补贴"),
    ],
)
def test_the_passage_that_answers_comes_first(
    study: Project, question: str, heading: str, words: str
) -> None:
    first = search(study, question)[0]

    assert first.content.startswith(heading)
    assert words in first.content
    assert first.document == "方案V2.1"
    assert 0 < (first.score or 0) <= 1


@pytest.mark.parametrize(
    "question",
    ["今天天气怎么样", "世界杯谁会赢", "帮我写一首诗", "公司股价是多少", "", "???", "是多少"],
)
def test_what_the_protocol_does_not_say_is_not_found(study: Project, question: str) -> None:
    assert search(study, question) == []


def test_without_documents_nothing_is_found(project: Project) -> None:
    assert search(project, "入选标准") == []


def test_no_more_than_asked_for(study: Project) -> None:
    assert len(search(study, "访视 停药 标准", top_k=1)) == 1
    scores = [passage.score or 0 for passage in search(study, "访视安排", top_k=9)]
    assert scores == sorted(scores, reverse=True)


def test_a_new_text_replaces_the_old_at_once(study: Project) -> None:
    assert search(study, "交通补贴")

    import_document(study, "方案V2.1", "# 9.3 补偿\n营养费用由研究承担。", version="V2.2")

    assert search(study, "交通补贴") == []
    assert "营养费用" in search(study, "营养费用")[0].content
    active = ProtocolDocument.objects.get(is_active=True)
    old = ProtocolDocument.objects.get(is_active=False)
    assert (active.version, active.chunks.count()) == ("V2.2", 1)
    assert (old.version, old.text) == ("", PROTOCOL)


def test_documents_are_told_apart(study: Project) -> None:
    import_document(study, "ICF", "# 7 费用\n交通补贴当天发放。")

    assert {p.document for p in search(study, "交通补贴发放")} == {"ICF", "方案V2.1"}


def test_another_study_has_its_own_documents(study: Project) -> None:
    other = Project.objects.create(code="U", name="U", start_date=date(2024, 1, 1))

    assert search(study, "入选标准")
    assert search(other, "入选标准") == []


def test_the_same_text_is_not_imported_twice(study: Project) -> None:
    before = list(ProtocolChunk.objects.values_list("pk", flat=True))

    import_document(study, "方案V2.1", PROTOCOL)

    assert list(ProtocolChunk.objects.values_list("pk", flat=True)) == before
    assert AuditEntry.objects.filter(action="document.import").count() == 1


def test_a_document_without_text_is_refused_and_the_old_one_stays(study: Project) -> None:
    with pytest.raises(EmptyDocumentError):
        import_document(study, "方案V2.1", "  \n")

    assert search(study, "入选标准")


def test_a_study_has_words_of_its_own(study: Project) -> None:
    assert search(study, "甲方案窗口怎么算")[0].content.startswith("5.3")
    assert search(study, "小白片怎么服") == [] or "替尼" not in search(study, "小白片")[0].content

    study.synonyms = {"小白片": ["示例替尼片"], "坏": "不是列表", "空": [None]}

    assert "替尼" in search(study, "小白片")[0].content


@pytest.mark.parametrize(
    ("query", "word", "found"),
    [
        ("转氨酶高", "ALT", True),
        ("alt高", "转氨酶", True),
        ("salt intake", "转氨酶", False),
        ("入选标准", "纳入标准", True),
        ("入选标准", "入组", False),
        ("V2 访视", "第二次访视", True),
        ("V21 访视", "第二次访视", False),
    ],
)
def test_other_words(query: str, word: str, found: bool) -> None:
    assert (word in synonyms_of(query, {}).others) is found


def test_words_that_only_ask_are_left_out() -> None:
    assert without_asking("请问V2窗口是多少天").split() == ["v2窗口"]


def test_a_heading_counts_more_than_the_rest_of_a_section() -> None:
    shelf = RuleIndex(
        [("方案", "# 1 其他\n一般事项。妊娠见别处。\n# 6.8 妊娠\n其他事项的说明文字。")]
    )

    assert next(unit.number for _score, unit in shelf.ranked("妊娠的说明", {})) == "6.8"


lines = st.lists(st.text(alphabet="访视窗口停药12 V。|#", max_size=60), max_size=12)


@given(lines, st.text(alphabet="访视窗口停药 V12ab?", max_size=30))
def test_shares_are_of_rules_of_the_text(text: list[str], query: str) -> None:
    shelf = RuleIndex([("方案", "\n".join(text))])
    found = shelf.find(query, {})

    assert set(found.rules) <= set(shelf.units)
    assert len(set(found.rules)) == len(found.rules)
    assert all(score >= 0 for score, _unit in shelf.ranked(query, {}))
    assert found.rules or not found.is_sure
