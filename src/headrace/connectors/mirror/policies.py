"""Topic names on the other cluster, and their origin: MirrorMaker's replication policies (KIP-382). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.config import parse_list
from headrace.config.types import invalid
from headrace.errors import ConfigError

_PACKAGE = "org.apache.kafka.connect.mirror."
DEFAULT, IDENTITY = _PACKAGE + "DefaultReplicationPolicy", _PACKAGE + "IdentityReplicationPolicy"
HEARTBEATS = "heartbeats"


class DefaultPolicy:
    """Kafka's DefaultReplicationPolicy: `<alias of the source><separator><topic>`, so that a name shows every hop."""

    def __init__(self, separator: str = ".", internal_separator: str = ".") -> None:
        """internal_separator: that in the names of MirrorMaker's own topics."""
        self.separator = separator
        self._dot = internal_separator

    def remote(self, alias: str, topic: str) -> str:
        """The name in the target cluster of a topic of the cluster `alias`."""
        return f"{alias}{self.separator}{topic}"

    def source(self, topic: str) -> str | None:
        """The alias of the cluster that a topic was mirrored from, by its name; None if it was not mirrored."""
        parts = topic.split(self.separator)
        while parts and not parts[-1]:  # as Java splits
            parts.pop()
        return parts[0] if len(parts) > 1 else None

    def upstream(self, topic: str) -> str | None:
        """The name of a mirrored topic in its source cluster; None if it was not mirrored."""
        source = self.source(topic)
        return None if source is None else topic[len(source) + len(self.separator) :]

    def original(self, topic: str) -> str:
        """The name where the topic began its way, however many hops ago."""
        upstream = self.upstream(topic)
        return topic if upstream is None or upstream == topic else self.original(upstream)

    def hops(self, topic: str) -> list[str]:
        """The aliases of the clusters that a topic came through, the last one first."""
        source, upstream = self.source(topic), self.upstream(topic)
        if source is None:
            return []
        return [source] if upstream is None or upstream == topic else [source, *self.hops(upstream)]

    def is_cycle(self, topic: str, target: str) -> bool:
        """Whether a topic, by its name, has been in the cluster `target` before."""
        return target in self.hops(topic)

    def is_heartbeats(self, topic: str) -> bool:
        """Whether this is the heartbeats topic of this cluster, or a mirror of another one's."""
        return self.original(topic) == HEARTBEATS

    def is_internal(self, topic: str) -> bool:
        """Whether this is a topic of Kafka itself or of MirrorMaker, which is never mirrored."""
        suffix = f"{self._dot}internal"
        is_internal = topic.startswith("mm2") and topic.endswith(suffix)
        return is_internal or topic.endswith(f"{self._dot}checkpoints{suffix}") or topic.startswith(("__", "."))

    def offset_syncs_topic(self, alias: str) -> str:
        """The topic with the pairs of offsets; alias: of the cluster on the other side."""
        return f"mm2-offset-syncs{self._dot}{alias}{self._dot}internal"

    def checkpoints_topic(self, alias: str) -> str:
        """The topic, in the target, with the groups' translated positions from the cluster `alias`."""
        return f"{alias}{self._dot}checkpoints{self._dot}internal"


class IdentityPolicy(DefaultPolicy):
    """Kafka's IdentityReplicationPolicy: topics keep their names, but for heartbeats. Names do not show cycles."""

    def __init__(self, alias: str, separator: str = ".", internal_separator: str = ".") -> None:
        """alias: of the source cluster."""
        super().__init__(separator, internal_separator)
        self._alias = alias

    def remote(self, alias: str, topic: str) -> str:
        """The same name; that of the default policy for heartbeats."""
        return super().remote(alias, topic) if _heartbeat(topic) else topic

    def source(self, topic: str) -> str | None:
        """The source cluster, whatever the topic."""
        return super().source(topic) if _heartbeat(topic) else self._alias

    def upstream(self, topic: str) -> str | None:
        """The same name."""
        return super().upstream(topic) if _heartbeat(topic) else topic


class RenamingPolicy(DefaultPolicy):
    """Of headrace: some topics have names of their own in the target; the others follow another policy."""

    def __init__(self, base: DefaultPolicy, alias: str, renames: Mapping[str, str]) -> None:
        """alias: of the source cluster; renames: name in the source → name in the target."""
        super().__init__(base.separator, base._dot)
        self._base, self._alias, self._renames = base, alias, dict(renames)
        self._back = {remote: topic for topic, remote in renames.items()}

    def remote(self, alias: str, topic: str) -> str:
        """The name that was given, else that of the other policy."""
        return self._renames.get(topic) or self._base.remote(alias, topic)

    def source(self, topic: str) -> str | None:
        """The source cluster, for a name that was given."""
        return self._alias if topic in self._back else self._base.source(topic)

    def upstream(self, topic: str) -> str | None:
        """The name in the source."""
        return self._back.get(topic) or self._base.upstream(topic)

    def original(self, topic: str) -> str:
        """The name where it began: a name that was given is one hop, so that two topics may swap their names."""
        return self._base.original(self._back.get(topic, topic))

    def hops(self, topic: str) -> list[str]:
        """The aliases of the clusters, likewise."""
        before = self._back.get(topic)
        return self._base.hops(topic) if before is None else [self._alias, *self._base.hops(before)]


def _heartbeat(topic: str) -> bool:
    return topic.endswith(HEARTBEATS)


def parse_renames(name: str, text: str) -> dict[str, str]:
    """`orders:orders-copy, flights:f` as a mapping from names in the source to names in the target.

    Raises ConfigError for what is no pair, and for a name that is given twice on either side.
    """
    renames: dict[str, str] = {}
    for part in parse_list(text):
        topic, colon, remote = (piece.strip() for piece in part.partition(":"))
        if not (topic and colon and remote) or ":" in remote:
            raise ConfigError.invalid(name, text, f"'{part}' is not of the form <topic>:<name in the target>")
        if topic in renames or remote in renames.values():
            raise ConfigError.invalid(name, text, f"'{topic if topic in renames else remote}' is there twice")
        renames[topic] = remote
    return renames


def check_policy_class(name: str, class_name: str | None) -> None:
    """Raise ConfigError for a class that is none of Kafka's."""
    if class_name is None or _simple(class_name) not in map(_simple, (DEFAULT, IDENTITY)):
        why = f"Only {DEFAULT} and {IDENTITY} are there; `replication.policy.renames` gives single topics other names"
        raise invalid(name, class_name, why)


def _simple(class_name: str) -> str:
    return class_name.rpartition(".")[2]


def policy(class_name: str, alias: str, separator: str, internal: bool, renames: Mapping[str, str]) -> DefaultPolicy:
    """The policy of a configuration.

    alias: of the source cluster; internal: whether the separator counts in the names of MirrorMaker's own topics. Raises
    ConfigError for a class that is none of Kafka's.
    """
    check_policy_class("replication.policy.class", class_name)
    dot = separator if internal else "."
    is_identity = _simple(class_name) == _simple(IDENTITY)
    chosen = IdentityPolicy(alias, separator, dot) if is_identity else DefaultPolicy(separator, dot)
    return RenamingPolicy(chosen, alias, renames) if renames else chosen
