"""How long checkpoints take."""

from __future__ import annotations

from headrace.connectors.mirror.checkpoint_metrics import CheckpointMetrics
from headrace.connectors.mirror.formats import Checkpoint

LABELS = {"source": "eu", "target": "us", "group": "g", "topic": "eu.a", "partition": "1"}
TASK = {"connector": "c", "task": "0"}
FIRST, SECOND = Checkpoint("g", "eu.a", 1, 5, 5), Checkpoint("g", "eu.a", 2, 6, 6)
ENDINGS = ("", "-min", "-max", "-avg")


def metrics(*formats: str) -> CheckpointMetrics:
    return CheckpointMetrics("eu", "us", formats, TASK)


def latencies(measured: CheckpointMetrics) -> dict[str, float]:
    """By partition."""
    return {labels["partition"]: value for _, name, value, labels in measured.measures() if name == "checkpoint-latency-ms"}


def test_names_are_those_of_mirror_maker_and_of_kip_1280_as_is_asked_for() -> None:
    legacy = [("mirror-mirrorcheckpointconnector", f"checkpoint-latency-ms{ending}", 250, LABELS) for ending in ENDINGS]
    new = [("plugins", f"checkpoint-latency-ms{ending}", 250, {**TASK, **LABELS}) for ending in ENDINGS]
    for formats, expected in ((("legacy",), legacy), (("new",), new), (("legacy", "new"), legacy + new)):
        measured = metrics(*formats)
        assert list(measured.measures()) == []
        measured.created([FIRST], 1000)
        measured.acknowledged([FIRST], 1250)
        assert sorted(measured.measures(), key=lambda one: one[0] == "plugins") == expected


def test_the_last_latency_of_a_partition_is_kept_for_a_minute_and_while_it_has_checkpoints() -> None:
    measured = metrics("legacy")
    measured.created([FIRST, SECOND], 1000)
    measured.acknowledged([FIRST], 1100)
    measured.acknowledged([SECOND], 1300)
    assert latencies(measured) == {"1": 100, "2": 300}
    measured.created([], 61_000)  # in time
    assert latencies(measured) == {"1": 100, "2": 300}
    measured.created([SECOND], 121_000)
    assert latencies(measured) == {"2": 300}
    measured.acknowledged([SECOND], 121_050)
    assert latencies(measured) == {"2": 50}
    measured.created([], 181_050)  # nobody has moved
    assert latencies(measured) == {}


def test_a_clock_that_is_set_back_makes_no_latency_below_zero() -> None:
    measured = metrics("legacy")
    measured.created([FIRST], 1000)
    measured.acknowledged([FIRST], 900)
    assert latencies(measured) == {"1": 0}
