"""Records the data losses of sources: one record for each loss, in a topic of the worker's cluster.

It is created like the worker's own topics, at the first loss, but with `cleanup.policy=delete` and unlimited retention: each
record is an event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from headrace.connect_config.data_loss import DataLossConfig
from headrace.connectors.base import Props
from headrace.connectors.data_loss import Loss
from headrace.errors import RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.topic_names import MAX_LENGTH
from headrace.kafka.writer import RecordWriter
from headrace.values.times import iso

log = structlog.get_logger(__name__)

_TIMEOUT_S = 30.0
_SETTINGS = {"cleanup.policy": "delete", "retention.ms": "-1"}


@dataclass(frozen=True)
class DataLossTopic:
    """The topic for the losses of a connector's source."""

    name: str
    replication_factor: int
    connector: str
    """Each record has it, as `source`."""
    source: str | None


def loss_topic(connector: str, config: Props) -> DataLossTopic:
    """The topic of a connector with this configuration. Raises ConfigError."""
    options = DataLossConfig(config)
    name = options.source_data_loss_topic or re.sub("[^a-zA-Z0-9._-]", "_", connector)[: MAX_LENGTH - 5] + "-loss"
    source = config.get("source.cluster.alias") or config.get("source.bootstrap.servers")
    return DataLossTopic(name, options.source_data_loss_topic_replication_factor, connector, source)


class DataLossLog:
    """Writes to the topic of losses. Connects at the first loss."""

    def __init__(self, topic: DataLossTopic, task: int, admin: Admin, producer: Mapping[str, str]) -> None:
        """admin, producer: a client, and Java settings of one, of the cluster that the task writes to."""
        self._topic, self._task, self._admin, self._producer = topic, task, admin, producer

    def write(self, losses: Sequence[Loss]) -> None:
        """Return when a record of each loss is acknowledged. Raises KafkaFailure, or RetriableError after half a minute."""
        self._create()
        writer = RecordWriter(self._topic.name, self._producer)
        try:
            sent = [writer.send(*self._record(loss)) for loss in losses]
            for future in sent:
                future.result(_TIMEOUT_S)
        except TimeoutError:
            text = f"The losses could not be written to topic {self._topic.name} within {_TIMEOUT_S:g} s."
            raise RetriableError(text) from None
        finally:
            writer.stop(0.0)

    def _create(self) -> None:
        if self._admin.create(self._topic.name, 1, self._topic.replication_factor, _SETTINGS, _TIMEOUT_S, exist_ok=True):
            log.info("source.data.loss.topic.created", topic=self._topic.name)

    def _record(self, loss: Loss) -> tuple[bytes, bytes]:
        about = {"connector": self._topic.connector, "task": self._task, "source": self._topic.source}
        time = iso(datetime.now(UTC))
        key = [self._topic.connector, *loss.partition]
        return json.dumps(key).encode(), json.dumps({**about, **loss.fields(), "time": time}).encode()
