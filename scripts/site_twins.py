"""A hook of mkdocs.yml: the site has each page's Markdown as well, `cli.md` beside `cli/`, as `llms.txt` names it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def on_post_build(config: Mapping[str, Any]) -> None:
    """Copy the sources of the pages into the site that was built."""
    docs, site = Path(config["docs_dir"]), Path(config["site_dir"])
    for page in docs.rglob("*.md"):
        twin = site / page.relative_to(docs)
        twin.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, twin)
