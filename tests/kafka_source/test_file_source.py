"""A file source on the data plane: exactly once, failed lines, chains with Python functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import CONNECTOR_S, Deployed, deploying
from tests.support import wait_until

JSON = {"value_converter": "org.apache.kafka.connect.json.JsonConverter", "value_converter_schemas_enable": "false"}
CAST = {
    "transforms": "cast",
    "transforms_cast_type": "org.apache.kafka.connect.transforms.Cast$Value",
    "transforms_cast_spec": "int8",
}
Make = Callable[..., "FileSource"]


class FileSource(Deployed):
    """A FileStreamSource under test."""

    def position(self) -> int | None:
        offsets = self.worker.call("GET", self.path + "/offsets")["offsets"]
        return offsets[0]["offset"]["position"] if offsets else None

    def await_position(self, position: int) -> None:
        wait_until(lambda: self.position() == position, CONNECTOR_S, lambda: f"position {position}; {self.status()}")


def sources(worker: EmbeddedWorker, name: Callable[[], str]) -> Iterator[Callable[..., Any]]:
    topics = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    yield from deploying(worker, FileSource, name, topics)


@pytest.fixture
def file_source(worker: EmbeddedWorker, topic_name: Callable[[str], str]) -> Iterator[Make]:
    yield from sources(worker, lambda: topic_name("file"))


@pytest.fixture
def exact_file_source(exact: EmbeddedWorker, topic_name: Callable[[str], str]) -> Iterator[Make]:
    yield from sources(exact, lambda: topic_name("exact-file"))


def values(cluster: Cluster, topic: str) -> list[bytes | None]:
    return [r.value for r in cluster.read(topic, settled=True)]


@pytest.mark.parametrize("make", ["file_source", "exact_file_source"])
def test_lines_before_one_that_fails_are_written_and_the_next_run_begins_at_it(
    make: str, request: pytest.FixtureRequest, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    create: Make = request.getfixturevalue(make)
    topic, file = topic_name("lines"), tmp_path / "in.txt"
    file.write_text("1\n22\nthree\n4\n")
    one = create("FileStreamSource", file=str(file), topic=topic, **JSON, **CAST)
    assert f"file={file}, byte=5, at transform 'cast'" in one.trace()
    assert (values(destination, topic), one.position()) == ([b"1", b"22"], 5)
    file.write_text("1\n22\n33333\n4\n")
    one.configure({"transforms.cast.spec": "int32"})
    one.await_position(13)
    assert values(destination, topic) == [b"1", b"22", b"33333", b"4"]
    one.await_topics(topic)


def test_offsets_in_transactions_are_positions_after_the_last_line(
    exact_file_source: Make, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic, file = topic_name("lines"), tmp_path / "in.txt"
    file.write_text("".join(f"{n}\n" for n in range(100, 5000)))
    one = exact_file_source("FileStreamSource", file=str(file), topic=topic, **JSON)
    one.await_position(file.stat().st_size)
    one.restart("?includeTasks=true")
    with file.open("a") as more:
        more.write("more\n")
    one.await_position(file.stat().st_size)
    assert values(destination, topic) == [b'"%d"' % n for n in range(100, 5000)] + [b'"more"']


def test_a_chain_with_a_python_function_takes_batches_of_lines(
    file_source: Make, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic, file = topic_name("lines"), tmp_path / "in.txt"
    file.write_text("a\r\nb\n")
    counted = {"transforms": "mine", "transforms_mine_type": "tests.transforms.own_plugins.Counted"}
    one = file_source("FileStreamSource", file=str(file), topic=topic, **JSON, **counted)
    one.await_position(5)
    with file.open("a") as more:
        more.write("c\nunfinished")
    one.await_position(7)
    assert values(destination, topic) == [b'"a"', b'"b"', b'"c"']
