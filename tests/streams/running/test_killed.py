"""`kill -9` over every kind of state: what follows from the records is what follows without it."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from headrace.streams import Serdes
from tests.clusters import record
from tests.streams.running import killed_operators
from tests.streams.running.application import WAIT_S, process
from tests.streams.running.conftest import feed
from tests.support import INTERPRETED, everything, seeds, wait_until

COUNT, KILLS = 120, max(seeds(1, 2))


def _records(seed: int) -> tuple[list, list]:
    """Rows of a table and records of a stream, out of order; the last one closes all windows."""
    chance = random.Random(seed)
    now = int(time.time()) * 1000  # a changelog keeps the versions of a row for a day, by the times of the records
    rows = [(chance.choice("abc"), f"row{i}", now + chance.randrange(4 * COUNT)) for i in range(30)]
    records = [(chance.choice("abcd"), f"{chance.randrange(10)}.{i}", now + 4 * i + chance.randrange(25)) for i in range(COUNT)]
    return rows, [*records, ("end", "0.end", now + 10_000)]


@pytest.mark.parametrize(("guarantee", "seed"), seeds(("exactly_once_v2", 1), ("at_least_once", 2), ("exactly_once_v2", 3)))
def test_what_is_killed_at_random_moments_has_the_results_of_what_is_not(
    drive, destination, topic_name, tmp_path, guarantee, seed
):
    rows, records = _records(seed)
    expected = {}
    with drive(killed_operators.builder("")) as calm:
        feed(calm, "rows", rows)
        feed(calm, "in", records)
        for topic in killed_operators.RESULTS:
            expected[topic] = calm.create_output_topic(topic, Serdes.string(), Serdes.string()).read_key_values()
    assert all(expected.values()), expected
    prefix, app, chance = topic_name("killed"), tmp_path / "app.py", random.Random(seed)
    app.write_text(Path(killed_operators.__file__).read_text() + f"\n\ntopology = builder({prefix!r}).build()\n")
    for topic in ("in", "rows", *killed_operators.RESULTS):
        destination.create(prefix + topic, 1)
    config = {"application.id": prefix, "bootstrap.servers": destination.bootstrap, "session.timeout.ms": "6000",
              "headrace.max.batch.records": "10", "processing.guarantee": guarantee,
              **({} if everything() else INTERPRETED)}  # fmt: skip
    destination.produce(prefix + "rows", [record(k.encode(), v.encode(), timestamp=t) for k, v, t in rows])

    def read(topic: str) -> list[tuple[str, str | None]]:
        return [
            ((r.key or b"").decode(), None if r.value is None else r.value.decode())
            for r in destination.read(prefix + topic, settled=guarantee != "at_least_once")
        ]

    def wrong() -> list[str]:
        return [
            topic for topic, kind in killed_operators.RESULTS.items() if not _same(kind, read(topic), expected[topic], guarantee)
        ]

    part = len(records) // (KILLS + 1)
    for number in range(KILLS + 1):
        last = number == KILLS
        sent = records[number * part :] if last else records[number * part : (number + 1) * part]
        enough = number * part + chance.randrange(1, part)
        with process(tmp_path, str(app), config) as running:
            error = lambda: f"{wrong()}; {(tmp_path / 'err').read_text()[-2000:]}"  # noqa: E731
            # As in the calm run the table is complete first: otherwise the order depends on what has been fetched.
            wait_until(lambda: destination.admin.committed(prefix).get((prefix + "rows", 0)) == len(rows), WAIT_S, error)
            destination.produce(prefix + "in", [record(k.encode(), v.encode(), timestamp=t) for k, v, t in sent])
            if not last:
                wait_until(lambda enough=enough: destination.size(prefix + "processed") >= enough, WAIT_S, error)
                running.kill()
                running.wait()
                continue
            wait_until(lambda: not wrong(), WAIT_S, error)
            running.send_signal(signal.SIGTERM)
            assert running.wait(WAIT_S) == 0, error()
    assert not wrong()


def _same(kind: str, results: list, expected: list, guarantee: str) -> bool:
    if kind == "last":  # a session that was merged away may never have been passed on
        return _kept(results) == _kept(expected)
    return set(results) == set(expected) if guarantee == "at_least_once" else Counter(results) == Counter(expected)


def _kept(results: list) -> dict:
    return {key: value for key, value in dict(results).items() if value is not None}
