"""The site of docs/, built without a warning: every link on it leads somewhere, and a browser shows it without asking others."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

from tests.browser import keep_picture, launched
from tests.docs.test_pages import DOCS, ROOT, not_on

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

WAIT_S = 180
WIDE, NARROW = 1280, 390
BASE = "http://site/"
MAIN = (
    "", "tutorials/first-mirror/", "deploy/", "monitoring/", "guarantees/", "errors/", "reference-metrics/", "options-worker/",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", target]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert built.returncode == 0, built.stderr
    return target


class Html(HTMLParser):
    """What a page links to, and the names in it that can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if value is not None and key in ("href", "src"):
                self.links.append(value)
            elif value is not None and key in ("id", "name"):
                self.names.add(value)


def read(file: Path) -> Html:
    html = Html()
    html.feed(file.read_text(encoding="utf-8"))
    return html


def test_the_site_has_every_page_and_its_markdown(site: Path) -> None:
    assert not_on(site) == []
    pages = [page.relative_to(DOCS).with_suffix("") for page in DOCS.rglob("*.md") if page.name not in ("index.md", "README.md")]
    assert [page for page in pages if not (site / page / "index.html").is_file()] == []


def test_every_link_within_the_site_leads_to_a_file_and_a_place_in_it(site: Path) -> None:
    pages = {file: read(file) for file in site.rglob("*.html")}
    assert len(pages) > 90
    dead = []
    for file, html in pages.items():
        here = BASE + file.relative_to(site).as_posix().removesuffix("index.html")
        for link in html.links:
            target, name = urldefrag(urljoin(here, link))
            if not target.startswith(BASE):
                continue
            path = site / unquote(urlsplit(target).path).lstrip("/")
            path = path / "index.html" if path.is_dir() else path
            if not path.is_file() or (name and path in pages and unquote(name) not in pages[path].names):
                dead.append(f"{file.relative_to(site)}: {link}")
    assert dead == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched(WAIT_S) as chromium:
        yield chromium


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


Scheme = Literal["light", "dark"]


@pytest.fixture
def show(browser: Browser, url: str) -> Iterator[Callable[[int, Scheme], Callable[[str], Page]]]:
    """A window of this width, which goes to pages of the site. Whatever they ask for has to be there, and of the site; their
    scripts have to report nothing.
    """
    problems: list[str] = []
    contexts = []

    def opened(width: int, scheme: Scheme) -> Callable[[str], Page]:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_S * 1000)
        page.on("request", lambda request: None if request.url.startswith((url, "data:")) else problems.append(request.url))
        page.on("response", lambda answer: problems.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)

        def go(path: str) -> Page:
            page.goto(url + path)
            return page

        return go

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


@pytest.mark.parametrize(
    ("look", "width", "scheme"), [("wide", WIDE, "light"), ("narrow", NARROW, "light"), ("dark", WIDE, "dark")]
)
def test_main_pages_fit_into_the_window(
    look: str, width: int, scheme: Scheme, show: Callable[[int, Scheme], Callable[[str], Page]]
) -> None:
    folder = Path(os.environ.get("HEADRACE_SCREENSHOTS") or ROOT / "build" / "site-pictures")
    go = show(width, scheme)
    for path in MAIN:
        page = go(path)
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        keep_picture(page, folder / f"{path.strip('/').replace('/', '-') or 'home'}-{look}.png")


def test_the_search_finds_a_setting(show: Callable[[int, Scheme], Callable[[str], Page]]) -> None:
    from playwright.sync_api import expect

    page = show(WIDE, "light")("")
    page.keyboard.press("/")
    page.get_by_role("textbox", name="Search").press_sequentially("session.timeout.ms")  # the search hears keys alone
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    page.locator(".md-search-result__link").first.click()
    expect(page.locator("h1")).not_to_have_text("headrace")
