"""`make screens`: a picture of every page of the console, in Chinese, on a desktop and on a phone.

A demo house of its own is lived in for a few messages and runs; then every link that a page offers is followed
once per kind of page. Pages that scroll sideways on the phone are listed at the end (exit 1).
`make screens ARGS=manual`: the pictures of docs/manual alone, to static/iit/manual.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections import deque
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from demo.own_house import AnswerHouse, opened

SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
ASKED = (
    ("zhangyi", "P001 入组了吗?"),
    ("zhangyi", "P016 的 ALT 变化趋势"),
    ("wanghushi", "下周有哪些访视"),
    ("wanghushi", "以后叫我小王就行,下午三点再提醒我"),
    ("crc_b", "哪些受试者 ALT 高于上限?"),
    ("zhangyi", "今天月亮圆吗"),
)
CHECKED = ("P002", "P004", "P007", "P012")
_KEY = re.compile(r"/(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Z]{1,4}-?\d+)(?=/)")
_LEFT_OUT = re.compile(
    r"/(?:logout|jsi18n|history|delete|password_change)/|/static/|/(?:export|download)"
)

MANUAL = "static/iit/manual"
MANUAL_SIZE = (1100, 720)
MANUAL_PICTURES: dict[str, tuple[str, ...]] = {
    "home": ("/admin/",),
    "review": ("/admin/engines/review/desk/?all=1", "[data-desk-row]"),
    "findings": ("/admin/engines/pendingaction/?waits=yes",),
    "board": ("/admin/visits/",),
    "deviations": ("/admin/engines/deviation/", "#result_list tbody a"),
    "setup": (
        "/admin/projects/project/",
        "#result_list tbody a",
        "[data-test=missing] a.iit-button",
    ),
    "mappings": ("/admin/skills/fieldmapping/propose/",),
    "editor": ("/admin/skills/skill/?q=qc_process", "#result_list tbody a", "#sop-editor:visible"),
    "checks": ("/admin/engines/pendingaction/checks/",),
    "protocol": ("/admin/study/protocoldocument/upload/",),
    "charts": ("/admin/charts/",),
}
"""A picture of the manuals -> its page, and what is clicked there, one after the other."""
COLOURS = 48
"""A palette keeps a page of text below 80 kB."""


def main(folder: str = "var/screens", role: str = "admin") -> int:
    """Write the pictures to `folder`, as that log-in sees them; 1 where a page scrolls sideways."""
    wide: list[str] = []
    with tempfile.TemporaryDirectory() as place, opened(Path(place)) as house:
        _live(house)
        password = json.loads((Path(place) / "run.json").read_text("utf-8"))["logins"][role][
            "password"
        ]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            if folder == "manual":
                _illustrate(browser, house, (role, password), Path(MANUAL))
            else:
                wide = _photograph(browser, house, (role, password), Path(folder))
            browser.close()
    for path in wide:
        print("scrolls sideways on a phone:", path)
    return 1 if wide else 0


def _live(house: AnswerHouse) -> None:
    house.ask([{"user": user, "text": text} for user, text in ASKED])
    house.command("qc", *CHECKED)


def _photograph(
    browser: Browser, house: AnswerHouse, login: tuple[str, str], folder: Path
) -> list[str]:
    context = _context(browser, house)
    page = _log_in(context, *login)
    wide = []
    todo, known = deque(["/admin/"]), {"/admin/"}
    while todo:
        path = todo.popleft()
        page.set_viewport_size({"width": 1440, "height": 900})
        try:
            reply = page.goto(path)
        except Error:  # a file to keep
            continue
        if reply is None or "text/html" not in reply.headers.get("content-type", ""):
            continue
        for link in _links(page):
            if (kind := _kind(link)) not in known:
                known.add(kind)
                todo.append(link)
        wide += [path] * _shoot(page, folder, _kind(path), reply.status)
    context.close()
    return wide


def _context(browser: Browser, house: AnswerHouse) -> BrowserContext:
    base = f"http://127.0.0.1:{house.environment['PORT']}"
    return browser.new_context(base_url=base, locale="zh-CN")


def _illustrate(browser: Browser, house: AnswerHouse, login: tuple[str, str], folder: Path) -> None:
    """Write the pictures that the manuals name, as small files of few colours."""
    context = _context(browser, house)
    page = _log_in(context, *login)
    width, height = MANUAL_SIZE
    page.set_viewport_size({"width": width, "height": height})
    for name, (path, *clicks) in MANUAL_PICTURES.items():
        page.goto(path)
        for click in clicks:
            page.locator(click).first.click()
        page.wait_for_load_state("networkidle")
        picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
        picture.quantize(COLOURS).save(folder / f"{name}.png", optimize=True)
        print(name, (folder / f"{name}.png").stat().st_size)
    context.close()


def _log_in(context: BrowserContext, name: str, password: str) -> Page:
    page = context.new_page()
    page.goto("/admin/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", password)
    page.click("#login-form [type=submit]")
    return page


def _links(page: Page) -> list[str]:
    found = page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
    paths = (
        urlsplit(one).path for one in found if not urlsplit(one).netloc and not one.startswith("#")
    )
    return [one for one in paths if one.startswith("/admin/") and not _LEFT_OUT.search(one)]


def _kind(path: str) -> str:
    return _KEY.sub("/1", path)


def _shoot(page: Page, folder: Path, kind: str, status: int) -> bool:
    """The page in both sizes; whether it scrolls sideways on the phone."""
    name = kind.strip("/").replace("/", "_")
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        (folder / size).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / size / f"{name}.png", full_page=True)
    wide: bool = page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    print(status, kind, "wide" if wide else "")
    return wide


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
