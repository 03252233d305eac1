"""The options of every converter with a schema registry, with Confluent's names (`AbstractKafkaSchemaSerDeConfig`)."""

from __future__ import annotations

from typing import Any

from headrace.config import Config, Importance, Type, option, validators
from headrace.config.types import Password

TOPIC_NAMES = "io.confluent.kafka.serializers.subject.TopicNameStrategy"
NO_CONTEXT = "io.confluent.kafka.serializers.context.NullContextNameStrategy"
_LOW, _MEDIUM, _HIGH = Importance.LOW, Importance.MEDIUM, Importance.HIGH


def flag(name: str, default: bool, doc: str) -> Any:
    """A boolean option of low importance."""
    return option(name, Type.BOOLEAN, default, importance=_LOW, doc=doc)


def cache_size(name: str) -> Any:
    """The size of the schema cache; its name differs between Confluent's converters."""
    doc = "The maximum number of schemas that can be cached."
    return option(name, Type.INT, 1000, importance=_LOW, doc=doc, without_effect="schemas in use stay in memory")


def _strategy(part: str) -> Any:
    doc = f"How the subject of a {part}'s schema is named: the class name of TopicNameStrategy, RecordNameStrategy or "
    return option(
        f"{part}.subject.name.strategy", Type.STRING, TOPIC_NAMES, importance=_MEDIUM, doc=doc + "TopicRecordNameStrategy."
    )


def _number(name: str, default: int, doc: str) -> Any:
    return option(name, Type.INT, default, validator=validators.Range(0), importance=_LOW, doc=doc)


def _text(name: str, doc: str, type: Type = Type.STRING, default: str = "") -> Any:
    return option(name, type, default, importance=_MEDIUM, doc=doc)


class RegistryConfig(Config):
    """The URLs of the registry, the subjects of schemas, and the HTTP client with its credentials."""

    # ---------------------------------------------------------------------------------------------------------- schemas
    schema_registry_url: list[str] = option(
        "schema.registry.url",
        Type.LIST,
        importance=_HIGH,
        doc="The URLs of the schema registry's servers, separated by commas; those that do not answer are skipped.",
    )
    auto_register_schemas: bool = flag(
        "auto.register.schemas", True, "Register schemas that the registry does not have. If not, they have to be there."
    )
    use_latest_version: bool = flag(
        "use.latest.version",
        False,
        "Write with the newest schema of the subject; only without auto.register.schemas. Data is read by the schema of its id.",
    )
    latest_compatibility_strict: bool = flag(
        "latest.compatibility.strict",
        True,
        "With use.latest.version: refuse data that is not valid by the newest schema of the subject.",
    )
    use_schema_id: int = option(
        "use.schema.id",
        Type.INT,
        -1,
        importance=_LOW,
        doc="Write with the schema of this id; only without auto.register.schemas. -1: none.",
    )
    id_compatibility_strict: bool = flag(
        "id.compatibility.strict", True, "With use.schema.id: refuse data that is not valid by the schema of that id."
    )
    normalize_schemas: bool = flag("normalize.schemas", False, "Have the registry take schemas that mean the same for the same.")
    max_schemas_per_subject: int = option(
        "max.schemas.per.subject",
        Type.INT,
        1000,
        importance=_LOW,
        doc="The maximum number of schemas of a subject that can be cached.",
        without_effect="schemas in use stay in memory, and a subject may have any number of them",
    )
    key_subject_name_strategy: str = _strategy("key")
    value_subject_name_strategy: str = _strategy("value")
    context_name_strategy: str = option(
        "context.name.strategy",
        Type.STRING,
        NO_CONTEXT,
        importance=_LOW,
        doc="The context of the subjects: only the default, none, is supported.",
    )
    latest_cache_size: int = option(
        "latest.cache.size",
        Type.INT,
        1000,
        importance=_LOW,
        doc="The maximum number of newest versions that can be cached.",
        without_effect="newest versions in use stay in memory, as long as latest.cache.ttl.sec says",
    )
    latest_cache_ttl_s: int = option(
        "latest.cache.ttl.sec",
        Type.INT,
        -1,
        importance=_LOW,
        doc="How long a newest version is cached, in seconds; then it is fetched again, while the task runs, at "
        "most once a second. -1: as long as the task runs.",
    )

    # ------------------------------------------------------------------------------------------------------------- HTTP
    connect_timeout_ms: int = _number(
        "http.connect.timeout.ms", 60000, "How long a connection to the registry may take, in ms. 0: any time."
    )
    read_timeout_ms: int = _number(
        "http.read.timeout.ms", 60000, "How long an answer of the registry may take, in ms. 0: any time."
    )
    max_retries: int = _number(
        "max.retries", 3, "How often a request is tried again that no server of the registry has answered."
    )
    retries_wait_ms: int = _number("retries.wait.ms", 1000, "The pause before the first of them, in ms; it doubles each time.")
    retries_max_wait_ms: int = _number("retries.max.wait.ms", 20000, "The longest such pause, in ms.")
    proxy_host: str = option(
        "proxy.host", Type.STRING, "", importance=_LOW, doc="The host of an HTTP proxy to the registry and the issuer of tokens."
    )
    proxy_port: int = option(
        "proxy.port", Type.INT, -1, validator=validators.Range(max=65535), importance=_LOW, doc="The proxy's port."
    )

    # ------------------------------------------------------------------------------------------------------------ login
    basic_source: str = _text(
        "basic.auth.credentials.source",
        "Where the name and password for the registry are: `URL` (`https://name:password@host`), `USER_INFO` "
        "(basic.auth.user.info), or `SASL_INHERIT` (sasl.jaas.config).",
        default="URL",
    )
    basic_user_info: Password = _text("basic.auth.user.info", "`name:password`.", Type.PASSWORD)
    older_basic_user_info: Password = _text(
        "schema.registry.basic.auth.user.info", "The older name of basic.auth.user.info.", Type.PASSWORD
    )
    sasl_jaas_config: Password = _text("sasl.jaas.config", "Of a Kafka client, for `SASL_INHERIT`.", Type.PASSWORD)
    bearer_source: str = _text(
        "bearer.auth.credentials.source",
        "`STATIC_TOKEN` (bearer.auth.token) or `OAUTHBEARER` (client credentials); empty: no token is sent.",
    )
    bearer_token: Password = _text("bearer.auth.token", "The token, for `STATIC_TOKEN`.", Type.PASSWORD)
    bearer_url: str = _text("bearer.auth.issuer.endpoint.url", "The URL that issues tokens, for `OAUTHBEARER`.")
    bearer_client_id: str = _text("bearer.auth.client.id", "The client's id there.")
    bearer_client_secret: Password = _text("bearer.auth.client.secret", "The client's secret there.", Type.PASSWORD)
    bearer_scope: str = _text("bearer.auth.scope", "What the token is to be good for.")
    bearer_logical_cluster: str = _text("bearer.auth.logical.cluster", "Sent along as the header target-sr-cluster.")
    bearer_identity_pool: str = _text("bearer.auth.identity.pool.id", "Sent along as the header Confluent-Identity-Pool-Id.")
