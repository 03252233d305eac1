"""An option that is declared is read, or says why it has no effect."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from headrace.config.option import Option, OptionAttribute
from tests.config.declared import SOURCE, classes

_ONE_CLASS = "one class is taken, which is always used"
_COMPOSED = "its name is composed where it is read: of the part of a record, or of the option that names a class"
_CLIENTS = "a setting of clients, which are given what is under its prefix"
OTHERS = {
    "group.filter.class": _ONE_CLASS,
    "config.property.filter.class": _ONE_CLASS,
    "forwarding.admin.class": _ONE_CLASS,
    "dsl.store.format": "one format is taken",
    "source.max.poll.records": _CLIENTS,
    "topic.filter.class": _ONE_CLASS,
    "topic.creation.groups": "read by its declaration (headrace.connect_config.topic_creation.GROUPS)",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": "read of Spark's session, by the constant of its name",
    "key.subject.name.strategy": _COMPOSED,
    "value.subject.name.strategy": _COMPOSED,
    "key.converter.plugin.version": _COMPOSED,
    "value.converter.plugin.version": _COMPOSED,
    "header.converter.plugin.version": _COMPOSED,
}
"""Why an option is not read by name."""


def options() -> Iterator[tuple[str, Option]]:
    """The attributes of all classes of configurations."""
    for cls in classes():
        yield from ((name, value.option) for name, value in vars(cls).items() if isinstance(value, OptionAttribute))


def used(files: list[Path]) -> tuple[set[str], Counter[str]]:
    """The names of attributes that are read, and how often each text is in the sources."""
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    return attributes, Counter(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_every_option_is_read() -> None:
    attributes, texts = used([*SOURCE.rglob("*.py")])
    unread = {o.name for attribute, o in options() if attribute not in attributes and texts[o.name] < 2 and not o.without_effect}
    assert unread == OTHERS.keys()
