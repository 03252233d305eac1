"""What a worker measures of itself: events of connectors and tasks, folded into what Kafka Connect's MBeans show."""

from headrace.runtime.metrics.measures import Measure
from headrace.runtime.metrics.registry import Metrics, TaskRecorder

__all__ = ["Measure", "Metrics", "TaskRecorder"]
