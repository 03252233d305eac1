"""Rules about a connector's configuration that need more than one option, with Kafka Connect's sentences.

Each function adds errors to the values that validation has found; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from headrace.config import ConfigValue, java_text, parse_list
from headrace.config.java_pattern import JavaRegexError, java_regex
from headrace.config.providers import Resolver
from headrace.config.types import trim

Values = dict[str, ConfigValue]
Props = Mapping[str, Any]

TOPICS, TOPICS_REGEX, DLQ = "topics", "topics.regex", "errors.deadletterqueue.topic.name"
OFFSETS_TOPIC = "offsets.storage.topic"
GROUP_OVERRIDE = "consumer.override.group.id"
_UNKNOWN_SUPPORT = (
    "The connector does not implement the API required for preflight validation of exactly-once source support. Please "
    "consult the documentation for the connector to determine whether it supports exactly-once semantics, and then "
    'consider reconfiguring the connector to use the value "requested" for this property (which will disable this '
    "preflight check and allow the connector to be created)."
)
_NO_BOUNDARIES = (
    "The connector does not support connector-defined transaction boundaries with the given configuration. "
    "Please reconfigure it to use a different transaction boundary definition."
)


class WorkerSettings(Protocol):
    """The worker's settings that validation needs (`runtime.worker_config.WorkerConfig`)."""

    @property
    def key_converter(self) -> str: ...  # noqa: D102
    @property
    def value_converter(self) -> str: ...  # noqa: D102
    @property
    def header_converter(self) -> str: ...  # noqa: D102
    @property
    def override_policy(self) -> str: ...  # noqa: D102
    @property
    def override_allowlist(self) -> list[str]: ...  # noqa: D102
    @property
    def worker_group(self) -> str | None: ...  # noqa: D102
    @property
    def exactly_once_enabled(self) -> bool: ...  # noqa: D102
    @property
    def topic_creation_enable(self) -> bool: ...  # noqa: D102
    @property
    def resolver(self) -> Resolver: ...  # noqa: D102


def no_nulls(values: Values, props: Props) -> None:
    """A key may not have null as its value."""
    for key, value in props.items():
        if value is None:
            config_value = values.setdefault(key, ConfigValue(key))
            config_value.errors.append("Null value can not be supplied as the configuration value.")


def sink_topics(values: Values, props: Props) -> None:
    """Exactly one of `topics` and `topics.regex`, and neither may contain the dead letter queue."""
    topics, regex, dlq = (trim(str(props.get(key) or "")) for key in (TOPICS, TOPICS_REGEX, DLQ))
    if bool(topics) == bool(regex):
        both = "topics and topics.regex are mutually exclusive options, but both are set."
        for key in (TOPICS, TOPICS_REGEX):
            values[key].errors.append(both if topics else "Must configure one of topics or topics.regex")
    names = list(dict.fromkeys(filter(None, parse_list(topics))))
    if dlq and dlq in names:
        values[TOPICS].errors.append(
            f"The DLQ topic '{dlq}' may not be included in the list of topics ('topics={java_text(names)}') "
            "consumed by the connector"
        )
    if dlq and regex and _matches(regex, dlq):
        values[TOPICS_REGEX].errors.append(
            f"The DLQ topic '{dlq}' may not be matched by the regex for the topics ('topics.regex={regex}') "
            "consumed by the connector"
        )


def sink_group(values: Values, props: Props, worker: WorkerSettings) -> None:
    """The consumers of a sink connector may not be in the group of the workers."""
    group = worker.worker_group
    if group is None:
        return
    if GROUP_OVERRIDE in props:
        value = values.setdefault(GROUP_OVERRIDE, ConfigValue(GROUP_OVERRIDE, props[GROUP_OVERRIDE]))
        if props[GROUP_OVERRIDE] == group:
            value.errors.append(f"Consumer group {group} conflicts with Connect worker group {group}")
        return
    name = values["name"].value
    if f"connect-{name}" == group:
        values["name"].errors.append(
            f"Consumer group for sink connector named {name} conflicts with Connect worker group {group}"
        )


def exactly_once(values: Values, props: Props, connector: type[Any], worker: WorkerSettings) -> None:
    """The preflight check of `exactly.once.support=required` and `transaction.boundary=connector` (KIP-618).

    A connector class may have `exactly_once_support(props) -> bool | None` and `defines_transactions(props) -> bool`.
    """
    support = values["exactly.once.support"]
    if not support.errors and support.value.lower() == "required":
        if not worker.exactly_once_enabled:
            support.errors.append("This worker does not have exactly-once source support enabled.")
        support.errors.extend(_preflight(connector, "exactly_once_support", props, _support_problem))
    boundary = values["transaction.boundary"]
    if not boundary.errors and boundary.value.lower() == "connector":
        boundary.errors.extend(_preflight(connector, "defines_transactions", props, _boundary_problem))


def _support_problem(supported: bool | None) -> str | None:
    if supported is None:
        return _UNKNOWN_SUPPORT
    return None if supported else "The connector does not support exactly-once semantics with the provided configuration."


def _boundary_problem(supported: bool | None) -> str | None:
    return None if supported else _NO_BOUNDARIES


def _preflight(connector: type[Any], hook: str, props: Props, problem: Any) -> list[str]:
    try:
        why = problem(getattr(connector, hook, lambda _props: None)(props))
    except Exception as error:  # any exception of a connector is an error of the configuration
        why = f"An unexpected error occurred during validation: {error}"
    return [why] if why else []


def _matches(regex: str, topic: str) -> bool:
    try:
        return java_regex(regex).fullmatch(topic) is not None
    except JavaRegexError:  # reported by the option's own rule
        return False
