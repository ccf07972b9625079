"""Several reads at once, each with a connection of its own (design.md 8)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

import pytest
from django.db import connection

from engines.parallel import run_all
from tests.engines.chat.kit import ask
from tests.support.study import Study


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_jobs_run_in_threads_outside_of_a_transaction() -> None:
    assert not connection.in_atomic_block
    barrier = threading.Barrier(3, timeout=10)
    found = run_all([lambda: barrier.wait() >= 0] * 3)
    assert found == [True, True, True]


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_failing_job_is_not_swallowed() -> None:
    def fail() -> int:
        raise LookupError("x")

    with pytest.raises(LookupError):
        run_all([lambda: 1, fail])


@contextmanager
def answering_only_together(url: str, number: int) -> Iterator[str]:
    """A way to the stand-in at `url` that lets requests through once `number` of them are there."""
    together = threading.Barrier(number, timeout=10)

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept = {"Content-Type": self.headers["Content-Type"]}
            try:
                together.wait()
                with urlopen(Request(url, body, kept)) as answer:
                    status, told = 200, answer.read()
            except threading.BrokenBarrierError:
                status, told = 403, b"alone"
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *told: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/redcap/api/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("question", ["{}的ECOG评分", "{}的V2什么时候做"])
def test_the_subjects_of_one_question_are_read_in_one_request(study: Study, question: str) -> None:
    wanted = ["P001", "P003", "P004"]
    reply = ask("zhangyi", question.format("、".join(wanted)))
    bodies = [str(row["body"]) for row in study.stand_ins.requests("redcap")]
    assert [all(record in body for record in wanted) for body in bodies if "P003" in body] == [True]
    assert [source["record_id"] for source in reply.sources] == wanted
