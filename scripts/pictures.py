"""Copy the screenshots that the docs show from those that the browser tests have taken: `make pictures`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = ROOT / "docs" / "pictures"


def main() -> None:
    """Each picture of docs/pictures has the name of a screenshot, those beside the folder `page` with `page-` before it."""
    taken = Path(os.environ.get("HEADRACE_SCREENSHOTS") or ROOT / "build" / "page")
    wanted = {picture: taken / picture.name for picture in sorted((SHOWN / "page").glob("*.png"))}
    wanted |= {picture: taken / picture.name.removeprefix("page-") for picture in sorted(SHOWN.glob("page-*.png"))}
    if missing := [str(file) for file in wanted.values() if not file.is_file()]:
        sys.exit(f"These screenshots are missing; run the tests of tests/page first: {', '.join(missing)}.")
    for picture, file in wanted.items():
        shutil.copyfile(file, picture)
    print(f"{len(wanted)} pictures are in {SHOWN.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
