"""Every program gives what the real Kafka Streams 4.3.0 gave for the same topology (tests/golden/streams)."""

from __future__ import annotations

import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import HeadraceError
from headrace.streams import StreamsBuilder, StreamsConfig, Topology
from headrace.streams.internal_topics import TopicKind, derive
from tests.streams import programs
from tests.streams.programs import generated
from tests.streams.programs.case import Case

GOLDEN = Path(__file__).parents[1] / "golden" / "streams"
KINDS = {
    "Repartition": TopicKind.REPARTITION,
    "UnwindowedUnversionedChangelog": TopicKind.CHANGELOG,
    "WindowedChangelog": TopicKind.WINDOWED_CHANGELOG,
    "VersionedChangelog": TopicKind.VERSIONED_CHANGELOG,
}


@cache
def recorded() -> dict[str, Any]:
    cases = {}
    for module in programs.MODULES:
        cases |= json.loads((GOLDEN / f"{module.__name__.rpartition('.')[2]}.json").read_text(encoding="utf-8"))
    return cases


CASES = [case for module in programs.MODULES for case in programs.cases(module)]


def with_(*keys: str) -> Any:
    cases = [case for case in CASES if set(keys) <= recorded()[case.name].keys()]
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def built(case: Case) -> Topology:
    if case.plain:
        topology = Topology()
        case.build(topology)
        return topology
    builder = StreamsBuilder(case.config)
    case.build(builder)
    return builder.draft()


def topics(case: Case, topology: Topology) -> dict[str, Any]:
    config = StreamsConfig({"application.id": "app", "bootstrap.servers": "nowhere:1", **case.config})
    internal_topics = derive(topology, config, lambda topic: case.partitions.get(topic, 4))
    return {
        topic.name: {"kind": topic.kind, "partitions": topic.partitions, "configs": topic.configs} for topic in internal_topics
    }


def made(case: Case) -> dict[str, Any]:
    """What headrace makes of a program, as it is recorded of Kafka Streams."""
    try:
        topology = built(case)
        internal_topics = topics(case, topology)
    except HeadraceError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    kinds = {kind: name for name, kind in KINDS.items()}
    return {
        "describe": topology.describe(),
        "topics": {n: {**topic, "kind": kinds[topic["kind"]]} for n, topic in internal_topics.items()},
    }


def test_every_program_has_a_name_of_its_own_and_has_been_recorded():
    assert sorted(case.name for case in CASES) == sorted(recorded())


@with_("describe")
def test_a_topology_is_described_as_kafka_does(case: Case):
    assert built(case).describe() == recorded()[case.name]["describe"]


@with_("describe", "topics")
def test_internal_topics_are_those_of_kafka(case: Case):
    expected = recorded()[case.name]["topics"]
    assert topics(case, built(case)) == {name: {**topic, "kind": KINDS[topic["kind"]]} for name, topic in expected.items()}


@pytest.mark.parametrize("case", generated.described(), ids=lambda case: case.name)
def test_so_is_what_is_made_of_random_programs(case: Case):
    expected = json.loads((GOLDEN / "generated.json").read_text())[case.name]
    assert generated.agree(made(case), expected), inspect.getsource(case.build)


@with_("error")
def test_what_kafka_refuses_is_refused_in_its_words(case: Case):
    kafka = recorded()[case.name]["error"].partition(": ")[2]
    with pytest.raises(HeadraceError) as refused:
        topics(case, built(case))
    said, expected = str(refused.value), re.sub(r"OptimizableRepartitionNode\{.*", "", kafka, flags=re.DOTALL)
    assert said.startswith(expected) if expected != kafka else said == kafka
