"""Compares results of random programs with Kafka Streams: `python -m tests.golden.streams.differ_results SEED [COUNT [SIZE]]`.

Prints each program that differs, with what both give. SIZE: how many records are a batch. Needs what record.py needs, and Spark.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence

from headrace.testing.topology_test_driver import TopologyTestDriver
from tests.golden.streams.record import record
from tests.streams.programs import mixed
from tests.streams.programs.case import Case
from tests.streams.running.comparison import differ, in_batches, not_really_alone
from tests.streams.running.test_results import _builder, _config, _together, each_batch

_TOGETHER = 60  # programs: a method of Java has 64 KiB


def _ours(cases: Sequence[Case], size: int) -> dict[str, list[list]]:
    config = {"application.id": "app", "bootstrap.servers": "none:1", **_config(cases)}
    with TopologyTestDriver(_builder(cases).build(config), config, wall_clock_time=0) as driver:
        return each_batch(driver, cases, size)


def main(seed: int, count: int, size: int) -> int:
    """How many programs differ."""
    cases = mixed.cases(seed, count)
    kafka, differing = {}, 0
    for first in range(0, count, _TOGETHER):
        kafka |= record(cases[first : first + _TOGETHER])
    good = [case for case in cases if not {"ended", "error"} & kafka[case.name].keys()]
    good = [case for case in good if size == 1 or not case.name.startswith("grouped_")]
    for group in _together(good):
        try:
            results = _ours(group, size)
        except Exception as error:
            print("FAILED", [case.name for case in group], str(error)[:600], sep="\n")
            for case in group:
                print(inspect.getsource(case.build))
            differing += len(group)
            continue
        for case in group:
            mine, theirs = results[case.name], in_batches(kafka[case.name]["results"], size)
            if not differ(case.name, mine, theirs):
                continue
            differing += 1
            print(case.name, inspect.getsource(case.build), " ".join(f"{r[1]}:{r[2]}@{r[3]}" for r in case.input), sep="\n")
            if case.name.startswith("alone_"):
                print("  not the same:", not_really_alone(mine, theirs))
            for number, (ours, kafkas) in enumerate(zip(mine, theirs, strict=True)):
                if sorted(ours, key=str) != sorted(kafkas, key=str):
                    print("  batch", number, "headrace", ours, "Kafka Streams", kafkas)
    print(f"{differing} of {len(good)} differ; {count - len(good)} fail in Kafka Streams")
    return differing


if __name__ == "__main__":
    arguments = [int(one) for one in sys.argv[1:]]
    sys.exit(main(arguments[0], *(arguments[1:2] or [mixed.COUNT]), *(arguments[2:3] or [1])) > 0)
