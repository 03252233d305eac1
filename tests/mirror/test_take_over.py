"""A flow goes from the real MirrorMaker 2 to headrace and back, on the same topics, without a record lost or copied twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headrace.connectors.mirror.formats import Checkpoint
from headrace.jvm.jars import classpath
from headrace.jvm.java import find_java
from tests.clusters import Cluster, record
from tests.support import quick_java, wait_until

S = 240  # a JVM of each side has to start on a machine that is busy with other things
HEADRACE = [sys.executable, "-m", "headrace.cli", "mirror"]


@contextmanager
def process(command: list[str], log: Path) -> Iterator[None]:
    """A process that is asked to end after the block."""
    with log.open("ab") as out:
        running = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=quick_java())
    try:
        yield
        assert running.poll() is None, log.read_text()
        running.send_signal(signal.SIGTERM)
        running.wait(180)
    finally:
        running.kill()
        running.wait()


def mirror_maker(file: Path) -> list[str]:
    options = ["-Xmx512M", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", classpath("peers")]
    return [str(find_java().program), *options, "org.apache.kafka.connect.mirror.MirrorMaker", str(file)]


@pytest.fixture
def file(tmp_path: Path, source: Cluster, destination: Cluster, topic_name: Callable[[str], str]) -> Path:
    """An mm2.properties file of one flow."""
    a = topic_name("a")
    found = tmp_path / "mm2.properties"
    found.write_text(f"""
clusters = {a}, b
{a}.bootstrap.servers = {source.bootstrap}
b.bootstrap.servers = {destination.bootstrap}
{a}->b.enabled = true
{a}->b.topics = {a}-.*
{a}->b.groups = {a}-.*
emit.heartbeats.enabled = false
{a}->b.emit.heartbeats.enabled = true
heartbeats.topic.replication.factor = 1
replication.factor = 1
offset-syncs.topic.replication.factor = 1
checkpoints.topic.replication.factor = 1
offset.storage.replication.factor = 1
config.storage.replication.factor = 1
status.storage.replication.factor = 1
b.offset.flush.interval.ms = 500
emit.checkpoints.interval.seconds = 1
refresh.groups.interval.seconds = 1
sync.topic.acls.enabled = false
sync.group.offsets.enabled = true
sync.group.offsets.interval.seconds = 1
""")
    return found


def test_headrace_takes_over_from_mirror_maker_and_mirror_maker_from_headrace(
    file: Path, tmp_path: Path, source: Cluster, destination: Cluster
) -> None:
    alias = file.read_text().split()[2].rstrip(",")
    topic, copy, group = f"{alias}-orders", f"{alias}.{alias}-orders", f"{alias}-readers"
    source.create(topic, 2)
    offsets = f"mm2-offsets.{alias}.internal"
    sent = 0

    def send(value: bytes) -> None:
        nonlocal sent
        source.produce(topic, [record(b"%d" % n, value, partition=n % 2) for n in range(sent, sent + 20)])
        sent += 20
        wait_until(lambda: destination.size(copy) >= sent, S, f"{sent} records in {copy}")

    def stored(at_least: int) -> bool:
        """Whether an offset of both partitions is stored for all that was sent."""
        keys = {r.key: r.value for r in destination.read(offsets) if topic.encode() in (r.key or b"")}
        return sum(b'"offset":%d}' % at_least in (value or b"") for value in keys.values()) == 2

    def checkpoints() -> dict[int, tuple[int, int]]:
        read = [Checkpoint.read(r.key, r.value) for r in destination.read(f"{alias}.checkpoints.internal")]
        return {c.partition: (c.upstream, c.downstream) for c in read if c.group == group}

    with process(mirror_maker(file), tmp_path / "theirs.log"):
        send(b"theirs")
        source.admin.commit(group, {(topic, 0): 10, (topic, 1): 10})
        wait_until(lambda: stored(9), S, "MirrorMaker's offsets")
        wait_until(lambda: checkpoints().keys() == {0, 1}, S, "MirrorMaker's checkpoints")
    with process([*HEADRACE, str(file)], tmp_path / "ours.log"):
        send(b"ours")
        source.admin.commit(group, {(topic, 0): 20, (topic, 1): 20})
        wait_until(lambda: checkpoints() == {0: (20, 20), 1: (20, 20)}, S, "headrace's checkpoints")
        wait_until(lambda: stored(19), S, "headrace's offsets")
        planned = subprocess.run([*HEADRACE, "failover", str(file), "--dry-run"], capture_output=True, text=True, check=True)
        rows = [line.split() for line in planned.stdout.splitlines()]
        assert [group, copy, "0", "20", "20", "0", "yes"] in [row[:-1] for row in rows], planned.stdout
        assert rows[-1] == ["1", "group", "would", "start", "at", "these", "offsets."]
    destination.await_empty_group(f"{alias}-mm2")
    with process(mirror_maker(file), tmp_path / "theirs.log"):
        send(b"theirs again")
        source.admin.commit(group, {(topic, 0): 30, (topic, 1): 30})
        wait_until(lambda: all(down > 20 for _, down in checkpoints().values()), S, "MirrorMaker translates on")
    assert [(r.key, r.partition) for r in destination.read(copy)] == [(r.key, r.partition) for r in source.read(topic)]
