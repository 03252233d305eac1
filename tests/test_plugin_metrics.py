from __future__ import annotations

import pickle

import pytest

from headrace.errors import ArgumentError
from headrace.plugin_metrics import PluginCounter, PluginMetrics


def test_what_a_plugin_registers_is_shown_with_the_tags_of_its_place():
    task = PluginMetrics({"connector": "c", "task": "0"})
    size, hits = [3.0], task.of(transformation="lookup").counter("cache-hits", {"kind": "fresh"})
    task.of(transformation="lookup").gauge("cache-size", lambda: size[0])
    hits.add()
    hits.add(2)
    size[0] = 4.0
    who = {"connector": "c", "task": "0", "transformation": "lookup"}
    assert task.measures() == [("plugins", "cache-hits", 3.0, {**who, "kind": "fresh"}), ("plugins", "cache-size", 4.0, who)]
    task.of(transformation="lookup").remove("cache-size")
    assert [name for _, name, _, _ in task.measures()] == ["cache-hits"]


def test_a_name_is_registered_once_and_is_one_for_prometheus():
    metrics = PluginMetrics({"connector": "c"})
    metrics.gauge("size", lambda: 1)
    with pytest.raises(ArgumentError, match="is registered already"):
        metrics.gauge("size", lambda: 2)
    for name, tags in (("two words", {}), ("size", {"a-b": "x"}), ("", {})):
        with pytest.raises(ArgumentError, match="is no metric"):
            metrics.gauge(name, lambda: 1, tags)
    with pytest.raises(ArgumentError, match="There is no metric"):
        metrics.remove("other")


def test_one_that_cannot_be_read_hides_no_other():
    metrics = PluginMetrics()
    metrics.gauge("broken", lambda: 1 / 0)
    metrics.gauge("whole", lambda: 1)
    assert [name for _, name, _, _ in metrics.measures()] == ["whole"]


def test_a_plugin_that_keeps_its_metrics_can_be_sent_to_another_process():
    metrics = PluginMetrics({"connector": "c"})
    metrics.gauge("size", lambda: 1)
    assert pickle.loads(pickle.dumps(metrics)).measures() == []
    assert pickle.loads(pickle.dumps(PluginCounter())).value() == 0
