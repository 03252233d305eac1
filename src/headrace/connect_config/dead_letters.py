"""The dead letter options of source connectors, with the same keys as of sinks."""

from __future__ import annotations

from typing import Any

from headrace.config import Config, Type, Width, option
from headrace.connect_config.own_topics import REPLICATION_FACTOR, TOPIC_NAME

GROUP = "Error Handling"  # in Kafka Connect's group: a further group would change responses that clients compare


def _dead_letters(name: str, kind: Type, default: Any, order: int, display: str, **fields: Any) -> Any:
    return option(
        f"errors.deadletterqueue.{name}", kind, default, group=GROUP, order=20 + order, width=Width.MEDIUM, display_name=display,
        **fields,
    )  # fmt: skip


class SourceDeadLetterConfig(Config):
    """Dead letters of a source connector (Kafka Connect has them for sinks only)."""

    dlq_topic: str = _dead_letters(
        "topic.name", Type.STRING, "", 1, "Dead Letter Queue Topic Name", validator=TOPIC_NAME,
        doc="Of headrace: the topic of the worker's cluster that records go to which fail in this connector's transformations or "
        "converters, with `errors.tolerance=all`; made with the first one. Blank, the default: they are left out.",
    )  # fmt: skip
    dlq_replication_factor: int = _dead_letters(
        "topic.replication.factor", Type.SHORT, 3, 2, "Dead Letter Queue Topic Replication Factor", validator=REPLICATION_FACTOR,
        doc="Of headrace: replication factor for that topic, if it has to be made; -1: the broker's default.",
    )  # fmt: skip
    dlq_headers: bool = _dead_letters(
        "context.headers.enable", Type.BOOLEAN, False, 3, "Enable Error Context Headers",
        doc="Of headrace: whether headers that begin with `__connect.errors.` say where a record came from, and what happened.",
    )  # fmt: skip
