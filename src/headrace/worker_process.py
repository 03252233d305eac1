"""A worker process put together: stores, Spark, herder and REST server, from configuration to the last signal."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

from headrace import __version__
from headrace.cluster.group import Group
from headrace.cluster.herder import Herder
from headrace.cluster.standalone.connector_files import connector_config
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.standalone.stores import memory_stores
from headrace.cluster.stores import WorkerStores, kafka_stores
from headrace.connect_config.ignored import ignored_by_converters
from headrace.errors import ConnectError
from headrace.kafka.admin import shared
from headrace.lineage.emitter import lineage_emitter
from headrace.rest import tls
from headrace.rest.forwarding import WorkerClient
from headrace.rest.server import RestServer
from headrace.runtime import spark_start
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.java_plugins import install_for_worker
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import Worker
from headrace.runtime.worker_config import WorkerConfig
from headrace.signals import stop_on_signals
from headrace.spark.session import session

log = structlog.get_logger(__name__)

Ready = Callable[[str], None]

_POLL_INTERVAL_S = 0.02


def run_distributed(
    props: Mapping[str, str], ready: Ready | None = None, stop: threading.Event | None = None, *, starts_spark: bool = True
) -> None:
    """Run a distributed worker until SIGTERM, Ctrl-C, or `stop` is set.

    props: the worker's properties; ready: called with the REST address once the worker takes requests; starts_spark: at once,
    else with the first task. Raises a HeadraceError if it cannot start, or is thrown out of its group.
    """
    install_for_worker(props)
    config = _with_port(DistributedConfig(props))
    if starts_spark:
        spark_start.start(config.spark_conf())
    stop = stop or threading.Event()
    thrown_out: list[ConnectError] = []

    def fatal(error: ConnectError) -> None:
        thrown_out.append(error)
        stop.set()

    # The same after a restart on this machine, and another on each: two workers may be `localhost:8083` to themselves.
    member = f"{config.worker_id()}@{socket.gethostname()}"
    others = _client(config)
    stores = kafka_stores(config, member)
    group = Group(config, stores.config, others, member, fatal)
    _run(config, stores, group, ProcessStart([], ready, stop), others)
    if thrown_out:
        raise thrown_out[0]


def run_standalone(
    props: Mapping[str, str], files: Sequence[Path], ready: Ready | None = None, stop: threading.Event | None = None
) -> None:
    """Run a standalone worker with the connectors of these files (`.json` or `.properties`); like `run_distributed` otherwise."""
    install_for_worker(props)
    config = StandaloneConfig(props)
    spark_start.start(config.spark_conf())
    connectors = [connector_config(file) for file in files]
    _run(
        config,
        memory_stores(config.offset_file),
        StandaloneGroup(),
        ProcessStart(connectors, ready, stop or threading.Event()),
        WorkerClient(),
    )


@dataclass(frozen=True)
class ProcessStart:
    """What a worker is started with."""

    connectors: Sequence[tuple[str, dict[str, str], str | None]]
    """Made once the worker runs: name, configuration and initial state (None: running) of each."""
    ready: Ready | None
    """Called once the worker and these connectors run; None calls nothing."""
    stop: threading.Event
    """Ends the worker once it is set."""


def _client(config: DistributedConfig) -> WorkerClient:
    """What asks other workers, which are configured like this one."""
    scheme = config.rest_scheme()
    return WorkerClient(scheme, verify=tls.client_context(config)) if scheme == "https" else WorkerClient(scheme)


def _with_port(config: DistributedConfig) -> DistributedConfig:
    """With a free port instead of port 0: a worker's name in its group contains it."""
    first = config.listening()[0]
    if first.port:
        return config
    with socket.create_server((first.host or "localhost", 0)) as free:
        port = free.getsockname()[1]
    listeners = ",".join([f"{first.scheme}://{first.host}:{port}", *config.listeners[1:]])
    return DistributedConfig({**config.originals, "listeners": listeners})


def _run(
    config: WorkerConfig, stores: WorkerStores, group: Group | StandaloneGroup, start: ProcessStart, others: WorkerClient
) -> None:
    stop_on_signals(start.stop)
    ignored = config.definition().without_effect(config.originals) | ignored_by_converters(config.originals)
    for option, reason in ignored.items():
        log.warning("worker.option.ignored", option=option, reason=reason)
    with ExitStack() as running:
        running.callback(others.close)
        admin = shared(config.client_props("admin"))
        cluster_id = admin.cluster_id(admin.api_timeout_s)
        own_offsets = stores.own_offsets.of if stores.own_offsets else None
        spark = partial(session, config.spark_conf())
        worker = Worker(config, stores.offsets, stores.status, spark, group.session, stores.writes, own_offsets)
        group.measure(worker.metrics)
        herder = Herder(worker, stores, config.worker_id(), cluster_id, group)
        server = RestServer(herder, config, others)
        lineage = lineage_emitter(herder, config, server.reported)
        running.callback(server.stop)
        server.start()
        running.callback(stores.stop)
        stores.start()
        running.callback(group.stop)
        running.callback(herder.shut_down)
        if lineage is not None:
            running.callback(lineage.stop)
            lineage.start()
        herder.start()
        while not herder.ready() and not start.stop.wait(_POLL_INTERVAL_S):
            pass
        for name, properties, initial_state in start.connectors:
            herder.create(name, properties, initial_state)
        log.info("worker.ready", rest=", ".join(server.urls), version=__version__, worker_id=config.worker_id())
        if start.ready:
            start.ready(server.urls[0])
        start.stop.wait()
        log.info("worker.stopping")
    log.info("worker.stopped")
