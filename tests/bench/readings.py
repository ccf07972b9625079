"""What keeping readings current costs, and a query over them, against the REDCap stand-in over real HTTP.

A study of 2,000 subjects with 60 fields: its first sweep, a sweep that finds nothing new, and a query over all.
Then 50 studies on a small REDCap, in each of which one subject has changed: one poll each. The limit of
requests a second, which protects a real REDCap, is lifted. Wall-clock seconds, the stand-in's own work inside.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench._measure import Row, row, seconds

SUBJECTS, FIELDS, FEW, STUDIES = 2_000, 60, 20, 50
TOKEN = "A" * 32
POLLS_S, SWEEP_S, QUERY_MS = 25.0, 30.0, 1000.0
Save = Callable[[str, str], None]


def run() -> list[Row]:
    """Seconds of sweeps and polls, milliseconds of a query."""
    from core.house.gc_tuning import freeze_loaded
    from tests.bench import _demo

    with _demo.study(), _redcap(SUBJECTS) as (large, _save), _redcap(FEW) as (small, save):
        from django.conf import settings

        settings.REDCAP_REQUESTS_PER_SECOND = 10_000.0
        freeze_loaded()
        return [*_sweeps(_project("LARGE", large)), _polls(small, save)]


def _sweeps(project: Any) -> list[Row]:
    from study import door, sync

    first = seconds(partial(sync.sweep, project))
    again = seconds(partial(sync.sweep, project))
    question = {"where": [{"field": "f7", "op": ">", "value": 50}], "aggregate": "count"}
    ask = partial(door.ask_one, project, None, question)
    ask()
    query = sorted(seconds(ask) for _round in range(5))[2] * 1000
    what = f"{SUBJECTS:,} subjects x {FIELDS} fields"
    return [
        _row(f"readings: first sweep of {what}, s", first, SWEEP_S, "s"),
        _row(f"readings: sweep of {what} that finds nothing new, s", again, SWEEP_S, "s"),
        _row(f"readings: query over {what}, ms", query, QUERY_MS, "ms"),
    ]


def _polls(url: str, save: Save) -> Row:
    from study import sync

    projects = [_project(f"S{number}", url) for number in range(STUDIES)]
    for project in projects:
        sync.sweep(project)
    save("1", "77")

    def poll() -> None:
        for project in projects:
            sync.poll(project)

    return _row(
        f"readings: polls of {STUDIES} studies with a change each, s", seconds(poll), POLLS_S, "s"
    )


def _row(name: str, taken: float, goal: float, unit: str) -> Row:
    return row(name, round(taken, 2), goal=f"< {goal:g} {unit}", met=taken < goal)


def _project(code: str, url: str) -> Any:
    from projects.models import Project

    return Project.objects.create(
        code=code, name=code, start_date=date(2026, 1, 5), redcap_url=url, redcap_token=TOKEN
    )


@contextmanager
def _redcap(subjects: int) -> Iterator[tuple[str, Save]]:
    """The address of a REDCap with so many subjects, and how somebody saves a value of one."""
    from demo.simulators.redcap.service import RedcapService
    from demo.simulators.server import start_in_thread
    from demo.simulators.state import State

    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        _write(Path(folder), subjects)
        state = State()
        service = RedcapService(state, Path(folder))
        service.configure({"tokens": [{"token": TOKEN, "user": "bench"}]})
        server = start_in_thread(state, [service])
        url = server.url.rstrip("/")
        try:
            yield f"{url}/redcap/api/", partial(_save, url)
        finally:
            server.stop()


def _save(url: str, record: str, value: str) -> None:
    import httpx

    row = {"record": record, "event": "", "values": {"f7": value}}
    httpx.post(f"{url}/_control/redcap/records", json=[row], trust_env=False).raise_for_status()


def _write(folder: Path, subjects: int) -> None:
    from demo.simulators.study import METADATA_COLUMNS

    root = folder / "redcap"
    root.mkdir()
    names = ["record_id", *(f"f{number}" for number in range(FIELDS))]
    with (root / "metadata.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, METADATA_COLUMNS, restval="")
        writer.writeheader()
        number = {"text_validation_type_or_show_slider_number": "number", "form_name": "base"}
        writer.writerows(
            {"field_name": name, "field_label": name, "field_type": "text", **number}
            for name in names
        )
    flags = {"is_longitudinal": 0, "has_repeating_instruments_or_events": 0}
    content: dict[str, Any] = {
        "project": {"project_id": 1, "missing_data_codes": "", **flags},
        "instruments": [{"instrument_name": "base", "instrument_label": "base"}],
        "records": [
            {"record": str(one), "event": "", "values": {n: str(one % 97) for n in names[1:]}}
            for one in range(1, subjects + 1)
        ],
    }
    for name, part in content.items():
        (root / f"{name}.json").write_text(json.dumps(part), "utf-8")
