"""A list that a message shows a part of: whole on the page of its reader, and as a spreadsheet."""

from __future__ import annotations

import io
import json

import openpyxl
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from core.house import spreadsheet
from engines.assistant.say.answer import Table
from projects.models import Member, Project
from wechat.models import Answer
from wechat.outbound.answers import with_link

pytestmark = pytest.mark.django_db
ROWS = [(f"P{number:03}", f"{number}") for number in range(1, 251)]
SHEET = Table(("受试者", "值"), (*ROWS, ("P300", "=1+1")))


def browser(member: Member) -> Client:
    member.person.user = User.objects.create_user(member.wecom_userid)
    member.person.save()
    client = Client()
    client.force_login(member.person.user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def linked(project: Project) -> str:
    text = with_link("共 251 例", SHEET, to_user="zhangyi", project=project)
    assert text.startswith("共 251 例\n")
    assert "251" in text.splitlines()[1]
    return f"/wechat/answers/{Answer.objects.get().pk}/"


def test_the_whole_list_is_a_spreadsheet_of_texts(
    project: Project, people: dict[str, Member]
) -> None:
    page = linked(project)
    answer = browser(people["zhangyi"]).get(f"{page}xlsx/")
    assert answer["Content-Type"] == spreadsheet.CONTENT_TYPE
    assert ".xlsx" in answer["Content-Disposition"]
    sheet = openpyxl.load_workbook(io.BytesIO(answer.content)).active
    rows = list(sheet.iter_rows(values_only=True))
    assert rows == [SHEET.header, *SHEET.rows]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} == {"s"}
    assert sheet.freeze_panes == "A2"


def test_the_page_shows_the_beginning_and_says_what_more_there_is(
    project: Project, people: dict[str, Member]
) -> None:
    page = linked(project)
    told = browser(people["zhangyi"]).get(page).content.decode()
    assert told.count("<td>P") == 200
    assert f"{page}xlsx/" in told
    assert "51" in told.partition("</table>")[2]


@pytest.mark.parametrize("name", ["wanghushi", "admin"])
def test_nobody_else_finds_it(project: Project, people: dict[str, Member], name: str) -> None:
    page = linked(project)
    client = browser(people[name])
    assert [client.get(f"{page}{end}").status_code for end in ("", "xlsx/")] == [404, 404]
    assert Client().get(f"{page}xlsx/").status_code == 302


def test_an_answer_without_a_list_has_no_spreadsheet(
    project: Project, people: dict[str, Member]
) -> None:
    answer = Answer.objects.create(text="x", to_user="zhangyi", project=project)
    client = browser(people["zhangyi"])
    assert client.get(f"/wechat/answers/{answer.pk}/xlsx/").status_code == 404
    assert "xlsx" not in client.get(f"/wechat/answers/{answer.pk}/").content.decode()


def test_what_is_stored_is_ciphertext(project: Project) -> None:
    linked(project)
    with connection.cursor() as cursor:
        cursor.execute("select * from iit_wechat_answers")
        stored = str(cursor.fetchall())
    # No ciphertext holds these by chance, as it may hold four letters.
    plain = ['"P001"', "受试者", json.dumps("受试者").strip('"'), "共 251 例"]
    assert [one for one in plain if one in stored] == []
    assert "共 251 例" in Answer.objects.get().text
