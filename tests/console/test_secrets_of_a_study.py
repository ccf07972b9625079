"""A stored secret goes to the address that it was given for, and to no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from pytest_django import Settings

from core.llm.providers import client_for
from projects import services
from projects.models import AuditEntry, Project

PAIRS = [
    ("redcap_url", "redcap_token", "https://redcap.example.org/redcap/api/"),
    ("dify_url", "dify_key", "https://dify.example.org/v1"),
    ("llm_base_url", "llm_api_key", "https://llm.example.org/v1"),
    ("llm_engines_base_url", "llm_engines_api_key", "https://engines.example.org/v1"),
    ("llm_small_base_url", "llm_small_api_key", "https://small.example.org/v1"),
]
CHANGES: dict[str, Callable[[str], str]] = {
    "host": lambda url: url.replace("example.org", "evil.example"),
    "host in front": lambda url: url.replace("https://", "https://evil.example/"),
    "port": lambda url: url.replace("example.org", "example.org:8443"),
    "path": lambda url: f"{url.rstrip('/')}/collect/api/",
    "scheme": lambda url: url.replace("https://", "http://"),
    "credentials": lambda url: url.replace("https://", "https://evil.example@"),
    "query": lambda url: f"{url}?to=evil",
}
SAME: dict[str, Callable[[str], str]] = {
    "nothing": lambda url: url,
    "a slash": lambda url: url.rstrip("/") if url.endswith("/") else f"{url}/",
    "case of the host": lambda url: url.replace("example.org", "EXAMPLE.org"),
    "the usual port": lambda url: url.replace("example.org", "example.org:443"),
    "blank": lambda url: "",
}


@pytest.fixture
def project(study: Any) -> Project:
    """A study that reaches its three outside systems under names."""
    for address, secret, url in PAIRS:
        setattr(study.project, address, url)
        setattr(study.project, secret, f"stored-{secret}")
    study.project.llm_preset = "local"
    study.project.save()
    found: Project = study.project
    return found


def send(client: Client, project: Project, **changed: str) -> Any:
    url = f"/admin/projects/project/{project.pk}/change/"
    form = client.get(url).context["adminform"].form
    given = {name: form[name].value() or "" for name in form.fields}
    given = {name: value for name, value in given.items() if value not in (False, None)}
    plan = {"visit_plan-TOTAL_FORMS": "0", "visit_plan-INITIAL_FORMS": "0"}
    return client.post(url, given | plan | changed)


def stored(project: Project) -> dict[str, str]:
    found = Project.objects.get(pk=project.pk)
    return {name: getattr(found, name) for pair in PAIRS for name in pair[:2]}


@pytest.mark.full
@pytest.mark.parametrize(("address", "secret", "url"), PAIRS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_address_demands_its_secret(
    as_user: Callable[..., Client],
    project: Project,
    address: str,
    secret: str,
    url: str,
    change: str,
) -> None:
    before, entries = stored(project), AuditEntry.objects.filter(action="project.change").count()
    answer = send(as_user("admin"), project, **{address: CHANGES[change](url)})
    assert answer.status_code == 200
    errors = answer.context["adminform"].form.errors
    # What may not be asked at all is refused as such.
    assert list(errors) == [address if change in ("scheme", "credentials") else secret]
    assert stored(project) == before
    assert AuditEntry.objects.filter(action="project.change").count() == entries
    assert f"stored-{secret}" not in answer.content.decode()


@pytest.mark.full
@pytest.mark.parametrize(("address", "secret", "url"), PAIRS)
@pytest.mark.parametrize("change", SAME)
def test_an_address_that_is_the_same_keeps_it(
    as_user: Callable[..., Client],
    project: Project,
    address: str,
    secret: str,
    url: str,
    change: str,
) -> None:
    answer = send(as_user("admin"), project, **{address: SAME[change](url)})
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    assert stored(project)[secret] == f"stored-{secret}"


@pytest.mark.full
@pytest.mark.parametrize(("address", "secret", "url"), PAIRS)
def test_a_blank_address_in_between_does_not_help(
    as_user: Callable[..., Client], project: Project, address: str, secret: str, url: str
) -> None:
    client = as_user("admin")
    assert send(client, project, **{address: ""}).status_code == 302
    answer = send(client, project, **{address: CHANGES["host"](url)})
    assert secret in answer.context["adminform"].form.errors
    assert stored(project)[address] == ""


@pytest.mark.full
@pytest.mark.parametrize(("address", "secret", "url"), PAIRS)
def test_with_the_secret_typed_the_address_changes(
    as_user: Callable[..., Client], project: Project, address: str, secret: str, url: str
) -> None:
    new = CHANGES["host"](url)
    answer = send(as_user("admin"), project, **{address: new, secret: "typed"})
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    assert (stored(project)[address], stored(project)[secret]) == (new, "typed")


@pytest.mark.full
def test_another_preset_is_another_address(
    as_user: Callable[..., Client], project: Project
) -> None:
    Project.objects.filter(pk=project.pk).update(llm_base_url="", llm_preset="qwen")
    answer = send(as_user("admin"), project, llm_preset="deepseek-v3")
    assert "llm_api_key" in answer.context["adminform"].form.errors
    same = "https://dashscope.aliyuncs.com/compatible-mode/v1"
    assert send(as_user("admin"), project, llm_base_url=same).status_code == 302


@pytest.mark.full
@pytest.mark.parametrize("purpose", ["engines", "small"])
def test_another_preset_of_a_purpose_is_another_address(
    as_user: Callable[..., Client], project: Project, purpose: str
) -> None:
    stem = f"llm_{purpose}"
    qwen = {f"{stem}_base_url": "", f"{stem}_preset": "qwen", f"{stem}_model": "m"}
    client = as_user("admin")
    answer = send(client, project, **qwen)
    assert list(answer.context["adminform"].form.errors) == [f"{stem}_api_key"]
    assert send(client, project, **qwen, **{f"{stem}_api_key": "typed"}).status_code == 302
    answer = send(client, project, **{f"{stem}_preset": "deepseek-v3"})
    assert list(answer.context["adminform"].form.errors) == [f"{stem}_api_key"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"preset": "chatgpt", "model": "m"}, "preset"),
        ({"preset": "qwen", "base_url": "", "api_key": "k"}, "model"),
        ({"preset": "local", "base_url": ""}, "base_url"),
        ({"preset": "qwen", "base_url": "", "api_key": "k", "model": "qwen-plus"}, ""),
        ({"preset": "local"}, ""),
    ],
)
def test_a_purpose_that_could_not_be_asked_is_refused_on_saving(
    as_user: Callable[..., Client], project: Project, given: dict[str, str], wrong: str
) -> None:
    typed = {f"llm_engines_{name}": value for name, value in given.items()}
    answer = send(as_user("admin"), project, **typed)
    errors = list(answer.context["adminform"].form.errors) if answer.status_code == 200 else []
    assert errors == ([f"llm_engines_{wrong}"] if wrong else [])


@pytest.mark.full
@pytest.mark.parametrize(("address", "secret", "url"), PAIRS)
@pytest.mark.parametrize(
    "bad", ["http://example.org/api/", "https://169.254.169.254/api/", "https://10.0.0.5/api/"]
)
def test_an_address_that_may_not_be_asked_is_refused_on_saving(
    as_user: Callable[..., Client], project: Project, address: str, secret: str, url: str, bad: str
) -> None:
    answer = send(as_user("admin"), project, **{address: bad, secret: "typed"})
    assert address in answer.context["adminform"].form.errors
    assert stored(project)[address] == url


@pytest.mark.parametrize(("address", "secret", "url"), PAIRS)
def test_no_other_door_lets_it_out_either(
    project: Project, address: str, secret: str, url: str
) -> None:
    setattr(project, address, CHANGES["host"](url))
    with pytest.raises(ValidationError) as caught:
        services.save_project(project=project, actor="admin")
    assert list(caught.value.message_dict) == [secret]
    assert stored(project)[address] == url
    services.save_project(project=project, actor="admin", typed={secret})
    assert stored(project)[address] == CHANGES["host"](url)


def test_the_key_of_the_house_goes_to_the_address_of_the_house(
    project: Project, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment may hold a key and no address; a study's own address gets the study's own key."""
    settings.LLM_API_KEY, settings.LLM_BASE_URL = "of-the-house", ""
    settings.LLM_PRESET, settings.LLM_MODEL = "qwen", "m"
    monkeypatch.setenv("LLM_API_KEY", "of-the-house")
    project.llm_preset = ""
    assert client_for(project)._key == "stored-llm_api_key"
    project.llm_api_key = ""
    assert client_for(project)._key == ""
    project.llm_base_url = ""
    assert client_for(project)._key == "of-the-house"
