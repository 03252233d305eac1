"""The options of every worker: Kafka Connect's `WorkerConfig`.

Unknown keys are kept (`originals`) and cause no error, as in Kafka Connect. `spark.*` keys go to the Spark session. Two defaults
differ from Kafka Connect's: `bootstrap.servers` has one (`localhost:9092`), and without `listeners` the REST server listens on
127.0.0.1 only, not on every interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import structlog

from headrace import plugins
from headrace.config import Config, ConfigDef, Importance, Type, option, validators
from headrace.config.client_options import client_definition
from headrace.config.providers import configured_resolver
from headrace.config.redaction import concealed
from headrace.connect_config import overrides
from headrace.errors import NotFoundError
from headrace.kafka import client_settings
from headrace.plugins import Kind
from headrace.runtime import listeners
from headrace.runtime.listeners import ListenerAddress, ValidListeners

log = structlog.get_logger(__name__)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
SIMPLE_HEADER_CONVERTER = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
_DISTRIBUTED_ONLY = ("group.id", "session.timeout.ms", "heartbeat.interval.ms")


def _class_of(*kinds: Kind) -> Any:
    def resolve(name: str) -> str | None:
        try:
            return plugins.find(name, *kinds).plugin_name
        except NotFoundError:
            return None

    return resolve


def _converter(part: str, default: Any, *, kind: Kind = Kind.CONVERTER, importance: Importance = HIGH) -> Any:
    doc = f"Converter of record {part}s for connectors that name none; its settings stand under `{part}.converter.`."
    fields: dict[str, Any] = {} if default is None else {"default": default}
    return option(f"{part}.converter", Type.CLASS, resolve=_class_of(kind), importance=importance, doc=doc, **fields)


def _version(plugin_option: str) -> Any:
    return option(f"{plugin_option}.plugin.version", Type.STRING, None, importance=LOW, doc=f"Version of the `{plugin_option}`.")


class WorkerConfig(Config):
    """Options of every worker. `resolver` replaces placeholders of its config providers in configurations."""

    bootstrap_servers: list[str] = option(
        "bootstrap.servers",
        Type.LIST,
        ["localhost:9092"],
        validator=validators.ValidList(empty_ok=False),
        importance=HIGH,
        doc="Brokers (`host:port`, …) of the cluster of the internal topics; the default for the clients of connectors.",
    )
    key_converter: str = _converter("key", None)
    key_converter_version: str | None = _version("key.converter")
    value_converter: str = _converter("value", None)
    value_converter_version: str | None = _version("value.converter")
    header_converter: str = _converter("header", SIMPLE_HEADER_CONVERTER, kind=Kind.HEADER_CONVERTER, importance=LOW)
    header_converter_version: str | None = _version("header.converter")
    task_shutdown_timeout_ms: int = option(
        "task.shutdown.graceful.timeout.ms",
        Type.LONG,
        5000,
        importance=LOW,
        doc="How long a stop waits for tasks, in ms; for all of them together, not for each.",
    )
    offset_flush_interval_ms: int = option(
        "offset.flush.interval.ms", Type.LONG, 60000, importance=LOW, doc="How often tasks commit offsets, in ms."
    )
    offset_flush_timeout_ms: int = option(
        "offset.flush.timeout.ms",
        Type.LONG,
        5000,
        importance=LOW,
        doc="How long a commit of offsets may take, in ms, before it counts as failed and is tried again later.",
        without_effect="records go on while offsets are committed, and a commit is retried until it succeeds",
    )
    plugin_path: list[str] | None = option(
        "plugin.path",
        Type.LIST,
        None,
        validator=validators.ValidList(empty_ok=False, null_ok=True),
        importance=LOW,
        doc="Directories of Kafka Connect's plugins in Java: each holds directories or archives, one for each plugin.",
    )
    plugin_discovery: str = option(
        "plugin.discovery",
        Type.STRING,
        "hybrid_warn",
        validator=validators.CaseInsensitiveValidString("only_scan", "service_load", "hybrid_warn", "hybrid_fail"),
        importance=LOW,
        doc="How plugins are found in `plugin.path` (KIP-898): by the manifests in archives (service_load), by looking into "
        "every class (only_scan), or by both, with a warning (hybrid_warn) or an error (hybrid_fail) about missing manifests.",
    )
    config_providers: list[str] = option(
        "config.providers",
        Type.LIST,
        [],
        validator=validators.ValidList(),
        importance=LOW,
        doc="Names of the providers that resolve `${name:path:key}`; each is set up under `config.providers.<name>.`.",
    )
    override_policy: str = option(
        "connector.client.config.override.policy",
        Type.STRING,
        "All",
        importance=MEDIUM,
        doc="What connectors may set under `producer.override.`, `consumer.override.`, `admin.override.` (KIP-458): "
        "All, None, Principal (login only) or Allowlist.",
    )
    override_allowlist: list[str] = option(
        "connector.client.config.override.allowlist",
        Type.LIST,
        [],
        validator=validators.ValidList(),
        importance=MEDIUM,
        doc="Client settings that the Allowlist policy lets connectors override.",
    )
    topic_creation_enable: bool = option(
        "topic.creation.enable",
        Type.BOOLEAN,
        True,
        importance=LOW,
        doc="Whether topics of source connectors are created with the connector's `topic.creation.` settings (KIP-158).",
    )
    topic_tracking_enable: bool = option(
        "topic.tracking.enable",
        Type.BOOLEAN,
        True,
        importance=LOW,
        doc="Whether the topics that connectors use are recorded (KIP-558).",
    )
    topic_tracking_allow_reset: bool = option(
        "topic.tracking.allow.reset",
        Type.BOOLEAN,
        True,
        importance=LOW,
        doc="Whether the record of a connector's topics may be reset over REST (KIP-558).",
    )
    listeners: list[str] = option(
        "listeners",
        Type.LIST,
        [listeners.DEFAULT],
        validator=ValidListeners(),
        importance=LOW,
        doc="URLs that the REST server listens on. An empty host (`http://:8083`) is every interface; without this "
        "setting only this machine can connect.",
    )
    admin_listeners: list[str] | None = option(
        "admin.listeners",
        Type.LIST,
        None,
        validator=validators.ValidList(null_ok=True),
        importance=LOW,
        doc="URLs for the admin endpoints (`/admin/loggers`, `/metrics`): null: those of `listeners`, empty: none.",
    )
    advertised_host: str | None = option(
        "rest.advertised.host.name",
        Type.STRING,
        None,
        importance=LOW,
        doc="Host name that is given to other workers; by default that of the listener, `localhost` for 127.0.0.1, and "
        "this machine's address for a listener on every interface.",
    )
    advertised_port: int | None = option(
        "rest.advertised.port",
        Type.INT,
        None,
        importance=LOW,
        doc="Port that is given to other workers; by default the listener's.",
    )
    advertised_listener: str | None = option(
        "rest.advertised.listener",
        Type.STRING,
        None,
        importance=LOW,
        doc="Which listener is given to other workers, `http` or `https`; by default http if there is one.",
    )
    cors_origins: str = option(
        "access.control.allow.origin",
        Type.STRING,
        "",
        importance=LOW,
        doc="Origins whose web pages may use the REST API: Java regular expressions, separated by commas; `*`: any; empty: none.",
    )
    cors_methods: str = option(
        "access.control.allow.methods",
        Type.STRING,
        "",
        importance=LOW,
        doc="Methods allowed for cross-origin requests; empty: GET, POST and HEAD.",
    )
    response_headers: str = option(
        "response.http.headers.config",
        Type.STRING,
        "",
        importance=LOW,
        doc="Headers put on every answer: `[set|add|setDate|addDate] name: value`, comma separated.",
    )
    rest_extensions: list[str] = option(
        "rest.extension.classes",
        Type.LIST,
        [],
        validator=validators.ValidList(),
        importance=LOW,
        doc="REST extensions to load; headrace has Kafka's BasicAuthSecurityRestExtension.",
    )
    jaas_file: str | None = option(
        "java.security.auth.login.config",
        Type.STRING,
        None,
        importance=LOW,
        doc="JAAS file whose entry `KafkaConnect` configures BasicAuthSecurityRestExtension; by default the one of the Java "
        "system property of this name in `KAFKA_OPTS`.",
    )
    rest_authentication: str = option(
        "rest.authentication",
        Type.STRING,
        "none",
        validator=validators.ValidString("none", "basic"),
        importance=MEDIUM,
        doc="Whether REST clients have to say who they are: `basic` (user and password) or `none`.",
    )
    rest_users_file: str | None = option(
        "rest.authentication.users.file",
        Type.STRING,
        None,
        importance=MEDIUM,
        doc="Users of `rest.authentication=basic`, a line `user=role[,role]:hash` each; roles are `read`, `operate` and `admin`, "
        "hashes come from `headrace hash-password`.",
    )
    rest_page_enable: bool = option(
        "rest.page.enable",
        Type.BOOLEAN,
        True,
        importance=LOW,
        doc="Whether the REST server has the operator's page under `/ui`; its users and roles are those of the REST API.",
    )
    initial_offsets_enable: bool = option(
        "connector.initial.offsets.enable", Type.BOOLEAN, False, importance=LOW,
        doc="Of headrace: whether `POST /connectors` takes `initial_offsets` (KIP-995), which Kafka Connect 4.3 refuses.",
    )  # fmt: skip
    openlineage_enabled: bool = option(
        "openlineage.integration.enabled", Type.BOOLEAN, False, importance=LOW,
        doc="Of headrace, under Debezium's name: whether the worker sends OpenLineage's events of its connectors (the extra "
        "`lineage`, docs/page.md).",
    )  # fmt: skip
    openlineage_file: str | None = option(
        "openlineage.integration.config.file.path", Type.STRING, None, importance=LOW,
        doc="The YAML file that says where OpenLineage's events go (`transport`); by default as `OPENLINEAGE_CONFIG` or "
        "`OPENLINEAGE_URL` say.",
    )  # fmt: skip
    openlineage_namespace: str | None = option(
        "openlineage.integration.job.namespace", Type.STRING, None, importance=LOW,
        doc="The namespace of the jobs in OpenLineage's events; by default the worker's `group.id`.",
    )  # fmt: skip
    openlineage_description: str | None = option(
        "openlineage.integration.job.description", Type.STRING, None, importance=LOW,
        doc="The description of the jobs in OpenLineage's events; by default each says what it is.",
    )  # fmt: skip
    openlineage_owners: list[str] = option(
        "openlineage.integration.job.owners", Type.LIST, [], validator=validators.ValidList(), importance=LOW,
        doc="The owners of the jobs in OpenLineage's events, each `role=name`, like `MAINTAINER=team:data`.",
    )  # fmt: skip
    openlineage_tags: list[str] = option(
        "openlineage.integration.job.tags", Type.LIST, [], validator=validators.ValidList(), importance=LOW,
        doc="The tags of the jobs in OpenLineage's events, each `key=value`, like `env=prod`.",
    )  # fmt: skip
    ssl_client_auth: str = option(
        "ssl.client.auth",
        Type.STRING,
        "none",
        validator=validators.ValidString("required", "requested", "none"),
        importance=LOW,
        doc="Whether HTTPS clients have to show a certificate.",
    )
    metrics_window_ms: int = option(
        "metrics.sample.window.ms",
        Type.LONG,
        30000,
        validator=validators.Range(0),
        importance=LOW,
        doc="Length of a sample of the metrics, in ms.",
    )
    metrics_samples: int = option(
        "metrics.num.samples",
        Type.INT,
        2,
        validator=validators.Range(1),
        importance=LOW,
        doc="Number of samples that a rate is computed over.",
    )
    metrics_level: str = option(
        "metrics.recording.level",
        Type.STRING,
        "INFO",
        validator=validators.ValidString("INFO", "DEBUG"),
        importance=LOW,
        doc="Level of detail of the metrics.",
        without_effect="everything is measured at each level",
    )

    def __init__(self, props: Mapping[str, Any]) -> None:
        """Read `props`, with the values of config providers. Raises ConfigError for the first problem."""
        self.resolver = configured_resolver(props)
        with concealed():
            super().__init__(self.resolver.resolve(props).props)

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options of this class, then those of Kafka's clients that a worker takes; read-only."""
        return _with_client_options(cls, super().definition())

    def check(self) -> None:
        """Check what Kafka Connect checks at its first use: listeners, override policy. Raises ConfigError."""
        self.listening()
        self.admin_listening()
        overrides.policy(self.override_policy, self.override_allowlist)
        for removed_option in ("internal.key.converter", "internal.value.converter"):
            if removed_option in self.originals:
                log.warning("The worker setting %s is ignored: internal data is always schemaless JSON.", removed_option)

    def listening(self) -> list[ListenerAddress]:
        """The addresses of the REST server. Raises ConfigError for an invalid one."""
        return [listeners.parse_listener(text) for text in self.listeners]

    def admin_listening(self) -> list[ListenerAddress] | None:
        """The addresses of the admin endpoints, None: those of the REST server, empty: switched off."""
        admin = self.admin_listeners
        return None if admin is None else [listeners.parse_listener(text) for text in admin]

    def worker_id(self, bound_port: int | None = None) -> str:
        """`host:port`, the name of this worker in statuses."""
        return "{1}:{2}".format(*self._advertised(bound_port))

    def rest_url(self) -> str:
        """Where other workers reach the REST interface of this one: `scheme://host:port/`."""
        return "{}://{}:{}/".format(*self._advertised(None))

    def rest_scheme(self) -> str:
        """http or https: how the workers of the group, which are configured alike, reach each other."""
        return self._advertised(None)[0]

    def _advertised(self, bound_port: int | None) -> tuple[str, str, int]:
        configured = (self.advertised_listener, self.advertised_host, self.advertised_port)
        return listeners.advertised(self.listening(), *configured, bound_port)

    @property
    def exactly_once_enabled(self) -> bool:
        """Whether source connectors may run exactly once; only a distributed worker can allow it."""
        return False

    @property
    def worker_group(self) -> str | None:
        """The group of the workers, None for a standalone worker."""
        return None

    def spark_conf(self) -> dict[str, str]:
        """The `spark.*` settings; the session has defaults for others (`headrace.spark.session`)."""
        return spark_settings(self.originals)

    def client_props(self, kind: str) -> dict[str, str]:
        """Settings, under Java's names, of connectors' clients: "producer", "consumer" or "admin"."""
        return client_settings.connector_client(self.originals, ",".join(self.bootstrap_servers), kind)

    def internal_client_props(self) -> dict[str, str]:
        """Settings, under Java's names, of the worker's own clients."""
        return client_settings.internal_client(self.originals, ",".join(self.bootstrap_servers))


def spark_settings(props: Mapping[str, Any]) -> dict[str, str]:
    """The `spark.*` settings of a worker's properties."""
    return {key: str(value) for key, value in props.items() if key.startswith("spark.") and value is not None}


@cache
def _with_client_options(cls: type[WorkerConfig], definition: ConfigDef) -> ConfigDef:
    extra = (o for o in client_definition("worker").options.values() if o.name not in (*definition.options, *_DISTRIBUTED_ONLY))
    return ConfigDef([*definition.options.values(), *extra])
