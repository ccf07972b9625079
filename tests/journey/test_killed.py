"""Killed while a message is on its way: the answer arrives, once (issue A, must show 6)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.journey.house import House, house, wait

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("journey")]
CELERY = ("-m", "celery", "-A", "iit_manager")
QUESTION = "P001 入组了吗?"
TRUTH = "2026-02-05"


def start_product(made: House) -> None:
    made.start(
        "web",
        *["-m", "gunicorn", "iit_manager.wsgi", "--worker-class", "gthread", "--threads", "8"],
        *["--bind", f"127.0.0.1:{made.port}", "--log-level", "warning"],
    )
    start_worker(made)
    made.start("beat", *CELERY, "beat", "--pidfile", "", "--loglevel", "warning")
    wait(made.is_ready, "/readyz")


def start_worker(made: House) -> None:
    made.start(
        "worker",
        *[*CELERY, "worker", "--pool", "threads", "--concurrency", "4"],
        *["--without-gossip", "--without-mingle", "--loglevel", "warning"],
    )


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("house")) as made:
        made.start("simulators", "-m", "simulators", "--port", str(made.sim_port))
        wait(lambda: made.control("health"), "the stand-ins")
        made.manage("migrate", "--verbosity", "0")
        made.manage("createcachetable")
        made.manage("demo")
        start_product(made)
        yield made


def true_answers(made: House) -> list[str]:
    return [text for text in made.answers("zhangyi") if TRUTH in text]


def settle(made: House) -> None:
    """Another question afterwards: when it is answered, a doubled first answer would be there, too."""
    made.control("wecom/push", {"user": "zhangyi", "text": "P003 的 ECOG 是几分"})
    wait(lambda: any("ECOG" in text for text in made.answers("zhangyi")), "the second answer")


def test_the_worker_dies_while_it_answers(made: House) -> None:
    reading = {"service": "redcap", "path": "", "kind": "delay", "value": 5, "times": 1}
    made.control("faults", [reading])
    before = len(made.control("requests?service=redcap"))
    made.control("wecom/push", {"user": "zhangyi", "text": QUESTION})
    wait(lambda: len(made.control("requests?service=redcap")) > before, "the question at REDCap")
    made.kill("worker")
    start_worker(made)
    wait(lambda: true_answers(made), "the answer")
    settle(made)
    assert len(true_answers(made)) == 1


def test_everything_dies_just_after_the_callback(made: House) -> None:
    made.kill("worker")
    pushed = made.control("wecom/push", {"user": "zhangyi", "text": QUESTION})
    assert pushed["deliveries"][0]["status"] == 200
    made.kill("web")
    made.kill("beat")
    start_product(made)
    wait(lambda: true_answers(made), "the answer")
    settle(made)
    assert len(true_answers(made)) == 1
