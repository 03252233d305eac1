"""Runs all checks: the machine, the worker file, the worker's cluster, the clusters of connectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from headrace.config.prefixes import under
from headrace.doctor import clusters, machine, worker_file
from headrace.doctor.finding import Finding, Severity, wrong
from headrace.errors import ConnectError, HeadraceError
from headrace.kafka.client_settings import OVERRIDE_PREFIXES
from headrace.runtime import plan
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.worker_config import WorkerConfig

_SERVERS, _KAFKA = "bootstrap.servers", "kafka."
_POLICY = "connector.client.config.override.policy"


def examine(
    props: Mapping[str, str], connectors: Iterable[tuple[str, Mapping[str, str]]] = (), timeout_s: float = 10.0
) -> Iterator[Finding]:
    """Check a worker's properties, and the clusters that these connectors (name, configuration) read from or write to.

    timeout_s: of each request to a cluster. Yields each finding when its check ends. Raises nothing for problems, and changes
    nothing: topics are neither created nor written.
    """
    yield from machine.versions()
    needed_by_plugins = [machine.java(), *machine.jars(props)]
    yield from needed_by_plugins
    config, findings = worker_file.read(props, scans=worst(needed_by_plugins) is Severity.OK)
    yield from findings
    if config is None:
        return
    yield from machine.ports([*config.listening(), *(config.admin_listening() or ())])
    yield from clusters.spark_master(config.spark_conf().get("spark.master"))
    yield from _home_cluster(config, timeout_s)
    for name, connector in connectors:
        try:
            resolved = config.resolver.resolve(connector).props
        except HeadraceError as error:
            message = f"connector {name}: {error.message.rstrip('.')}"
            yield wrong("config", message, "correct the placeholder, or what its config provider reads")
            continue
        yield from _clusters_of(name, resolved, config, timeout_s)


def _home_cluster(config: WorkerConfig, timeout_s: float) -> Iterator[Finding]:
    yield from clusters.reachable(",".join(config.bootstrap_servers), _SERVERS)
    admin, finding = clusters.login(config.internal_client_props(), _SERVERS, timeout_s)
    yield finding
    if admin is None or not isinstance(config, DistributedConfig):
        return
    yield from clusters.internal_topics(admin, config, timeout_s)
    yield clusters.group(admin, config.group_id, timeout_s)
    yield clusters.clock(admin, config, timeout_s)


def _clusters_of(name: str, connector: Mapping[str, str], worker: WorkerConfig, timeout_s: float) -> Iterator[Finding]:
    """Check each cluster in a connector's settings `<prefix>bootstrap.servers`."""
    for key in sorted(connector):
        if not key.endswith(f".{_SERVERS}"):
            continue
        setting = f"{key} of connector {name}"
        yield from clusters.reachable(connector[key], setting)
        try:
            client = client_settings(connector, key.removesuffix(_SERVERS), worker)
        except ConnectError as error:
            yield wrong("config", f"connector {name}: {error.message.rstrip('.')}", f"remove it, or change {_POLICY}")
            continue
        yield clusters.login(client, setting, timeout_s)[1]


def client_settings(connector: Mapping[str, str], prefix: str, worker: WorkerConfig) -> dict[str, str]:
    """The settings of the client whose servers are under this prefix of a connector's configuration.

    An override changes a client of the worker. Debezium has the servers under `schema.history.internal.kafka.`, and what
    the clients need to log in beside it, under `schema.history.internal.producer.` and `.consumer.`. Raises ConnectError for an
    override that the worker's policy refuses.
    """
    for kind, override in OVERRIDE_PREFIXES.items():
        if prefix == override:
            return plan.client_settings("headrace-doctor", kind, connector, worker)
    beside = prefix.removesuffix(_KAFKA)
    near = under(connector, f"{beside}consumer.", f"{beside}producer.") if prefix.endswith(f".{_KAFKA}") else {}
    return near | under(connector, prefix)


def worst(findings: Iterable[Finding]) -> Severity:
    """The highest severity of the findings; OK if there are none."""
    order = list(Severity)
    return max((finding.status for finding in findings), key=order.index, default=Severity.OK)
