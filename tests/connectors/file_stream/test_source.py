"""FileStreamSource: lines of a file as a lane and as batches read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headrace.connectors.base import StoredOffsets, TaskContext
from headrace.connectors.feed import FeedSource
from headrace.connectors.file_stream.source import FileStreamSourceConnector, FileStreamSourceTask
from headrace.errors import ConnectError
from headrace.runtime.feed_settings import lane_producer
from headrace.spark.feeds import Feed, FeedPartition, Target, Update
from headrace.spark.plane import Handle, columns, data_plane, plan_of
from tests.clusters import Cluster
from tests.support import captured_logs, wait_until

WAIT_S = 60
LINES = "één\n\nthree\r\nfour\rfive\nunfinished".encode()
TEXTS, END = ["één", "", "three", "four", "five"], len(LINES) - len(b"unfinished")


class Read:
    """A lane that copies a file to a topic."""

    def __init__(self, spark: SparkSession, cluster: Cluster, target: str, source: FeedSource) -> None:
        ((path, _), position), *_ = source.positions.items()
        feed = Feed(
            name=f"{target}-0",
            consumer=source.consumer,
            producer=lane_producer({"bootstrap.servers": cluster.bootstrap}, None),
            partitions=[FeedPartition(path, 0, position, target)],
            targets=[Target(target, 1, 1_048_588, False)],
            files=True,
        )
        none = F.lit(None).cast("string")
        frame = columns(spark)
        lines = frame.select(
            frame["destination"].alias("topic"),
            F.lit(None).cast("int").alias("partition"),
            F.unix_millis(frame["timestamp"]).alias("timestamp"),
            frame["key"],
            frame["value"],
            frame["headers"],
            none.alias("failure"),
        )
        self._cluster, self._target, self._updates = cluster, target, list[Update]()
        self.handle: Handle = data_plane(spark).add(feed, plan_of(lines))

    def until(self, condition: Callable[[Update], object], what: str) -> Update:
        def found() -> Update | None:
            update = self.handle.update(0.1)
            self._updates += [update] if update is not None else []
            return next((u for u in self._updates if condition(u)), None)

        answer = wait_until(found, WAIT_S, lambda: f"{what}; {self._updates[-3:]}")
        assert answer is not None
        return answer

    def until_position(self, position: int) -> list[str]:
        """The lines in the topic, once everything before this byte is acknowledged."""
        self.until(lambda u: any(p.next == position for p in u.partitions), f"it has come to byte {position}")
        return [(r.value or b"").decode() for r in self._cluster.read(self._target)]


def task_of(file: Path, **more: str) -> FileStreamSourceTask:
    task = FileStreamSourceTask(TaskContext("c", 0))
    task.start({"file": str(file), "topic": "t", **more})
    return task


def opened(task: FileStreamSourceTask, position: int | None = None) -> FeedSource:
    stored = StoredOffsets([(task.partitions()[0], None if position is None else {"position": position})])
    source = task.open(stored)
    assert source is not None
    return source


@pytest.fixture
def read(spark: SparkSession, source: Cluster, topic_name: Callable[[str], str]) -> Iterator[Callable[[FeedSource], Read]]:
    made: list[Read] = []

    def make(of: FeedSource) -> Read:
        source.create(target := topic_name("lines"))
        made.append(Read(spark, source, target, of))
        return made[-1]

    yield make
    for one in made:
        data_plane(spark).forget(one.handle)


def test_complete_lines_are_read_and_the_rest_follows_once_it_is_complete(
    read: Callable[[FeedSource], Read], tmp_path: Path
) -> None:
    file = tmp_path / "a b-7.txt"
    file.write_bytes(LINES)
    lane = read(opened(task_of(file)))
    assert lane.until_position(END) == TEXTS
    with file.open("ab") as more:
        more.write(b" no more\n")
    assert lane.until_position(len(LINES) + len(b" no more\n")) == [*TEXTS, "unfinished no more"]


def test_reading_resumes_at_the_stored_position_and_takes_few_lines_at_once(
    read: Callable[[FeedSource], Read], tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("".join(f"{n}\n" for n in range(1000, 2000)), encoding="utf-8")
    lane = read(opened(task_of(file, **{"batch.size": "7"}), 50))
    assert lane.until_position(5000) == [str(n) for n in range(1010, 2000)]


def test_a_file_that_does_not_exist_yet_is_waited_for(read: Callable[[FeedSource], Read], tmp_path: Path) -> None:
    file, task = tmp_path / "later.txt", task_of(tmp_path / "later.txt")
    with captured_logs() as events:
        lane = read(opened(task))
        task.needs_reopening()
    assert [e["cause"] for e in events if e["event"] == "file.source.waiting"] == ["No such file or directory"]
    file.write_text("here\n", encoding="utf-8")
    assert lane.until_position(5) == ["here"]


def test_a_line_without_an_end_fails_its_feed_with_a_sentence(read: Callable[[FeedSource], Read], tmp_path: Path) -> None:
    file, task = tmp_path / "long.txt", task_of(tmp_path / "long.txt")
    file.write_bytes(b"short\n" + bytes(17 << 20))
    failure = read(opened(task)).until(lambda u: u.ended, "it has failed").failure
    assert failure is not None
    assert (failure.place, failure.message) == (
        f"file={file}", f"The line of {file} that begins at byte 6 is longer than 16777216 bytes.",
    )  # fmt: skip
    with pytest.raises(ConnectError, match="that begins at byte 6 is longer than 16777216 bytes"):
        task.ends({(str(file), 0): 6})


def test_batches_have_the_same_lines_and_say_where_each_begins(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_bytes(LINES)
    task = task_of(file)
    source = opened(task)
    ((partition, begin),) = source.positions.items()
    assert task.ends(source.positions) == {partition: END}
    assert source.read_batch is not None
    spark.conf.set("spark.sql.sources.binaryFile.maxLength", 1)  # whatever the size of the file
    try:
        rows = source.read_batch(spark, {partition: (begin, END)}).collect()
    finally:
        spark.conf.unset("spark.sql.sources.binaryFile.maxLength")
    assert [row["value"].decode() for row in rows] == TEXTS
    assert [task.position({"file": row["topic"], "byte": str(row["offset"])}) for row in rows] == [
        (partition, at) for at in (0, 6, 7, 14, 19)
    ]


def test_a_file_that_has_become_shorter_is_named_once(tmp_path: Path) -> None:
    (file := tmp_path / "in.txt").write_text("a\n", encoding="utf-8")
    task = task_of(file)
    with captured_logs() as events:
        opened(task, 10)
        task.needs_reopening()
    (event,) = [e for e in events if e["event"] == "file.source.waiting"]
    assert event["cause"] == "it has 2 bytes, and 10 were read: if it is another file now, reset the offsets"


@pytest.mark.parametrize(
    ("offset", "sentence"),
    [
        ({"position": -1}, "should be a non-negative value"),
        ({"position": "0"}, "expected to be a Long value"),
        ({"pos": 1}, "contain the key 'position'"),
    ],
)
def test_impossible_positions_are_refused(offset: dict, sentence: str) -> None:
    with pytest.raises(ConnectError, match=sentence):
        FileStreamSourceConnector.alter_offsets({"file": "f"}, [({"filename": "f"}, offset)])
