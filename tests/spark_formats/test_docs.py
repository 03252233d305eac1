"""The connectors of docs/spark-formats.md work: on a real worker, with real brokers, files, PostgreSQL and Delta tables."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.clusters import Cluster, record
from tests.sinks.sink import Sink
from tests.spark_formats.conftest import Sql
from tests.spark_formats.postgres import Postgres
from tests.support import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.testing.worker import EmbeddedWorker

PAGE = (Path(__file__).parents[2] / "docs" / "spark-formats.md").read_text(encoding="utf-8")
EXAMPLES = {one["name"]: one["config"] for one in map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))}
LONG_S = 180


@pytest.fixture
def run(
    worker: EmbeddedWorker, topic_name: Callable[[str], str], tmp_path: Path, postgres: Postgres
) -> Iterator[Callable[..., Sink]]:
    """Runs an example: `run("visits", topic="t")`, with files below `tmp_path`, and the settings that are given instead."""
    made: list[Sink] = []

    def create(name: str, **more: str) -> Sink:
        text = json.dumps(EXAMPLES[name]).replace("/data", str(tmp_path))
        text = text.replace("jdbc:postgresql://localhost:5432/postgres", postgres.url)
        made.append(Sink(worker, topic_name(name), json.loads(text) | {k.replace("_", "."): v for k, v in more.items()}))
        made[-1].create()
        return made[-1]

    yield create
    for one in made:
        one.delete()


Run = Callable[..., Sink]
Name = Callable[[str], str]


def values(cluster: Cluster, topic: str, count: int, one: Sink) -> list[Any]:
    """The values of a topic once there are so many; fails if a task does."""

    def there() -> bool:
        assert "FAILED" not in one.states(), one.status()
        return cluster.size(topic) >= count

    wait_until(there, LONG_S, f"{count} records in {topic}")
    return [json.loads(r.value or b"null") for r in cluster.read(topic)]


def await_offset(one: Sink, condition: Callable[[dict[str, Any]], object]) -> None:
    """Wait until the source offset that REST shows is such a one."""

    def offset() -> dict[str, Any]:
        found = one.worker.call("GET", one.path + "/offsets")["offsets"]
        return found[0]["offset"] if found else {}

    wait_until(lambda: condition(offset()), LONG_S, lambda: f"the offset, not {offset()}")


def test_files_go_through_a_topic_into_files(
    run: Run, destination: Cluster, topic_name: Name, tmp_path: Path, spark: SparkSession
) -> None:
    topic = topic_name("visits")
    destination.create(topic)
    (tmp_path / "visits").mkdir()
    (tmp_path / "visits/1.json").write_text('{"page": "home", "seconds": 3}\n{"page": "shop"}\n')
    visits = run("visits", topic=topic)
    first = values(destination, topic, 2, visits)
    assert first == [{"page": "home", "seconds": 3}, {"page": "shop", "seconds": None}]
    assert [r.key for r in destination.read(topic)] == [b"home", b"shop"]

    visits.put("stop")
    visits.await_states("STOPPED")
    await_offset(visits, lambda offset: offset.get("path") == f"file:{tmp_path}/visits/1.json")
    (tmp_path / "visits/2.json").write_text('{"page": "late", "seconds": 1}\n')
    visits.put("resume")
    assert values(destination, topic, 3, visits)[2:] == [{"page": "late", "seconds": 1}]

    run("archive", topics=topic).await_offsets({(topic, 0): 3})
    rows: list[Any] = spark.read.parquet(str(tmp_path / "archive" / topic)).orderBy("__connect_offset").collect()
    assert [(r.page, r.seconds, r["__connect_offset"]) for r in rows] == [("home", 3, 0), ("shop", None, 1), ("late", 1, 2)]


def test_tables_go_through_a_topic_into_tables(
    run: Run, destination: Cluster, topic_name: Name, sql: Sql, tmp_path: Path, spark: SparkSession
) -> None:
    topic, copied = topic_name("orders"), topic_name("lake")
    for one in (topic, copied):
        destination.create(one)
    sql("CREATE TABLE orders (id BIGINT, changed TIMESTAMP, price NUMERIC(10,2), day DATE, paid BOOLEAN)")
    sql("INSERT INTO orders VALUES (1, '2026-01-01', 9.90, '2026-01-01', true), (2, '2026-01-02 03:04:05.678', NULL, NULL, NULL)")
    orders = run("orders", topic=topic)
    (first, second) = values(destination, topic, 2, orders)
    assert first["payload"] == {"id": 1, "changed": 1767225600000, "price": "A94=", "day": 20454, "paid": True}
    assert second["payload"] == {"id": 2, "changed": 1767323045678, "price": None, "day": None, "paid": None}
    assert [f["field"] for f in first["schema"]["fields"]] == ["id", "changed", "price", "day", "paid"]
    sql("UPDATE orders SET changed = '2026-01-03', paid = false WHERE id = 1")
    assert values(destination, topic, 3, orders)[2]["payload"]["paid"] is False

    totals, lake = run("totals", topics=topic), run("lake", topics=topic)
    totals.await_offsets({(topic, 0): 3})
    got = sql("SELECT id, (extract(epoch FROM changed) * 1000)::bigint, price, day::text, paid FROM order_copies ORDER BY id")
    assert [(r[0], r[1], r[2] and str(r[2]), r[3], r[4]) for r in got] == [
        (1, 1767398400000, "9.90", "2026-01-01", False),
        (2, 1767323045678, None, None, None),
    ]
    lake.await_offsets({(topic, 0): 3})
    table = spark.read.format("delta").load(str(tmp_path / "lake/orders"))
    rows = table.selectExpr("id", "unix_millis(changed)", "paid IS NULL").collect()
    assert sorted(map(tuple, rows)) == [(1, 1767225600000, False), (1, 1767398400000, False), (2, 1767323045678, True)]

    stream = run("lake-orders", topic=copied)
    assert sorted(v["id"] for v in values(destination, copied, 3, stream)) == [1, 1, 2]
    stream.put("stop")
    stream.await_states("STOPPED")
    await_offset(stream, lambda offset: "reservoirVersion" in offset)
    sql("INSERT INTO orders VALUES (3, '2026-01-04', NULL, NULL, NULL)")
    lake.await_offsets({(topic, 0): 4})
    stream.put("resume")
    assert [v["id"] for v in values(destination, copied, 4, stream)[3:]] == [3]


def test_a_data_source_in_python_resumes_at_its_own_offset(
    run: Run, destination: Cluster, topic_name: Name, tmp_path: Path
) -> None:
    source = (Path(__file__).parent / "counting.py").read_text(encoding="utf-8")
    assert re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) == [source[source.index("class Counting") :]]
    topic, upto = topic_name("numbers"), tmp_path / "upto"
    destination.create(topic)
    upto.write_text("3")
    counting = run("counting", topic=topic)
    assert values(destination, topic, 3, counting) == [0, 1, 2]
    counting.put("stop")
    counting.await_states("STOPPED")
    await_offset(counting, lambda offset: offset == {"n": 3})
    upto.write_text("5")
    counting.put("resume")
    assert values(destination, topic, 5, counting) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="pyspark-data-sources cannot be installed with Python 3.13")
def test_a_data_source_of_pyspark_data_sources_is_a_connector(run: Run, destination: Cluster, topic_name: Name) -> None:
    topic = topic_name("people")
    destination.create(topic)
    people = values(destination, topic, 3, run("fake", topic=topic))
    assert {"name", "date", "zipcode", "state"} == set(people[0])


def test_a_value_that_is_not_of_the_schema_fails_by_name(run: Run, destination: Cluster, topic_name: Name) -> None:
    topic, letters = topic_name("bad"), topic_name("letters")
    destination.create(topic)
    destination.produce(
        topic, [record(None, b'{"page": "home", "seconds": %s}' % seconds) for seconds in (b"1", b'"many"', b"2")]
    )
    queue = "errors.deadletterqueue.topic."
    one = run("archive", topics=topic, **{queue + "name": letters, queue + "replication.factor": "1"})
    assert "The value is not a JSON object of page STRING, seconds INT" in one.trace()
    assert one.offsets() == {}, "of a micro-batch that fails nothing is committed"
    assert [letter.value for letter in destination.read(letters)] == [b'{"page": "home", "seconds": "many"}']
