"""Snapshots of all connectors: what a change of one makes anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from headrace.connect_config import validation
from headrace.rest import overview
from headrace.rest.cluster_figures import ClusterFigures
from headrace.rest.overview import Overview, OverviewRow
from tests.rest.memory_herder import MemoryHerder

NOBODY_ASKED: Any = None
"""Of a request, and of a client for other workers: there are none."""


class Read:
    """Reads the snapshots of a herder, as if each were asked for after the last one is too old."""

    def __init__(self, herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(overview, "_GROUP_PATIENCE_S", 60.0)  # who is in the group is no change between two snapshots
        self._herder, self._overview = herder, Overview(ClusterFigures(NOBODY_ASKED))

    def __call__(self) -> overview.Snapshot:
        return self._overview.read(cast(Any, self._herder), NOBODY_ASKED)

    def rows(self) -> dict[str, OverviewRow]:
        return {row.name: row for row in self().rows}


@pytest.fixture
def herder() -> MemoryHerder:
    herder = MemoryHerder()
    for name in "ab":
        herder.create(name, {"connector.class": "FileStreamSource", "file": "/x", "topic": "t"})
    return herder


def test_a_snapshot_in_which_nothing_has_changed_is_the_last_one(herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch):
    read = Read(herder, monkeypatch)
    assert read() is read()


def test_a_row_is_made_again_if_a_state_a_configuration_or_a_topic_has_changed(
    herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch
):
    read = Read(herder, monkeypatch)
    before = read.rows()
    herder.pause("a")
    paused = read.rows()
    assert (paused["a"].state, paused["b"] is before["b"]) == ("PAUSED", True)
    herder.topics["b"] = {"t"}
    assert (read.rows()["b"].topics, read.rows()["a"] is paused["a"]) == (["t"], True)
    herder.put_config("a", {"connector.class": "FileStreamSink", "topics": "t"})
    assert (read.rows()["a"].type, read.rows()["a"].connector_class) == ("sink", "FileStreamSink")
    herder.delete("a")
    assert list(read.rows()) == ["b"]


def test_a_row_of_a_class_that_was_not_found_is_made_again_when_it_is_there(
    herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    herder.configs["a"] = {"connector.class": "arrives_later.Later"}
    read = Read(herder, monkeypatch)
    assert read.rows()["a"].type == "unknown"
    module = "from headrace.connectors.file_stream.source import FileStreamSourceConnector as F\nclass Later(F): ..."
    (tmp_path / "arrives_later.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    validation.connector_class(herder.configs["a"])  # as a request to create one of its class does
    assert read.rows()["a"].type == "source"
