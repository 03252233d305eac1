"""Artifacts of Maven by their coordinates, fetched by the Ivy in the PySpark wheel, each alone and checked by Ivy."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from headrace.errors import SetupError
from headrace.jvm import jars

_MODULE = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
<info organisation="io.headrace" module="plugin-{digest}"/><configurations><conf name="default"/></configurations>
<dependencies><dependency org={group} name={artifact} rev={version} transitive="false" conf="default->master">
<artifact name={artifact} type={extension} ext={extension}{classifier}/></dependency></dependencies></ivy-module>"""
_PART = r"[\w.\-+]+"
_COORDINATES = re.compile(rf"({_PART}):({_PART}):({_PART})(?::({_PART}))?(?::({_PART}))?")


@dataclass(frozen=True)
class Coordinates:
    """The Maven coordinates of an artifact."""

    group: str
    artifact: str
    version: str
    extension: str = "jar"
    classifier: str = ""
    """Empty for none."""

    @classmethod
    def parse(cls, text: str) -> Coordinates | None:
        """Read `group:artifact:version[:extension[:classifier]]`; None if it is not of this form."""
        match = _COORDINATES.fullmatch(text)
        return cls(match[1], match[2], match[3], match[4] or "jar", match[5] or "") if match else None

    @property
    def file_name(self) -> str:
        """As in a repository: `artifact-version[-classifier].extension`."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.{self.extension}"


def fetch(coordinates: Coordinates, into: Path, progress: jars.Progress) -> Path:
    """Fetch an artifact into a directory; returns the file. Raises SetupError as `headrace.jvm.jars.jars` does."""
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch, "ivy.xml")
        classifier = f" m:classifier={quoteattr(coordinates.classifier)}" if coordinates.classifier else ""
        names = {part: quoteattr(getattr(coordinates, part)) for part in ("group", "artifact", "version", "extension")}
        module.write_text(_MODULE.format(digest=Path(scratch).name, classifier=classifier, **names), encoding="utf-8")
        jars.retrieve("default", Path(scratch, "fetched"), progress, module)
        fetched = [file for file in Path(scratch, "fetched").iterdir() if file.is_file()]
        if len(fetched) != 1:
            raise SetupError(f"{coordinates.file_name} is {len(fetched)} files in the repository; expected one.")
        target = into / coordinates.file_name
        target.write_bytes(fetched[0].read_bytes())
        return target
