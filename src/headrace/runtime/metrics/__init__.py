"""Metrics of a worker: events of connectors and tasks, folded into the attributes of Kafka Connect's MBeans."""

from headrace.runtime.metrics.measures import Measure
from headrace.runtime.metrics.registry import Metrics, TaskRecorder

__all__ = ["Measure", "Metrics", "TaskRecorder"]
