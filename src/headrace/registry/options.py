"""The options that every converter with a registry has, under the names of Confluent's (`AbstractKafkaSchemaSerDeConfig`)."""

from __future__ import annotations

from headrace.config import Importance, Option, Type, validators

TOPIC_NAMES = "io.confluent.kafka.serializers.subject.TopicNameStrategy"
NO_CONTEXT = "io.confluent.kafka.serializers.context.NullContextNameStrategy"
_LOW, _MEDIUM, _HIGH = Importance.LOW, Importance.MEDIUM, Importance.HIGH


def registry_options() -> list[Option]:
    """Where the registry is, how it is called, and under which subjects schemas are."""
    return [*_schemas(), *_http(), *_login()]


def flag(name: str, default: bool, doc: str) -> Option:
    """An option of a converter that is on or off."""
    return Option(name, Type.BOOLEAN, default, importance=_LOW, doc=doc)


def shared_options(cache: str) -> list[Option]:
    """What all converters with a registry have beside that. cache: the name that the size of its cache has with Confluent's."""
    return [
        flag("generalized.sum.type.support", False, "Stand for unions and enums by Connect's generalized types."),
        flag("ignore.default.for.nullables", False, "Write null for null, not the default of the field."),
        Option(cache, Type.INT, 1000, importance=_LOW, doc="Accepted: schemas are kept anyway."),
    ]


def _schemas() -> list[Option]:
    def names(part: str) -> Option:
        doc = f"How the subject of a {part}'s schema is named: the class name of TopicNameStrategy, RecordNameStrategy or "
        return Option(f"{part}.subject.name.strategy", Type.STRING, TOPIC_NAMES, importance=_MEDIUM,
                      doc=doc + "TopicRecordNameStrategy.")  # fmt: skip

    return [
        Option("schema.registry.url", Type.LIST, importance=_HIGH,
               doc="The URLs of the schema registry's servers, separated by commas; those that do not answer are passed over."),
        flag("auto.register.schemas", True, "Register schemas that the registry does not have. If not, they have to be there."),
        flag("use.latest.version", False, "Write with the newest schema of the subject; only without auto.register.schemas."),
        flag("latest.compatibility.strict", True,
             "With use.latest.version: refuse data whose schema is not compatible with the newest of the subject."),
        Option("use.schema.id", Type.INT, -1, importance=_LOW,
               doc="Write with the schema of this id; only without auto.register.schemas. -1: none."),
        flag("normalize.schemas", False, "Have the registry take schemas that mean the same for the same."),
        Option("max.schemas.per.subject", Type.INT, 1000, importance=_LOW,
               doc="How many schemas a converter writes under one subject."),
        names("key"),
        names("value"),
        Option("context.name.strategy", Type.STRING, NO_CONTEXT, importance=_LOW,
               doc="The context of the subjects: only the default, none, is there."),
        Option("latest.cache.size", Type.INT, 1000, importance=_LOW, doc="How many answers about newest versions are kept."),
        Option("latest.cache.ttl.sec", Type.INT, -1, importance=_LOW,
               doc="How long an answer about a newest version is kept, in seconds; -1: as long as the task runs."),
    ]  # fmt: skip


def _http() -> list[Option]:
    def number(name: str, default: int, doc: str) -> Option:
        return Option(name, Type.INT, default, validators.Range(0), importance=_LOW, doc=doc)

    return [
        number("http.connect.timeout.ms", 60000, "How long a connection to the registry may take, in ms."),
        number("http.read.timeout.ms", 60000, "How long an answer of the registry may take, in ms."),
        number("max.retries", 3, "How often a request is tried again that no server of the registry has answered."),
        number("retries.wait.ms", 1000, "The pause before the first of them, in ms; it doubles each time."),
        number("retries.max.wait.ms", 20000, "The longest such pause, in ms."),
        Option("proxy.host", Type.STRING, "", importance=_LOW, doc="The host of an HTTP proxy to the registry."),
        Option("proxy.port", Type.INT, -1, importance=_LOW, doc="The proxy's port."),
    ]


def _login() -> list[Option]:
    def text(name: str, doc: str, kind: Type = Type.STRING) -> Option:
        return Option(name, kind, "", importance=_MEDIUM, doc=doc)

    return [
        Option("basic.auth.credentials.source", Type.STRING, "URL", importance=_MEDIUM,
               doc="Where the name and password for the registry are: `URL` (`https://name:password@host`), `USER_INFO` "
                   "(basic.auth.user.info), or `SASL_INHERIT` (sasl.jaas.config)."),
        text("basic.auth.user.info", "`name:password`.", Type.PASSWORD),
        text("schema.registry.basic.auth.user.info", "The older name of basic.auth.user.info.", Type.PASSWORD),
        text("sasl.jaas.config", "Of a Kafka client, for `SASL_INHERIT`.", Type.PASSWORD),
        text("bearer.auth.credentials.source", "`STATIC_TOKEN` or `OAUTHBEARER`; empty: no token is sent."),
        text("bearer.auth.token", "The token, for `STATIC_TOKEN`.", Type.PASSWORD),
        text("bearer.auth.issuer.endpoint.url", "Where tokens are asked for, for `OAUTHBEARER`."),
        text("bearer.auth.client.id", "The client's id there."),
        text("bearer.auth.client.secret", "The client's secret there.", Type.PASSWORD),
        text("bearer.auth.scope", "What the token is to be good for."),
        text("bearer.auth.logical.cluster", "Sent along as the header target-sr-cluster."),
        text("bearer.auth.identity.pool.id", "Sent along as the header Confluent-Identity-Pool-Id."),
    ]  # fmt: skip
