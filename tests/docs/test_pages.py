"""The Markdown of the repository: links lead somewhere, every page is on the site, and texts of errors are in the code."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
import yaml

from headrace.reference_pages import decisions_text, llms_text

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"])
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.S | re.M)
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as forges and the site make them."""
    found: set[str] = set()
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for heading in re.findall(r"^#+ (.+)$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for link in _LINK.findall(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def listed(entry: object) -> list[str]:
    if isinstance(entry, dict):
        return [page for value in entry.values() for page in listed(value)]
    return [page for part in entry for page in listed(part)] if isinstance(entry, list) else [str(entry)]


def test_every_page_is_on_the_site_once() -> None:
    nav = listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert sorted(nav) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_every_text_of_the_index_of_errors_is_in_the_code() -> None:
    index = (DOCS / "errors.md").read_text(encoding="utf-8")
    texts = re.findall(r"^\| `([^`]+)` \|", index, re.M)
    assert len(texts) > 10
    code = re.sub(r'"\s*\n\s*f?"', "", "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "src").rglob("*.py")))
    code = re.sub(r"\{[A-Z]+\}", "17", code)
    assert [text for text in texts if text not in code] == []


def test_the_list_of_decisions_is_that_of_their_files() -> None:
    assert (DOCS / "decisions" / "README.md").read_text(encoding="utf-8") == decisions_text(DOCS), "run `make docs`"


def test_llms_txt_is_that_of_the_pages() -> None:
    assert (DOCS / "llms.txt").read_text(encoding="utf-8") == llms_text(DOCS), "run `make docs`"


def test_llms_txt_has_every_page_of_the_site_once() -> None:
    linked = re.findall(r"^- \[[^\n]*?\]\(([^)]+\.md)\): ", (DOCS / "llms.txt").read_text(encoding="utf-8"), re.M)
    assert sorted(linked) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_every_page_has_a_sentence_in_llms_txt() -> None:
    entries = [line.partition("): ") for line in llms_text(DOCS).splitlines() if line.startswith("- [")]
    assert [page for page, _, sentence in entries if len(sentence.split()) < 3] == []


def not_on(site: Path) -> list[str]:
    """What llms.txt names, and the site has not."""
    linked = re.findall(r"^- \[.*?\]\(([^)]+\.md)\): ", llms_text(DOCS), re.M)
    assert len(linked) > 30
    return [page for page in linked if not (site / page).is_file()]


def test_the_site_has_the_markdown_that_llms_txt_names(tmp_path: Path) -> None:
    hooks = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["hooks"]
    for hook in hooks:
        runpy.run_path(str(ROOT / hook))["on_post_build"]({"docs_dir": str(DOCS), "site_dir": str(tmp_path)})
    assert not_on(tmp_path) == []
