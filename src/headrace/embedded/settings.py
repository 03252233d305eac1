"""The settings of a single-node Kafka on loopback; pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

HOST = "127.0.0.1"

_SINGLE_NODE = {
    # one node cannot replicate
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # the default, 50 partitions each, would be created and loaded at every start, for a handful of groups
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
    # the first member of a group need not wait for others
    "group.initial.rebalance.delay.ms": "0",
    # a broker that was killed is registered until its session ends (9 s by default), and cannot come back before
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "250",
    # by default the controller writes a record every half second to show followers that it is alive: it has none, and this is
    # a third of what an idle broker costs
    "metadata.max.idle.interval.ms": "0",
    # a mistyped topic is an error; headrace creates the topics that it needs
    "auto.create.topics.enable": "false",
    # test and demo data carry timestamps of years ago, which Kafka's week of retention would delete within minutes
    "log.retention.ms": "-1",
    # the default, 128 MB, is a quarter of the heap
    "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
}


def server_properties(port: int, controller_port: int, logs: Path, overrides: Mapping[str, str]) -> dict[str, str]:
    """All settings of a KRaft broker that is its own controller; `overrides` takes precedence."""
    node = overrides.get("node.id", "1")
    return {
        "process.roles": "broker,controller",
        "node.id": node,
        "controller.quorum.voters": f"{node}@{HOST}:{controller_port}",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "log.dirs": str(logs),
        **_SINGLE_NODE,
        **overrides,
    }


def to_text(properties: Mapping[str, str]) -> str:
    """The settings as a Java properties file, in ASCII."""
    return "".join(f"{_escaped(name)}={_escaped(value)}\n" for name, value in properties.items())


def _escaped(text: str) -> str:
    """Escape special characters of a properties file: backslashes, separators, line ends, leading spaces, non-ASCII."""
    lead = len(text) - len(text.lstrip(" "))
    escaped = "\\ " * lead
    for character in text[lead:]:
        if character in "\\=:#!":
            escaped += "\\" + character
        elif " " <= character <= "~":
            escaped += character
        else:
            units = character.encode("utf-16-be")
            escaped += "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
    return escaped
