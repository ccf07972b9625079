"""A review shows its evidence in every door, and the record keeps what was shown there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils.timezone import now

from engines import redcap_asks
from engines.models import PendingAction, Review
from engines.sop.brief import kept_brief
from projects.models import AuditEntry
from study.models import RedcapQuery, Subject
from tests.engines.sop.doors import api, console
from tests.engines.sop.kit import hard, human, new_skill, review_of, rule, run_of, run_qc, tell
from tests.support.study import Study
from tests.wechat.working import click, deliver, outgoing, receive, said, work
from wechat.models import Card

pytestmark = pytest.mark.django_db
HISTORY = "2019年在外院诊断间质性肺炎，口服泼尼松治疗约半年后停药"
CRITERION = "有间质性肺炎或肺纤维化病史"


@pytest.fixture
def review(study: Study) -> Review:
    """P012, whose history a model found at odds with the protocol."""
    found = review_of(run_qc(study, "P012"))
    tell()
    return found


def card_of(review: Review) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        Card.objects.get(ref=str(review.pk), kind="review").content
    )
    return content


def texts(card: dict[str, Any]) -> str:
    """What a person reads on a card, long values put together again."""
    quote = card.get("quote_area", {}).get("quote_text", "")
    rows = card["horizontal_content_list"]
    return card["sub_title_text"] + quote + "".join(row["value"] for row in rows)


def many(study: Study, number: int = 9) -> Review:
    """A question with more evidence than a card takes."""
    rules = [
        rule(id=f"R{n}", logic={">": [{"var": "age"}, 200 + n]}, message=f"第{n}条入选标准未满足")
        for n in range(number)
    ]
    nodes = {"a": hard(rules=rules, on_fail="ask"), "ask": human()}
    found = review_of(run_of(study, new_skill(study, nodes)))
    tell()
    return found


@pytest.mark.full
def test_the_card_shows_finding_value_and_passage_and_chooses_nothing(
    study: Study, review: Review
) -> None:
    card = card_of(review)
    shown = texts(card)
    assert HISTORY in shown
    assert CRITERION in shown
    assert "§4.2" in shown
    assert "间质性肺炎。" in shown
    assert [one["text"] for one in card["button_list"]] == ["放行(推翻判断)", "维持违背"]
    selection = card["button_selection"]
    assert "selected_id" not in selection
    assert selection["option_list"][0] == {"id": "none", "text": said("Please choose")}


@pytest.mark.full
@pytest.mark.parametrize("chosen", ["", "none"])
def test_a_tap_without_a_choice_closes_nothing(study: Study, review: Review, chosen: str) -> None:
    task = f"review_{review.pk}@1"
    click(task, "approve", "wanghushi", selected=chosen)
    work()
    review.refresh_from_db()
    assert review.status == "open"
    assert f"同意 {review.pk}" in outgoing("wanghushi")[-1]
    click(task, "approve", "wanghushi", selected="r_ok")
    work()
    review.refresh_from_db()
    assert (review.status, review.door) == ("approved", "card")


@pytest.mark.full
def test_the_record_of_a_card_holds_what_the_card_showed(study: Study, review: Review) -> None:
    click(f"review_{review.pk}@1", "approve", "wanghushi", selected="r_ok")
    work()
    page = console("wanghushi").get(f"/admin/engines/review/{review.pk}/change/").content.decode()
    shown = page.split('data-test="shown"')[1]
    assert HISTORY in shown
    assert CRITERION in shown
    assert "height_cm" not in shown
    entry = AuditEntry.objects.get(action="review.approve")
    assert entry.new["door"] == "card"
    assert entry.new["shown"]


def test_what_does_not_fit_has_no_button_but_the_link(study: Study) -> None:
    review = many(study)
    card = card_of(review)
    assert [one.get("type") for one in card["button_list"]] == [1]
    assert "button_selection" not in card
    click(f"review_{review.pk}@1", "approve", "wanghushi", selected="r_ok")
    work()
    review.refresh_from_db()
    assert review.status == "open"


@pytest.mark.full
def test_who_had_only_the_link_is_shown_it_in_words_before_a_word_decides(study: Study) -> None:
    review = many(study)
    before = len(outgoing("wanghushi"))
    receive(f"同意 {review.pk} 已核对", user="wanghushi")
    work()
    review.refresh_from_db()
    assert review.status == "open"
    told = "\n".join(outgoing("wanghushi")[before:])
    assert all(f"第{n}条入选标准未满足" in told for n in range(9))
    deliver()
    receive(f"同意 {review.pk} 已核对", user="wanghushi")
    work()
    review.refresh_from_db()
    assert (review.status, review.door) == ("approved", "text")


@pytest.mark.full
def test_every_door_shows_the_same_evidence(study: Study, review: Review) -> None:
    brief = kept_brief(Review.objects.get(pk=review.pk))
    assert brief is not None
    client = console("wanghushi")
    run = f"/admin/engines/taskrun/{review.task_run_id}/change/"
    desk = f"/admin/engines/review/{review.pk}/desk/"
    opened = f"/admin/engines/review/{review.pk}/opened/"
    for address in (run, desk, opened):
        page = client.get(address).content.decode()
        assert HISTORY in page.split('data-test="grounds"')[1].split("</section>")[0], address
        assert CRITERION in page.split('data-test="passages"')[1].split("</section>")[0], address
    answer: Any = api("wanghushi").get(f"/api/v1/task-runs/{review.task_run_id}/")
    told = answer.json()["review"]
    assert HISTORY in str(told["findings"])
    assert CRITERION in str(told["passages"])
    assert told["reason_required"] == {"approve": True, "reject": True}
    assert kept_brief(Review.objects.get(pk=review.pk)) == brief


@pytest.mark.full
def test_a_rule_shows_its_values_with_place_and_date(study: Study) -> None:
    logic = {"across_events": ["v2_arm_1", {"<": [{"var": "alt"}, 1]}]}
    nodes = {
        "a": hard(rules=[rule(field="alt", logic=logic, message="ALT")], on_fail="ask"),
        "ask": human(),
    }
    review = review_of(run_of(study, new_skill(study, nodes), "P016"))
    client = console("wanghushi")
    page = client.get(f"/admin/engines/review/{review.pk}/desk/").content.decode()
    grounds = page.split('data-test="grounds"')[1].split("</section>")[0]
    assert "185" in grounds
    day = next(
        row["lab_date"]
        for row in json.loads(review.values)
        if row.get("alt") == "185" and row.get("lab_date")
    )
    assert day in grounds


@pytest.mark.full
def test_an_undecided_check_asks_for_a_judgement(study: Study) -> None:
    review = review_of(run_qc(study, "P002"))
    tell()
    card = card_of(review)
    assert [one["text"] for one in card["button_list"]] == ["判断为符合", "判断为不符合"]
    page = console("wanghushi").get(f"/admin/engines/review/{review.pk}/desk/").content.decode()
    for shown in (texts(card), page):
        assert "模型未能判断,请您判断" in shown
        assert "多次重试后仍失败" not in shown
        assert "肺部阴影" in shown


@pytest.mark.full
def test_a_node_names_its_own_deeds(study: Study) -> None:
    nodes = {
        "a": hard(rules=[rule(logic={">": [{"var": "age"}, 200]})], on_fail="ask"),
        "ask": human(approve_label="确认入组", reject_label="不予入组"),
    }
    review = review_of(run_of(study, new_skill(study, nodes)))
    tell()
    assert [one["text"] for one in card_of(review)["button_list"]] == ["确认入组", "不予入组"]
    client = console("wanghushi")
    assert "确认入组" in client.get(f"/admin/engines/review/{review.pk}/desk/").content.decode()
    deliver()
    receive(f"同意 {review.pk} 源文件已核对", user="wanghushi")
    work()
    assert "确认入组" in outgoing("wanghushi")[-1]


@pytest.mark.full
def test_card_desk_and_api_say_that_redcap_asks_the_same(study: Study) -> None:
    nodes = {
        "a": hard(rules=[rule(logic={">=": [{"var": "age"}, 200]})], on_fail="ask"),
        "ask": human(),
    }
    review = review_of(run_of(study, new_skill(study, nodes)))
    found = PendingAction.objects.get(open_key__in=review.open_keys)
    Subject.objects.get_or_create(project=study.project, record_id=found.record_id)
    asked = RedcapQuery.objects.create(
        status_id=7071,
        project=study.project,
        **{name: getattr(found, name) for name in redcap_asks.PLACE},
        **dict.fromkeys(("opened_at", "last_at", "read_at"), now()),
    )
    tell()
    assert redcap_asks.told(7071) in texts(card_of(review))
    desk, finding = (
        f"/admin/engines/review/{review.pk}/desk/",
        f"/api/v1/pending-actions/{found.pk}/",
    )
    assert "query #7071" in console("wanghushi").get(desk).content.decode()
    assert api("wanghushi").get(finding).json()["redcap_query"] == 7071
    RedcapQuery.objects.filter(pk=asked.pk).update(state="closed")
    assert "query #7071" not in console("wanghushi").get(desk).content.decode()
    assert api("wanghushi").get(finding).json()["redcap_query"] is None
