"""Field mappings one by one above their list, many from a text or file, out again, and who uses them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from projects.models import AuditEntry
from skills import mapping_lines
from skills.models import FieldMapping, Skill
from skills.services import save_skill
from tests.console.conftest import CONFIG
from tests.support.study import Study

LIST = "/admin/skills/fieldmapping/"
PAGE = f"{LIST}lines/"


def post(client: Client, text: str = "", **more: Any) -> list[tuple[str, str]]:
    """(name, outcome) of every line of the report."""
    answer = client.post(PAGE, {"project": "LUNG-IIT", "text": text, **more})
    assert answer.status_code == 200
    return [(one.alias, str(one.outcome)) for one in answer.context["taken"]]


@pytest.fixture(autouse=True)
def _none(study: Study) -> None:
    FieldMapping.objects.all().delete()


@pytest.mark.parametrize("separator", ["\t", ",", ";", " , "])
def test_pasted_lines_are_stored_each_by_itself(
    as_user: Callable[..., Client], study: Study, separator: str
) -> None:
    client = as_user("admin")
    assert post(client, f"谷丙{separator}alt\n谷丙二{separator}altt\n\n体重{separator}ast\n") == [
        ("谷丙", "new"),
        ("谷丙二", "refused"),
        ("体重", "new"),
    ]
    assert dict(FieldMapping.objects.values_list("alias_name", "actual_name")) == {
        "谷丙": "alt",
        "体重": "ast",
    }
    assert AuditEntry.objects.filter(action="mapping.change", actor="admin").count() == 2


def test_a_refused_line_says_why_and_stays_in_the_box(
    as_user: Callable[..., Client], study: Study
) -> None:
    answer = as_user("admin").post(PAGE, {"project": "LUNG-IIT", "text": "甲\talt\n乙\taltt"})
    page = answer.content.decode()
    assert "Nearest: alt" in page
    box = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert box
    assert box[1].strip() == "乙\taltt"


@pytest.mark.full
def test_a_name_that_is_there_gets_its_new_field(
    as_user: Callable[..., Client], study: Study
) -> None:
    client = as_user("admin")
    post(client, "甲,alt\n乙,alt")
    assert post(client, "甲,ast\n乙,alt\n甲,alt") == [
        ("甲", "changed"),
        ("乙", "same"),
        ("甲", "refused"),
    ]
    assert FieldMapping.objects.get(alias_name="甲").actual_name == "ast"


@pytest.mark.parametrize("line", ["只有名字", ",alt", "甲" * 101 + ",alt"])
def test_a_line_that_lacks_something_is_refused(
    as_user: Callable[..., Client], study: Study, line: str
) -> None:
    assert [outcome for _alias, outcome in post(as_user("admin"), line)] == ["refused"]
    assert not FieldMapping.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_what_was_exported_comes_in_again(
    as_user: Callable[..., Client], study: Study, language: str
) -> None:
    client = as_user("admin", language)
    post(client, '甲,alt\n"乙, 丙",ast')
    answer = client.get(f"{LIST}export/")
    raw = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    FieldMapping.objects.all().delete()
    file = SimpleUploadedFile("m.csv", raw)
    assert sorted(post(client, file=file)) == [("乙, 丙", "new"), ("甲", "new")]


def test_a_file_from_a_chinese_spreadsheet_is_read(
    as_user: Callable[..., Client], study: Study
) -> None:
    file = SimpleUploadedFile("m.csv", "别名,REDCap 字段\n谷丙,alt\n".encode("gb18030"))
    assert ("谷丙", "new") in post(as_user("admin"), file=file)


@pytest.mark.full
def test_nothing_and_too_much_are_refused(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    assert post(client, "  \n") == []
    many = "\n".join(f"n{at},alt" for at in range(mapping_lines.MOST_LINES + 1))
    assert post(client, many) == []
    assert not FieldMapping.objects.exists()


@pytest.mark.full
def test_one_is_added_above_the_list(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    assert 'data-test="add-one"' in client.get(LIST).content.decode()
    body = {"one": "1", "project": "LUNG-IIT", "alias": "谷丙", "field": "alt"}
    assert "谷丙 → alt: Stored" in client.post(PAGE, body, follow=True).content.decode()
    wrong = client.post(PAGE, body | {"alias": "甲", "field": "altt"}, follow=True)
    assert "Nearest: alt" in wrong.content.decode()
    assert FieldMapping.objects.count() == 1


@pytest.mark.parametrize("name", ["zhangyi", "wanghushi", "crc_b", "auditor"])
def test_others_add_nothing(as_user: Callable[..., Client], study: Study, name: str) -> None:
    client = as_user(name)
    body = {"one": "1", "project": "LUNG-IIT", "alias": "谷丙", "field": "alt", "text": "甲,alt"}
    assert client.post(PAGE, body).status_code == 403
    body.pop("one")
    assert client.post(PAGE, body).status_code == 403
    assert 'data-test="add-one"' not in client.get(LIST).content.decode()
    assert not FieldMapping.objects.exists()


@pytest.mark.full
def test_a_wrong_field_is_refused_in_the_form(as_user: Callable[..., Client], study: Study) -> None:
    body = {"project": str(study.project.pk), "alias_name": "甲", "actual_name": "altt"}
    assert "Nearest: alt" in as_user("admin").post(f"{LIST}add/", body).content.decode()
    body["actual_name"] = "alt"
    assert as_user("admin").post(f"{LIST}add/", body).status_code == 302


@pytest.mark.full
def test_who_uses_a_name_is_told(
    as_user: Callable[..., Client], study: Study, django_assert_max_num_queries: Any
) -> None:
    client = as_user("admin")
    post(client, "年龄二,age_calculated\n没人用,alt")
    rule = CONFIG["nodes"]["check"]["rules"][0] | {"field": "年龄二"}  # type: ignore[index]
    node = CONFIG["nodes"]["check"] | {"rules": [rule]}  # type: ignore[index]
    config = CONFIG | {"nodes": CONFIG["nodes"] | {"check": node}}  # type: ignore[operator]
    skill = Skill(
        project=study.project, skill_type="qc_process:x", name="入组核对甲", config=config
    )
    save_skill(skill=skill, actor="test")
    with django_assert_max_num_queries(18):
        page = client.get(LIST).content.decode()
    assert "入组核对甲</a>: C1" in page
    used = FieldMapping.objects.get(alias_name="年龄二")
    assert "入组核对甲" in client.get(f"{LIST}{used.pk}/change/").content.decode()
    idle = FieldMapping.objects.get(alias_name="没人用")
    assert "入组核对甲" not in client.get(f"{LIST}{idle.pk}/change/").content.decode()
