from pathlib import Path

import pytest

from headrace import docs_pages

DOCS = Path(__file__).parents[2] / "docs"
PAGES = docs_pages.pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_on_disk_is_what_the_declarations_say(name):
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name], "run `python -m headrace.docs_pages`"


def test_there_is_no_page_of_something_that_is_gone():
    assert {path.name for path in DOCS.glob("options-*.md")} == set(PAGES)


def test_writing_replaces_all_pages(tmp_path):
    (tmp_path / "options-gone.md").write_text("x")
    (tmp_path / "other.md").write_text("x")
    docs_pages.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*PAGES, "other.md"}
