"""Internal topics for a terminal and for machines: what each is to be, and how it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from headrace.cli.connectors.tables import cells_of, show

if TYPE_CHECKING:
    from headrace.streams.initialization import InternalTopicsDescription
    from headrace.streams.internal_topics import InternalTopic

_STYLES = {"missing": "yellow", "misconfigured": "bold red", "ok": "green"}


def show_topics(findings: InternalTopicsDescription) -> None:
    """A table of all internal topics, and below it what is wrong with them."""
    from rich.table import Table

    if not findings.topics:
        show("The topology has no internal topics.")
        return
    table = Table()
    for column in ("topic", "kind", "partitions", "settings", "is"):
        table.add_column(column, overflow="fold")
    for topic in findings.topics:
        state = findings.state_of(topic)
        settings = "\n".join(f"{key}={value}" for key, value in topic.configs.items())
        table.add_row(*cells_of((topic.name, topic.kind, str(topic.partitions), settings, Text(state, style=_STYLES[state]))))
    show(table, *(f"{finding.sentence} {finding.remedy}" for finding in findings.verification.misconfigured))


def as_json(findings: InternalTopicsDescription, created: Iterable[InternalTopic] = ()) -> str:
    """The same for a machine, with what has been created."""
    return json.dumps({"topics": findings.json(), "created": [topic.name for topic in created]}, ensure_ascii=False)
