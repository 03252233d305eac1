"""Rules for options of topics that only headrace makes for a connector: of losses, of a source's dead letters, of copies."""

from __future__ import annotations

from typing import Any

from headrace.config.types import invalid
from headrace.config.validators import Lambda
from headrace.kafka.topic_names import why_invalid


def _check_name(name: str, value: Any) -> None:
    if value and (why := why_invalid(value)):  # what a name that is not set means, the option's doc says
        raise invalid(name, value, f"Topic name is invalid: {why}")


def _check_replication_factor(name: str, value: Any) -> None:
    if value is None or (value < 1 and value != -1):
        raise invalid(name, value, "Value must be -1, the default of the cluster, or at least 1")


TOPIC_NAME = Lambda(_check_name, "name of a topic")
"""In the words of Kafka's `Topic.validate`; a name that is not set is allowed."""
REPLICATION_FACTOR = Lambda(_check_replication_factor, "-1 or at least 1")
