from pathlib import Path

import pytest

from headrace import docs_pages

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """What is written. It takes seconds, so not when tests are collected, which every process of a run does."""
    return docs_pages.pages()


def test_the_pages_on_disk_are_what_the_declarations_say(pages):
    stale = [name for name, text in pages.items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert not stale, "run `python -m headrace.docs_pages`"


def test_there_is_no_page_of_something_that_is_gone(pages):
    assert {path.name for path in DOCS.glob("options-*.md")} == {name for name in pages if name.startswith("options-")}


def test_writing_replaces_all_pages(pages, tmp_path):
    (tmp_path / "options-gone.md").write_text("x")
    (tmp_path / "other.md").write_text("x")
    docs_pages.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*pages, "other.md", "decisions", "llms.txt"}
