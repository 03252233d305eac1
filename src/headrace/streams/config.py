"""What a streams application can be configured with: Kafka's `StreamsConfig`, and `internal.topics.setup` (KIP-698).

Unknown keys stay in `originals`. `topic.*` are settings of every internal topic.
"""

from __future__ import annotations

from typing import Any

from headrace.config import Config, Importance, Password, Type, option, parse_type, validators
from headrace.errors import ConfigError
from headrace.kafka.reset_policy import check_policy
from headrace.streams.serdes import Serde, serde_from_config
from headrace.streams.stores import StoreType

TOPOLOGY_OPTIMIZATION = "topology.optimization"
ENSURE_EXPLICIT_NAMING = "ensure.explicit.internal.resource.naming"
TOPIC_PREFIX_ALTERNATIVE = "__internal.override.topic.prefix__"
NO_OPTIMIZATION, OPTIMIZE = "none", "all"
AUTOMATIC_SETUP, MANUAL_SETUP = "automatic", "manual"
REUSE_KTABLE_SOURCE_TOPICS = "reuse.ktable.source.topics"
MERGE_REPARTITION_TOPICS = "merge.repartition.topics"
SINGLE_STORE_SELF_JOIN = "single.store.self.join"
ROCKSDB_MEMORY_MB, DEFAULT_ROCKSDB_MEMORY_MB = "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB", 256
_PROCESSOR = "org.apache.kafka.streams.processor."
_RECORD_TIME = f"{_PROCESSOR}FailOnInvalidTimestamp", f"{_PROCESSOR}LogAndSkipOnInvalidTimestamp"
_WALL_CLOCK = f"{_PROCESSOR}WallclockTimestampExtractor"
_ALL = (REUSE_KTABLE_SOURCE_TOPICS, MERGE_REPARTITION_TOPICS, SINGLE_STORE_SELF_JOIN)
_ACCEPTABLE = (
    'Acceptable values are: "+NO_OPTIMIZATION+", "+OPTIMIZE+", or a comma separated list of specific optimizations: '
    '("+REUSE_KTABLE_SOURCE_TOPICS+", "+MERGE_REPARTITION_TOPICS+" + "SINGLE_STORE_SELF_JOIN+").'
)


FAIL, CONTINUE = "fail", "continue"
AT_LEAST_ONCE, EXACTLY_ONCE = "at_least_once", "exactly_once_v2"
_HANDLERS = tuple(f"org.apache.kafka.streams.errors.LogAnd{action}ExceptionHandler" for action in ("Fail", "Continue"))
_PROCESSING = tuple(
    f"org.apache.kafka.streams.errors.LogAnd{action}ProcessingExceptionHandler" for action in ("Fail", "Continue")
)
_PRODUCTION = "org.apache.kafka.streams.errors.DefaultProductionExceptionHandler"
_SERDES = "a serde"
_SUPPLIERS = "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$"
_STORE_TYPES = {
    f"{_SUPPLIERS}RocksDBDslStoreSuppliers": StoreType.ROCKS_DB, f"{_SUPPLIERS}InMemoryDslStoreSuppliers": StoreType.IN_MEMORY,
}  # fmt: skip
_PREFIXES = ("producer.", "consumer.", "main.consumer.", "restore.consumer.", "global.consumer.", "topic.", "admin.", "spark.")


def _suppliers(name: str, value: Any) -> None:
    if value is not None and value not in _STORE_TYPES:
        supported = " and ".join(_STORE_TYPES)
        raise ConfigError(f"Invalid value {value} for configuration {name}: stores are made by {supported} only.")


def _format(name: str, value: Any) -> None:
    if value != "DEFAULT":
        raise ConfigError(f"Invalid value {value} for configuration {name}: tables keep no headers here, it has to be DEFAULT.")


def _serde(name: str, value: Any) -> None:
    if value is not None and serde_from_config(value) is None:
        raise ConfigError(f"Invalid value {value} for configuration {name}: it is no serde that is known here (docs/streams.md).")


def optimizations(value: str) -> frozenset[str]:
    """The optimizations that a value of `topology.optimization` means. Raises ConfigError in Kafka's words."""
    names = [name.strip() for name in value.split(",")]
    if len(names) > 1 and {NO_OPTIMIZATION, OPTIMIZE} & set(names):
        raise ConfigError(f'"{value}" is not a valid optimization config. {_ACCEPTABLE}')
    if not set(names) <= {NO_OPTIMIZATION, OPTIMIZE, *_ALL}:
        raise ConfigError(f"Unrecognized config. {_ACCEPTABLE}")
    return frozenset(_ALL if names == [OPTIMIZE] else () if names == [NO_OPTIMIZATION] else names)


def _optimization(_name: str, value: Any) -> None:
    optimizations(value)


class TopologyConfig(Config):
    """The options that decide what a topology is."""

    topology_optimization: str = option(
        TOPOLOGY_OPTIMIZATION,
        Type.STRING,
        NO_OPTIMIZATION,
        validator=validators.Lambda(_optimization, "none, all, or a list of optimizations"),
        doc="Optimizations of the topology: `none`, `all`, or a list of `reuse.ktable.source.topics`, "
        "`merge.repartition.topics` and `single.store.self.join`.",
    )
    ensure_explicit_naming: bool = option(
        ENSURE_EXPLICIT_NAMING,
        Type.BOOLEAN,
        False,
        importance=Importance.HIGH,
        doc="Whether every store and internal topic must have a name of the user's (KIP-1111).",
    )

    default_dsl_store: str = option(
        "default.dsl.store", Type.STRING, StoreType.ROCKS_DB, importance=Importance.LOW,
        validator=validators.ValidString(*StoreType),
        doc="Where stores are kept of which the topology says nothing (KIP-591): `rocksDB`, on disk under `state.dir`; "
        "`in_memory`, in the memory of Spark's JVM, outside of its heap, without a bound.",
    )  # fmt: skip
    dsl_store_suppliers: str | None = option(
        "dsl.store.suppliers.class", Type.STRING, None, importance=Importance.LOW,
        validator=validators.Lambda(_suppliers, "a class of Kafka's"),
        doc="The same by the name of Kafka's class (KIP-954); counts before `default.dsl.store`. Classes of one's own are "
        "refused.",
    )  # fmt: skip
    dsl_store_format: str = option(
        "dsl.store.format", Type.STRING, "DEFAULT", importance=Importance.LOW,
        validator=validators.Lambda(_format, "[DEFAULT]"),
        doc="`HEADERS`, with which Kafka's tables and aggregations keep headers (KIP-1271), is refused: here a table has none.",
    )  # fmt: skip

    @property
    def optimizations(self) -> frozenset[str]:
        """The optimizations that `topology.optimization` turns on."""
        return optimizations(self.topology_optimization)

    @property
    def store_type(self) -> StoreType | None:
        """The type of stores for which the topology sets none; None if no setting does either."""
        if self.dsl_store_suppliers is not None:
            return _STORE_TYPES[self.dsl_store_suppliers]
        return StoreType(self.default_dsl_store) if "default.dsl.store" in self.originals else None


class StreamsConfig(TopologyConfig):
    """The options of an application: its topology, its cluster and its internal topics."""

    application_id: str = option(
        "application.id",
        Type.STRING,
        validator=validators.NonEmptyString(),
        importance=Importance.HIGH,
        doc="Name of the application: prefix of its internal topics, and its consumer group.",
    )
    bootstrap_servers: list[str] = option(
        "bootstrap.servers",
        Type.LIST,
        validator=validators.ValidList(empty_ok=False),
        importance=Importance.HIGH,
        doc="Brokers to ask first, as host:port. Further settings of Kafka's clients stand beside it; under `admin.` those that "
        "count for the admin client only.",
    )
    internal_topics_setup: str = option(
        "internal.topics.setup",
        Type.STRING,
        AUTOMATIC_SETUP,
        validator=validators.ValidString(AUTOMATIC_SETUP, MANUAL_SETUP),
        doc="Who creates internal topics (KIP-698): `automatic`, the application whenever one is missing; `manual`, only "
        "`init()` or `headrace streams init`, so that one that was deleted by accident is noticed.",
    )
    replication_factor: int = option(
        "replication.factor",
        Type.INT,
        -1,
        importance=Importance.HIGH,
        doc="Replication factor of internal topics; -1: the broker's default.",
    )
    additional_retention_ms: int = option(
        "windowstore.changelog.additional.retention.ms",
        Type.LONG,
        86_400_000,
        importance=Importance.LOW,
        doc="Added to the retention of a windowed store for that of its changelog topic, to allow for clocks that differ.",
    )

    max_poll_interval_ms: int = option(
        "max.poll.interval.ms",
        Type.INT,
        300_000,
        validator=validators.Range(1),
        doc="Half of it is the time in which internal topics have to be looked at, or created.",
    )
    retry_backoff_ms: int = option(
        "retry.backoff.ms",
        Type.LONG,
        100,
        validator=validators.Range(0),
        importance=Importance.LOW,
        doc="The pause before a topic is tried again.",
    )

    default_key_serde: str | None = option(
        "default.key.serde", Type.STRING, None, validator=validators.Lambda(_serde, _SERDES),
        doc="Serde of keys where an operator has none of its own: a serde of Kafka's by its class name, or `string`, `long`, "
        "`integer`, `short`, `double`, `float`, `boolean`, `byte_array`, `json`.",
    )  # fmt: skip
    default_value_serde: str | None = option(
        "default.value.serde", Type.STRING, None, validator=validators.Lambda(_serde, _SERDES),
        doc="Serde of values where an operator has none of its own; see `default.key.serde`.",
    )  # fmt: skip
    timestamp_extractor: str = option(
        "default.timestamp.extractor", Type.STRING, _RECORD_TIME[0],
        validator=validators.ValidString(*_RECORD_TIME, _WALL_CLOCK),
        doc="The time of records of topics whose `Consumed` has no extractor, by Kafka's class names: that of the record, or, "
        "with `WallclockTimestampExtractor`, that of the batch that reads it. Brokers give every record a time, so the two "
        "classes for records without one do the same.",
    )  # fmt: skip
    deserialization_handler: str = option(
        "deserialization.exception.handler", Type.STRING, FAIL,
        validator=validators.ValidString(FAIL, CONTINUE, *_HANDLERS),
        doc="What happens to a record that its serde cannot read: `fail` ends the application, `continue` leaves the record out "
        "and logs where it was. Kafka's class names mean the same.",
    )  # fmt: skip
    processing_handler: str = option(
        "processing.exception.handler", Type.STRING, FAIL, validator=validators.ValidString(FAIL, CONTINUE, *_PROCESSING),
        doc="What happens to a record for which a function or an expression fails (KIP-1033): `fail` ends the application, "
        "`continue` leaves the record out with all that it would have led to in its sub-topology, and logs where it was. With "
        "`continue`, or that of `production.exception.handler`, nothing of a batch is written before all of it is computed, and "
        "one that fails is done in halves until the record is found. Kafka's class names mean the same.",
    )  # fmt: skip
    production_handler: str = option(
        "production.exception.handler", Type.STRING, FAIL, validator=validators.ValidString(FAIL, CONTINUE, _PRODUCTION),
        doc="What happens to a record of which a result is larger than `max.request.size` of the producer, or than "
        "`max.message.bytes` of its topic, or a row of a store than that of its changelog: `fail` ends the application, "
        "`continue` leaves the record out, as `processing.exception.handler` does. What a broker refuses is known when other "
        "results of the batch are written: with `at_least_once` they are written again. Rows for changelogs are measured before "
        "that, then, by what their topics took at the start or take since; a topic that takes less now ends the application.",
    )  # fmt: skip
    dead_letter_topic: str | None = option(
        "errors.dead.letter.queue.topic.name", Type.STRING, None,
        doc="Topic for records that are left out (KIP-1034), as they were read, with the reason and the place in headers "
        "`__streams.errors.*`. It needs `continue` as `deserialization.exception.handler`, `processing.exception.handler` or "
        "`production.exception.handler`, and has to be there.",
    )  # fmt: skip
    poll_ms: int = option(
        "poll.ms", Type.LONG, 100, validator=validators.Range(1), importance=Importance.LOW,
        doc="How long a sub-topology waits for records at most before it looks at other things, in ms; records wake it at once.",
    )  # fmt: skip
    state_dir: str | None = option(
        "state.dir", Type.STRING, None, importance=Importance.HIGH,
        doc="Directory in which an instance keeps its state while it works; it is deleted when the work ends, since changelogs "
        "alone keep state. Default: the system's directory for temporary files.",
    )  # fmt: skip
    rocksdb_memory_mb: int = option(
        ROCKSDB_MEMORY_MB, Type.INT, DEFAULT_ROCKSDB_MEMORY_MB, validator=validators.Range(1),
        doc="How much memory the stores' cache and write buffers may take, in MB: all stores of this process together, those in "
        "memory (`default.dsl.store=in_memory`) only for their cache and buffers. With less, more is read from disk. Half of it "
        "may be write buffers, as Spark's `writeBufferCacheRatio` has it by default.",
    )  # fmt: skip
    task_timeout_ms: int = option(
        "task.timeout.ms", Type.LONG, 300_000, validator=validators.Range(0),
        doc="How long a batch is tried again, in ms, after an error that may pass, such as a broker that is away; then the "
        "application ends with it.",
    )  # fmt: skip
    max_batch_records: int = option(
        "headrace.max.batch.records", Type.INT, 500_000, validator=validators.Range(1),
        doc="How many records of one partition a batch takes at most.",
    )  # fmt: skip
    purge_interval_ms: int = option(
        "repartition.purge.interval.ms", Type.LONG, 30_000, validator=validators.Range(0), importance=Importance.LOW,
        doc="How often records of repartition topics that have been read are deleted, in ms.",
    )  # fmt: skip
    metadata_max_age_ms: int = option(
        "metadata.max.age.ms", Type.LONG, 300_000, validator=validators.Range(1), importance=Importance.LOW,
        doc="How often internal topics are verified while the application runs, in ms (KIP-698).",
    )  # fmt: skip
    processing_guarantee: str = option(
        "processing.guarantee", Type.STRING, AT_LEAST_ONCE, validator=validators.ValidString(AT_LEAST_ONCE, EXACTLY_ONCE),
        doc="`at_least_once`: the state of a sub-topology counts every record of its topics once; what is written to topics, "
        "repartition topics too, may be written again after a crash. `exactly_once_v2`: that, too, is there once for consumers "
        "that read committed records only.",
    )  # fmt: skip

    report_url: str | None = option(
        "headrace.report.url", Type.STRING, None, importance=Importance.LOW,
        doc="Of headrace: the REST API of a worker, like `http://localhost:8083`, that the application reports to every 10 s and "
        "when its state changes: state, topology, internal topics, lag (docs/page.md). Default: none.",
    )  # fmt: skip
    report_credentials: Password | None = option(
        "headrace.report.credentials", Type.PASSWORD, None, importance=Importance.LOW,
        doc="`user:password` for that worker, with the role `operate`, where it asks for one.",
    )  # fmt: skip

    def check(self) -> None:
        """Check the reset policy, the segment size against the batch size, and dead letters against the handlers. Raises
        ConfigError.
        """
        check_policy(self.offset_reset)
        skips = self.skips_bad_records or self.skips_failed_records or self.skips_unwritable_results
        if self.dead_letter_topic is not None and not skips:
            raise ConfigError(
                "errors.dead.letter.queue.topic.name is set, but deserialization.exception.handler is fail, and so are those of "
                "processing and production: the application would end at such a record, and nothing would be written. Set one "
                "of them to continue."
            )
        segment = parse_type("topic.segment.bytes", self.topic_configs.get("segment.bytes"), Type.INT)
        batch = parse_type("batch.size", self._client_settings("producer.").get("batch.size"), Type.INT)
        if segment is not None and batch is not None and segment < batch:
            raise ConfigError(
                f"Specified topic segment size {segment} is smaller than the configured producer batch size {batch}, "
                "this will cause produced batch not able to be appended to the topic"
            )

    @property
    def admin_settings(self) -> dict[str, str]:
        """Settings of the admin client."""
        return self._client_settings("admin.")

    @property
    def producer_settings(self) -> dict[str, str]:
        """Settings of the producers; larger batches than the client's by default."""
        return {"batch.size": "262144", **self._client_settings("producer.")}

    @property
    def consumer_settings(self) -> dict[str, str]:
        """Settings of the consumers; exactly once needs committed records."""
        committed = {"isolation.level": "read_committed"} if self.processing_guarantee == EXACTLY_ONCE else {}
        return {**self._client_settings("consumer.", "main.consumer."), **committed}

    @property
    def spark_settings(self) -> dict[str, str]:
        """Settings of the Spark session, `spark.*`."""
        return {f"spark.{key}": str(value) for key, value in self.originals_with_prefix("spark.").items()}

    @property
    def default_serdes(self) -> tuple[Serde | None, Serde | None]:
        """Serdes of keys and values where an operator has none."""
        return serde_from_config(self.default_key_serde), serde_from_config(self.default_value_serde)

    @property
    def offset_reset(self) -> str:
        """The reset policy of sources without a committed offset."""
        return self.consumer_settings.get("auto.offset.reset", "earliest")

    @property
    def uses_wall_clock(self) -> bool:
        """Whether records have the time of the batch that reads them."""
        return self.timestamp_extractor == _WALL_CLOCK

    @property
    def skips_bad_records(self) -> bool:
        """Whether records that cannot be deserialized are skipped."""
        return self.deserialization_handler == CONTINUE or "Continue" in self.deserialization_handler

    @property
    def skips_failed_records(self) -> bool:
        """Whether records that cannot be processed are skipped."""
        return self.processing_handler == CONTINUE or "Continue" in self.processing_handler

    @property
    def skips_unwritable_results(self) -> bool:
        """Whether records whose results cannot be written are skipped."""
        return self.production_handler == CONTINUE

    def _client_settings(self, *prefixes: str) -> dict[str, str]:
        defined = {option.name for option in type(self).definition().options.values()} - {"bootstrap.servers", "retry.backoff.ms"}
        plain = {k: v for k, v in self.originals.items() if not k.startswith(_PREFIXES) and k not in defined}
        for prefix in prefixes:
            plain |= self.originals_with_prefix(prefix)
        servers = {"bootstrap.servers": ",".join(self.bootstrap_servers)}
        return {key: str(value) for key, value in {**plain, **servers}.items() if not key.startswith("__")}

    @property
    def topic_prefix(self) -> str:
        """The prefix of internal topics: the application's id, or its override."""
        return str(self.originals.get(TOPIC_PREFIX_ALTERNATIVE) or self.application_id)

    @property
    def topic_configs(self) -> dict[str, str]:
        """Settings of every internal topic."""
        return {key: str(value) for key, value in self.originals_with_prefix("topic.").items()}
