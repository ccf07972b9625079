"""Form templates: versions compared and restored, matched by keywords, drafted from the dictionary."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from skills import form_templates
from skills.models import FormTemplate, FormTemplateVersion
from tests.support.study import Study

pytestmark = pytest.mark.django_db
LIST = "/admin/skills/formtemplate/"
PAGE = f"{LIST}match/"


def stored(study: Study, form: str = "ae", *keywords: str) -> FormTemplate:
    row = FormTemplate(
        project=study.project, form_name=form, field_schema={"a": {}}, keywords=[*keywords]
    )
    return form_templates.save_template(template=row, actor="admin")


def typed(row: FormTemplate, **more: Any) -> dict[str, Any]:
    given = {
        "project": str(row.project_id),
        "form_name": row.form_name,
        "field_schema": json.dumps(row.field_schema),
        "keywords": json.dumps(row.keywords),
        "base_version": FormTemplate.objects.get(pk=row.pk).version,
    }
    return given | more


@pytest.mark.full
def test_each_change_is_a_version_that_can_be_restored(
    as_user: Callable[..., Client], study: Study
) -> None:
    client, row = as_user("admin"), stored(study, "ae", "不良事件")
    url = f"{LIST}{row.pk}/change/"
    assert client.post(url, typed(row, field_schema='{"aeterm": {}}')).status_code == 302
    assert client.post(url, typed(row, field_schema='{"aeterm": {}}')).status_code == 302
    assert FormTemplateVersion.objects.filter(template=row).count() == 2
    page = client.get(url).content.decode()
    assert "+    &quot;aeterm&quot;: {}" in page
    assert f"{LIST}{row.pk}/restore/1/" in page
    assert f"{LIST}{row.pk}/restore/2/" not in page

    assert client.post(f"{LIST}{row.pk}/restore/1/", {"version": "2"}).status_code == 302
    row.refresh_from_db()
    assert (row.version, row.field_schema) == (3, {"a": {}})


@pytest.mark.full
def test_what_another_administrator_wrote_meanwhile_is_kept(
    as_user: Callable[..., Client], study: Study
) -> None:
    client, row = as_user("admin"), stored(study, "ae", "不良事件")
    url, older = f"{LIST}{row.pk}/change/", typed(row)
    assert 'name="base_version" value="1"' in client.get(url).content.decode()
    assert client.post(url, older | {"field_schema": '{"theirs": {}}'}).status_code == 302
    told = client.post(url, older | {"field_schema": '{"mine": {}}'}).content.decode()
    assert "has changed meanwhile" in told
    back = client.post(f"{LIST}{row.pk}/restore/1/", {"version": "1"}, follow=True)
    assert "has changed meanwhile" in back.content.decode()
    with pytest.raises(ValidationError):
        form_templates.save_template(template=row, actor="other", base_version=1)
    row.refresh_from_db()
    assert (row.version, row.field_schema) == (2, {"theirs": {}})
    assert 'name="base_version"' not in as_user("zhangyi").get(url).content.decode()


def test_only_administrators_restore(as_user: Callable[..., Client], study: Study) -> None:
    row = stored(study)
    url = f"{LIST}{row.pk}/restore/1/"
    assert as_user("zhangyi").post(url).status_code == 404
    assert as_user("charlie").post(url).status_code in (403, 404)
    assert as_user("admin").get(url).status_code == 405
    assert as_user("zhangyi").get(PAGE).status_code == 403


def test_the_template_with_most_keywords_is_named_first(
    as_user: Callable[..., Client], study: Study
) -> None:
    stored(study, "ae", "不良事件", "严重程度")
    stored(study, "labs", "血常规", "严重程度", "ALT")
    answer = as_user("admin").post(
        PAGE, {"project": "LUNG-IIT", "text": "不 良 事件记录\n严重程度:轻", "try": "1"}
    )
    found = [(one.template.form_name, one.hits) for one in answer.context["found"]]
    assert found == [("ae", ("不良事件", "严重程度")), ("labs", ("严重程度",))]
    (labs,) = form_templates.matching_templates(study.project, "ａｌｔ 40")
    assert labs.template.form_name == "labs"
    assert form_templates.matching_templates(study.project, "无关的文字") == []


def test_a_blank_keyword_is_refused(study: Study) -> None:
    with pytest.raises(ValidationError):
        stored(study, "ae", "不良事件", " ")
    assert not FormTemplate.objects.exists()


@pytest.mark.full
def test_forms_of_the_dictionary_are_proposed_once(
    as_user: Callable[..., Client], study: Study
) -> None:
    client = as_user("admin")
    forms = [draft.form_name for draft in client.get(PAGE).context["drafts"]]
    assert len(forms) > 3
    client.post(PAGE, {"project": "LUNG-IIT", "take": "1", "form": [forms[0], "no_such_form"]})
    (row,) = FormTemplate.objects.all()
    assert row.form_name == forms[0]
    assert row.field_schema
    assert row.keywords
    left = [draft.form_name for draft in client.get(PAGE).context["drafts"]]
    assert left == forms[1:]


def test_nothing_ticked_stores_nothing(as_user: Callable[..., Client], study: Study) -> None:
    as_user("admin").post(PAGE, {"project": "LUNG-IIT", "take": "1"})
    assert not FormTemplate.objects.exists()
