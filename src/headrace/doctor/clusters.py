"""Checks of a Kafka cluster: reachability, permissions of the worker, internal topics, and clocks; and of Spark's master."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing

from headrace.cluster.worker_topics import config_topic, offset_topic, status_topic
from headrace.config.redaction import redact
from headrace.doctor.finding import Finding, ok, warning, wrong
from headrace.errors import ConfigError, HeadraceError
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.inspection import InspectingAdmin
from headrace.kafka.internal_topics import CREATION, WorkerTopic
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.listeners import LAST_PORT
from headrace.values.times import now_ms

_NEEDED_OPERATIONS = ("DESCRIBE", "READ", "WRITE", "DESCRIBE_CONFIGS")
"""The permissions that a worker needs on its internal topics (KIP-605; the security chapter of Kafka Connect)."""
_CLOCK_TOLERANCE_MS = 5_000
"""How far in the future the newest record may be without a finding."""
_REPLICATION_BROKERS = 3
_MASTER = re.compile(r"local(\[([0-9]+|\*)(\s*,\s*[0-9]+)?\])?|local-cluster\[.+\]|k8s://.+|yarn")
"""The masters that Spark itself knows, but `spark://`."""
_CONNECT_S = 3.0


def reachable(bootstrap: str, setting: str) -> Iterator[Finding]:
    """Whether each server of `bootstrap.servers`, or of a setting like it, resolves and accepts connections.

    setting: its name, for messages. A protocol before a server (`SASL_SSL://host:port`) is not looked at, as by Kafka's clients.
    """
    for server in filter(None, (part.strip() for part in bootstrap.split(","))):
        host, _, port = server.rpartition("://")[2].rpartition(":")
        try:
            if not 0 < int(port) <= LAST_PORT:
                raise ValueError  # no server has it, and a look-up would take another one, modulo 65,536
            with closing(socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S)):
                pass
        except (ValueError, OverflowError):
            yield wrong("cluster", f"'{server}' in {setting} is not host:port", f"correct it in {setting}")
        except socket.gaierror:
            yield wrong("cluster", f"the host of {server} is not known here", f"correct it in {setting}, or the name service")
        except OSError as error:
            why = "does not answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
            yield wrong("cluster", f"{server} of {setting}: {why}", "start it, open the way to it, or correct the address")


def spark_master(master: str | None) -> Iterator[Finding]:
    """Whether Spark knows a master of this form, and whether one of `spark://` accepts connections. None: it is not set."""
    if master is None:
        return
    if master.startswith("spark://"):
        yield from reachable(master, "spark.master")
    elif not _MASTER.fullmatch(master):
        why = f"'{master}' in spark.master is no master that Spark knows"
        yield wrong("config", why, "write local[*], spark://HOST:PORT, yarn or k8s://HOST:PORT, or leave it out")


def login(props: Mapping[str, str], setting: str, timeout_s: float) -> tuple[InspectingAdmin | None, Finding]:
    """A client of the cluster, None if it does not answer, and the finding. props: as for Kafka's admin client."""
    try:
        admin = InspectingAdmin(props)
        count, cluster = admin.broker_count(timeout_s), admin.cluster_id(timeout_s)
    except HeadraceError as error:
        message, _, remedy = redact(str(error)).rstrip(".").partition(". ")  # a secret may have what sentences are parted at
        return None, wrong("cluster", message, remedy or f"correct the client settings beside {setting}")
    return admin, ok("cluster", f"{setting}: {count} broker{'s' if count != 1 else ''} of cluster {cluster}")


def internal_topics(admin: InspectingAdmin, config: DistributedConfig, timeout_s: float) -> Iterator[Finding]:
    """Whether the three internal topics have the settings that a worker needs, or can be created."""
    brokers = admin.broker_count(timeout_s)
    for describe in (config_topic, offset_topic, status_topic):
        try:
            topic = describe(config)
            yield from _internal_topic(admin, topic, brokers, ",".join(config.bootstrap_servers), timeout_s)
        except HeadraceError as error:
            yield wrong("topic", str(error).rstrip("."), "correct it in the worker file")


def _missing_topic(topic: WorkerTopic) -> Finding:
    why = f"{topic.name} ({topic.setting}) does not exist, and {CREATION} is false"
    return wrong("topic", why, f"create it with {max(topic.partitions, 1)} partition(s) and cleanup.policy=compact")


def _internal_topic(
    admin: InspectingAdmin, topic: WorkerTopic, brokers: int, servers: str, timeout_s: float
) -> Iterator[Finding]:
    operations = admin.topic_operations(topic.name, timeout_s)
    if operations is None:
        yield _check_creation(admin, topic, timeout_s) if topic.create else _missing_topic(topic)
        return
    yield from _missing_operations(topic.name, operations, servers)
    if "DESCRIBE_CONFIGS" in operations:
        policy = admin.topic_configs(topic.name, timeout_s=timeout_s).get("cleanup.policy")
        if policy != "compact":
            yield wrong(
                "topic",
                f"{topic.name} ({topic.setting}) has cleanup.policy={policy}, so {topic.holds} would be lost",
                f"set it: kafka-configs --bootstrap-server {servers} --alter --topic {topic.name} "
                "--add-config cleanup.policy=compact",
            )
    info = admin.describe(topic.name, timeout_s)
    if info is None:
        return
    if topic.setting == "config.storage.topic" and len(info.partitions) != 1:
        yield wrong(
            "topic",
            f"{topic.name} ({topic.setting}) has {len(info.partitions)} partitions, and the order of its records counts",
            "name a topic that has one",
        )
    if info.replication_factor == 1 and brokers >= _REPLICATION_BROKERS:
        yield warning(
            "topic",
            f"{topic.name} has one replica on a cluster of {brokers} brokers, so one disk holds all {topic.holds}",
            "give it three with kafka-reassign-partitions",
        )
    yield ok("topic", f"{topic.name} ({topic.setting}) exists")


def _check_creation(admin: InspectingAdmin, topic: WorkerTopic, timeout_s: float) -> Finding:
    configs = {**topic.configs, "cleanup.policy": "compact"}
    try:
        admin.check_creation(topic.name, topic.partitions, topic.replication_factor, configs, timeout_s)
    except KafkaFailure as error:
        prefix = topic.setting.removesuffix("topic")
        if error.code in ("TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED", "TOPIC_ALREADY_EXISTS"):
            return wrong(
                "acl",
                f"{topic.name} ({topic.setting}) cannot be seen, and not be created either",
                f"grant the worker's principal {', '.join(_NEEDED_OPERATIONS)} and CREATE on topic {topic.name}",
            )
        if error.code == "INVALID_REPLICATION_FACTOR":
            return wrong(
                "topic",
                f"{topic.name} cannot be created: {error.reason.rstrip('.')}",
                f"set {prefix}replication.factor to at most the number of brokers",
            )
        return wrong("topic", f"{topic.name} cannot be created: {str(error).rstrip('.')}", f"correct {prefix}*")
    return ok("topic", f"{topic.name} ({topic.setting}) does not exist, and the worker may create it")


def _missing_operations(topic: str, operations: Iterable[str], servers: str) -> Iterator[Finding]:
    missing = [operation for operation in _NEEDED_OPERATIONS if operation not in operations]
    if missing:
        # The tool has its own names: DescribeConfigs.
        allowed = " ".join(f"--operation {operation.title().replace('_', '')}" for operation in missing)
        yield wrong(
            "acl",
            f"the worker's principal lacks {', '.join(missing)} on topic {topic}",
            f"kafka-acls --bootstrap-server {servers} --add --allow-principal User:NAME {allowed} --topic {topic}",
        )


def group(admin: InspectingAdmin, group_id: str, timeout_s: float) -> Finding:
    """Whether the worker may join its group."""
    remedy = f"grant the worker's principal READ on group {group_id}"
    try:
        operations = admin.group_operations(group_id, timeout_s)
    except KafkaFailure as error:
        if error.code == "GROUP_ID_NOT_FOUND":
            return ok("acl", f"group {group_id} does not exist yet, and may be described")
        return wrong("acl", f"group {group_id}: {str(error).rstrip('.')}", remedy)
    if "READ" in operations:
        return ok("acl", f"group {group_id} may be joined")
    return wrong("acl", f"the worker's principal lacks READ on group {group_id}", remedy)


def clock(admin: InspectingAdmin, config: DistributedConfig, timeout_s: float) -> Finding:
    """Whether timestamps in the internal topics are in the future, so that a clock of this or another worker is wrong."""
    try:
        names = [describe(config).name for describe in (config_topic, offset_topic, status_topic)]
        topics = admin.find(names, timeout_s)
        newest = admin.newest_timestamp([(name, p) for name, info in topics.items() for p in info.partitions], timeout_s)
    except (ConfigError, KafkaFailure) as error:
        return warning("clock", f"the clocks cannot be compared: {str(error).rstrip('.')}", "correct what is wrong above")
    if newest is None:
        return ok("clock", "no record in the internal topics to compare the clock of this machine with")
    ahead_ms = newest - now_ms()
    if ahead_ms <= _CLOCK_TOLERANCE_MS:
        return ok(
            "clock", "no record in the internal topics is from the future, which tells nothing of a clock here that is ahead"
        )
    return wrong(
        "clock",
        f"the newest record of the internal topics is {ahead_ms / 1000:.0f} s ahead of the clock of this machine",
        "set the clocks of all workers by NTP",
    )
