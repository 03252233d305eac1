"""Options that the three mirror connectors have in common: MirrorMaker 2's, and the few that headrace adds."""

from __future__ import annotations

from typing import Any

from headrace.config import Config, Importance, Type, option
from headrace.config.types import invalid
from headrace.config.validators import Lambda, NonEmptyString, ValidList, ValidString
from headrace.connectors.base import Props
from headrace.connectors.mirror.policies import DEFAULT, IDENTITY, DefaultPolicy, check_policy_class, parse_renames, policy


class Only:
    """A class of Kafka's that has no alternative here; a user's own Java class cannot run."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for another class."""
        if value is None or value.rpartition(".")[2] != self.name.rpartition(".")[2]:
            raise invalid(name, value, f"Only {self.name} is there; classes of Java cannot be loaded")

    def __str__(self) -> str:
        return self.name


def _check_renames(name: str, value: Any) -> None:
    parse_renames(name, value or "")


def formats_option(doc: str) -> Any:
    """The option `metric.names.formats` (KIP-1280). doc: what the names are of."""
    return option(
        "metric.names.formats",
        Type.LIST,
        ["legacy"],
        validator=ValidList("legacy", "new", empty_ok=False),
        importance=Importance.LOW,
        doc=f"Names of the metrics: legacy ({doc}), new (of the type `plugins`, with the labels connector and task), or both.",
    )


# Options of the connectors that copy and of those that make checkpoints.
TOPIC_FILTER_CLASS: Any = option(
    "topic.filter.class",
    Type.CLASS,
    "org.apache.kafka.connect.mirror.DefaultTopicFilter",
    validator=Only("org.apache.kafka.connect.mirror.DefaultTopicFilter"),
    importance=Importance.LOW,
    doc="TopicFilter to use. Selects topics to replicate.",
)
CONSUMER_POLL_TIMEOUT: Any = option(
    "consumer.poll.timeout.ms",
    Type.LONG,
    1000,
    importance=Importance.LOW,
    doc="Timeout when polling source cluster.",
    without_effect="records are sent on as they come: no thread of the task polls",
)
OFFSET_SYNCS_TOPIC_LOCATION: Any = option(
    "offset-syncs.topic.location",
    Type.STRING,
    "source",
    validator=ValidString("source", "target"),
    importance=Importance.LOW,
    doc="The location (source/target) of the offset-syncs topic.",
)


class MirrorConfig(Config):
    """Configuration of a connector between the clusters `source.cluster.alias` and `target.cluster.alias`.

    Settings of Kafka's clients are under `source.cluster.`, `target.cluster.` and more special prefixes (`clients`).
    """

    enabled: bool = option(
        "enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to replicate source->target.",
    )
    source_cluster_alias: str = option(
        "source.cluster.alias",
        Type.STRING,
        importance=Importance.HIGH,
        doc="Alias of source cluster",
    )
    target_cluster_alias: str = option(
        "target.cluster.alias",
        Type.STRING,
        "target",
        importance=Importance.HIGH,
        doc="Alias of target cluster. Used in metrics reporting.",
    )
    admin_timeout_ms: int = option(
        "admin.timeout.ms",
        Type.LONG,
        60_000,
        importance=Importance.LOW,
        doc="Timeout for administrative tasks, e.g. detecting new topics.",
    )
    replication_policy_class: str = option(
        "replication.policy.class",
        Type.CLASS,
        DEFAULT,
        validator=Lambda(check_policy_class, f"[{DEFAULT}, {IDENTITY}]"),
        importance=Importance.LOW,
        doc="Class which defines the remote topic naming convention.",
    )
    replication_policy_separator: str = option(
        "replication.policy.separator",
        Type.STRING,
        ".",
        validator=NonEmptyString(),
        importance=Importance.LOW,
        doc="Separator used in remote topic naming convention.",
    )
    replication_policy_internal_topic_separator_enabled: bool = option(
        "replication.policy.internal.topic.separator.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to use replication.policy.separator to control the names of topics used for checkpoints and offset "
        "syncs. By default, custom separators are used in these topic names; however, if upgrading MirrorMaker 2 from "
        "older versions that did not allow for these topic names to be customized, it may be necessary to set this "
        "property to 'false' in order to continue using the same names for those topics.",
    )
    forwarding_admin_class: str = option(
        "forwarding.admin.class",
        Type.CLASS,
        "org.apache.kafka.clients.admin.ForwardingAdmin",
        validator=Only("org.apache.kafka.clients.admin.ForwardingAdmin"),
        importance=Importance.LOW,
        doc="Class which extends ForwardingAdmin to define custom cluster resource management (topics, configs, etc). The "
        "class must have a constructor with signature <code>(Map<String, Object> config)</code> that is used to configure"
        " a KafkaAdminClient and may also be used to configure clients for external systems if necessary.",
    )
    replication_policy_renames: str = option(
        "replication.policy.renames",
        Type.STRING,
        "",
        validator=Lambda(_check_renames, "list of <topic>:<name in the target>"),
        importance=Importance.LOW,
        doc="Of headrace: topics that have a name of their own in the target cluster, as `<topic>:<name in the target>`, "
        "separated by commas. All others follow the replication policy.",
    )

    @property
    def policy(self) -> DefaultPolicy:
        """How topics are called in the target. Raises ConfigError for a class that is not there."""
        return policy(
            self.replication_policy_class,
            self.source_cluster_alias,
            self.replication_policy_separator,
            self.replication_policy_internal_topic_separator_enabled,
            parse_renames("replication.policy.renames", self.replication_policy_renames),
        )

    @property
    def timeout_s(self) -> float:
        """How long one administrative task may take."""
        return self.admin_timeout_ms / 1000

    def check(self) -> None:
        """Check the policy. Raises ConfigError."""
        _ = self.policy


def is_off(props: Props, option: str) -> bool:
    """Whether a boolean option is false, in any case and with spaces around it, as Kafka reads it."""
    return (props.get(option) or "").strip().lower() == "false"
