"""The options that every source connector, or every sink connector, has besides its own.

Names, defaults, order and texts are those of Kafka Connect 4.3 (`CommonConnectorConfig`, `SourceConnectorConfig`,
`SinkConnectorConfig`), as its REST API shows them. What depends on the worker or on installed plugins (defaults of
converters, recommended values, options of transforms) is added in `enrich`.
"""

from __future__ import annotations

from typing import Any

from headrace.config import Config, Importance, Type, Width, option, validators
from headrace.config.java_pattern import java_regex
from headrace.config.types import invalid, trim
from headrace.config.validators import Lambda
from headrace.connect_config.dead_letters import SourceDeadLetterConfig
from headrace.connect_config.restarts import TaskRestartConfig
from headrace.connect_config.versions import ValidVersion

COMMON = "Common"
ERRORS = "Error Handling"
TOPIC_CREATION = "Topic Creation"
EXACTLY_ONCE = "Exactly Once Support"


def _unique(name: str, value: list[str]) -> None:
    if len(set(value)) != len(value):
        raise invalid(name, value, "Duplicate alias provided.")


def unique_aliases(kind: str) -> validators.All:
    """A validator: a list of aliases, each only once; `what` names them in the docs."""
    return validators.All(validators.NonNull(), Lambda(_unique, f"unique {kind}"))


def _at_least_0(name: str, value: Any) -> None:
    if value is not None:
        validators.Range(0)(name, value)


def _converter_doc(part: str, interface: str = "Converter") -> str:
    return (
        f"{interface} class used to convert between Kafka Connect format and the serialized form that is written to "
        f"Kafka. This controls the format of the {part} in messages written to or read from Kafka, and since this is "
        "independent of connectors it allows any connector to work with any serialization format. Examples of common "
        "formats include JSON and Avro."
    )


def _common(name: str, kind: Type, order: int, display: str, **fields: Any) -> Any:
    fields.setdefault("importance", Importance.LOW)
    return option(name, kind, group=COMMON, order=order, display_name=display, **fields)


def _converter(name: str, order: int, display: str, doc: str) -> Any:
    return _common(name, Type.CLASS, order, display, default=None, width=Width.SHORT, doc=doc)


def _version(name: str, order: int, plugin_option: str) -> Any:
    fields: dict[str, Any] = {"default": None, "width": Width.SHORT, "validator": ValidVersion()}
    return _common(name, Type.STRING, order, f"{plugin_option} version", doc=f"Version of the {plugin_option.lower()}.", **fields)


def _error(name: str, kind: Type, default: Any, order: int, display: str, **fields: Any) -> Any:
    fields.setdefault("width", Width.MEDIUM)
    return option(name, kind, default, group=ERRORS, order=order, display_name=display, **fields)


class CommonConnectorConfig(Config):
    """The options of every connector, with typed attributes for the runtime."""

    name: str = _common(
        "name",
        Type.STRING,
        1,
        "Connector name",
        validator=validators.NonEmptyStringWithoutControlChars(),
        importance=Importance.HIGH,
        width=Width.MEDIUM,
        doc="Globally unique name to use for this connector.",
    )
    connector_class: str = _common(
        "connector.class",
        Type.STRING,
        2,
        "Connector class",
        importance=Importance.HIGH,
        width=Width.LONG,
        doc="Name or alias of the class for this connector. Must be a subclass of "
        "org.apache.kafka.connect.connector.Connector. If the connector is "
        "org.apache.kafka.connect.file.FileStreamSinkConnector, you can either specify this full name,  or use "
        '"FileStreamSink" or "FileStreamSinkConnector" to make the configuration a bit shorter',
    )
    plugin_version: str | None = _common(
        "connector.plugin.version",
        Type.STRING,
        3,
        "Connector version",
        default=None,
        validator=ValidVersion(),
        importance=Importance.MEDIUM,
        width=Width.MEDIUM,
        doc="Version of the connector.",
    )
    tasks_max: int = _common(
        "tasks.max",
        Type.INT,
        4,
        "Tasks max",
        default=1,
        validator=validators.Range(1),
        importance=Importance.HIGH,
        width=Width.SHORT,
        doc="Maximum number of tasks to use for this connector.",
    )
    tasks_max_enforce: bool = _common(
        "tasks.max.enforce",
        Type.BOOLEAN,
        5,
        "Enforce tasks max",
        default=True,
        width=Width.SHORT,
        doc="(Deprecated) Whether to enforce that the tasks.max property is respected by the connector. By default, "
        "connectors that generate too many tasks will fail, and existing sets of tasks that exceed the tasks.max "
        "property will also be failed. If this property is set to false, then connectors will be allowed to "
        "generate more than the maximum number of tasks, and existing sets of tasks that exceed the tasks.max "
        "property will be allowed to run. This property is deprecated and will be removed in an upcoming major "
        "release.",
    )
    key_converter: str | None = _converter("key.converter", 6, "Key converter class", _converter_doc("keys"))
    key_converter_version: str | None = _version("key.converter.plugin.version", 7, "Key converter")
    value_converter: str | None = _converter("value.converter", 8, "Value converter class", _converter_doc("values"))
    value_converter_version: str | None = _version("value.converter.plugin.version", 9, "Value converter")
    header_converter: str | None = _converter(
        "header.converter",
        10,
        "Header converter class",
        _converter_doc("header values", "HeaderConverter")
        + " By default, the SimpleHeaderConverter is used to serialize header values to strings and deserialize them "
        "by inferring the schemas.",
    )
    header_converter_version: str | None = _version("header.converter.plugin.version", 11, "Header converter")
    transforms: list[str] = option(
        "transforms",
        Type.LIST,
        [],
        validator=unique_aliases("transformation aliases"),
        importance=Importance.LOW,
        doc="Aliases for the transformations to be applied to records.",
        group="Transforms",
        order=12,
        width=Width.LONG,
        display_name="Transforms",
    )
    predicates: list[str] = option(
        "predicates",
        Type.LIST,
        [],
        validator=unique_aliases("predicate aliases"),
        importance=Importance.LOW,
        doc="Aliases for the predicates used by transformations.",
        group="Predicates",
        order=13,
        width=Width.LONG,
        display_name="Predicates",
    )
    config_reload: str = _common(
        "config.action.reload",
        Type.STRING,
        14,
        "Reload Action",
        default="restart",
        validator=validators.ValidString("none", "restart"),
        width=Width.MEDIUM,
        doc="The action that Connect should take on the connector when changes in external configuration providers "
        "result in a change in the connector's configuration properties. A value of 'none' indicates that "
        "Connect will do nothing. A value of 'restart' indicates that Connect should restart/reload the "
        "connector with the updated configuration properties.The restart may actually be scheduled in the future "
        "if the external configuration provider indicates that a configuration value will expire in the future.",
        without_effect="values of config providers do not expire",
    )
    errors_retry_timeout_ms: int = _error(
        "errors.retry.timeout",
        Type.LONG,
        0,
        1,
        "Retry Timeout for Errors",
        doc="The maximum duration in milliseconds that a failed operation will be reattempted. The default is 0, which "
        "means no retries will be attempted. Use -1 for infinite retries.",
    )
    errors_retry_delay_max_ms: int = _error(
        "errors.retry.delay.max.ms",
        Type.LONG,
        60000,
        2,
        "Maximum Delay Between Retries for Errors",
        doc="The maximum duration in milliseconds between consecutive retry attempts. Jitter will be added to the "
        "delay once this limit is reached to prevent thundering herd issues.",
    )
    errors_tolerance: str = _error(
        "errors.tolerance",
        Type.STRING,
        "none",
        3,
        "Error Tolerance",
        width=Width.SHORT,
        validator=validators.ValidString("none", "all"),
        doc="Behavior for tolerating errors during connector operation. 'none' is the default value and signals that "
        "any error will result in an immediate connector task failure; 'all' changes the behavior to skip over "
        "problematic records.",
    )
    errors_log_enable: bool = _error(
        "errors.log.enable",
        Type.BOOLEAN,
        False,
        4,
        "Log Errors",
        width=Width.SHORT,
        doc="If true, write each error and the details of the failed operation and problematic record to the Connect "
        "application log. This is 'false' by default, so that only errors that are not tolerated are reported.",
    )
    errors_log_messages: bool = _error(
        "errors.log.include.messages",
        Type.BOOLEAN,
        False,
        5,
        "Log Error Details",
        width=Width.SHORT,
        doc="Whether to include in the log the Connect record that resulted in a failure. For sink records, the "
        "topic, partition, offset, and timestamp will be logged. For source records, the key and value (and "
        "their schemas), all headers, and the timestamp, Kafka topic, Kafka partition, source partition, and "
        "source offset will be logged. This is 'false' by default, which will prevent record keys, values, and "
        "headers from being written to log files.",
    )


class SourceConnectorConfig(SourceDeadLetterConfig, TaskRestartConfig, CommonConnectorConfig):
    """The options of every source connector."""

    topic_creation_groups: list[str] = option(
        "topic.creation.groups",
        Type.LIST,
        [],
        validator=unique_aliases("topic creation groups"),
        importance=Importance.LOW,
        doc="Groups of configurations for topics created by source connectors",
        group=TOPIC_CREATION,
        order=1,
        width=Width.LONG,
        display_name="Topic Creation Groups",
    )
    exactly_once_support: str = option(
        "exactly.once.support",
        Type.STRING,
        "requested",
        validator=validators.CaseInsensitiveValidString("required", "requested"),
        doc='Permitted values are requested, required. If set to "required", forces a preflight check for the '
        "connector to ensure that it can provide exactly-once semantics with the given configuration. Some "
        "connectors may be capable of providing exactly-once semantics but not signal to Connect that they "
        "support this; in that case, documentation for the connector should be consulted carefully before "
        'creating it, and the value for this property should be set to "requested". Additionally, if the value '
        'is set to "required" but the worker that performs preflight validation does not have exactly-once '
        "support enabled for source connectors, requests to create or validate the connector will fail.",
        group=EXACTLY_ONCE,
        order=2,
        width=Width.SHORT,
        display_name="Exactly once support",
    )
    transaction_boundary: str = option(
        "transaction.boundary",
        Type.STRING,
        "poll",
        validator=validators.CaseInsensitiveValidString("interval", "poll", "connector"),
        doc="Permitted values are: poll, interval, connector. If set to 'poll', a new producer transaction will be "
        "started and committed for every batch of records that each task from this connector provides to "
        "Connect. If set to 'connector', relies on connector-defined transaction boundaries; note that not all "
        "connectors are capable of defining their own transaction boundaries, and in that case, attempts to "
        "instantiate a connector with this value will fail. Finally, if set to 'interval', commits transactions "
        "only after a user-defined time interval has passed.",
        group=EXACTLY_ONCE,
        order=3,
        width=Width.SHORT,
        display_name="Transaction Boundary",
    )
    transaction_boundary_interval_ms: int | None = option(
        "transaction.boundary.interval.ms",
        Type.LONG,
        None,
        validator=Lambda(_at_least_0, "[0,...]"),
        importance=Importance.LOW,
        doc="If 'transaction.boundary' is set to 'interval', determines the interval for producer transaction "
        "commits by connector tasks. If unset, defaults to the value of the worker-level "
        "'offset.flush.interval.ms' property. It has no effect if a different transaction.boundary is specified.",
        group=EXACTLY_ONCE,
        order=4,
        width=Width.SHORT,
        display_name="Transaction boundary interval",
    )
    offsets_storage_topic: str | None = option(
        "offsets.storage.topic",
        Type.STRING,
        None,
        validator=validators.NonEmptyString(),
        importance=Importance.LOW,
        doc="The name of a separate offsets topic to use for this connector. If empty or not specified, the worker\u2019s "
        "global offsets topic name will be used. If specified, the offsets topic will be created if it does not "
        "already exist on the Kafka cluster targeted by this connector (which may be different from the one used "
        "for the worker's global offsets topic if the bootstrap.servers property of the connector's producer has "
        "been overridden from the worker's). Only applicable in distributed mode; in standalone mode, setting "
        "this property will have no effect.",
        group="offsets.topic",
        order=1,
        width=Width.LONG,
        display_name="Offsets topic",
    )


class SinkConnectorConfig(TaskRestartConfig, CommonConnectorConfig):
    """The options of every sink connector."""

    topics: list[str] = _common(
        "topics",
        Type.LIST,
        4,
        "Topics",
        default=[],
        validator=validators.ValidList(),
        importance=Importance.HIGH,
        width=Width.LONG,
        doc="List of topics to consume, separated by commas",
    )
    topics_regex: str = _common(
        "topics.regex",
        Type.STRING,
        4,
        "Topics regex",
        default="",
        validator=validators.Regex(),
        importance=Importance.HIGH,
        width=Width.LONG,
        doc="Regular expression giving topics to consume. Under the hood, the regex is compiled to a "
        "<code>java.util.regex.Pattern</code>. Only one of topics or topics.regex should be specified.",
    )
    dlq_topic: str = _error(
        "errors.deadletterqueue.topic.name",
        Type.STRING,
        "",
        6,
        "Dead Letter Queue Topic Name",
        doc="The name of the topic to be used as the dead letter queue (DLQ) for messages that result in an error "
        "when processed by this sink connector, or its transformations or converters. The topic name is blank by "
        "default, which means that no messages are to be recorded in the DLQ.",
    )
    dlq_replication_factor: int = _error(
        "errors.deadletterqueue.topic.replication.factor",
        Type.SHORT,
        3,
        7,
        "Dead Letter Queue Topic Replication Factor",
        doc="Replication factor used to create the dead letter queue topic when it doesn't already exist.",
    )
    dlq_headers: bool = _error(
        "errors.deadletterqueue.context.headers.enable",
        Type.BOOLEAN,
        False,
        8,
        "Enable Error Context Headers",
        doc="If true, add headers containing error context to the messages written to the dead letter queue. To "
        "avoid clashing with headers from the original record, all error context header keys, all error context "
        "header keys will start with <code>__connect.errors.</code>",
    )

    def consumes(self, topic: str) -> bool:
        """Whether `topics` names this topic, or `topics.regex` matches its whole name."""
        return topic in self.topics if self.topics else bool(java_regex(trim(self.topics_regex)).fullmatch(topic))
