"""A worker process put together: stores, Spark, herder and REST server, from configuration to the last signal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import structlog

from headrace import __version__
from headrace.cli.signals import stop_on_signals
from headrace.cluster.herder import Herder
from headrace.cluster.memory import memory_stores
from headrace.cluster.standalone import connector_config
from headrace.cluster.stores import Stores, kafka_stores
from headrace.config import Type, parse_type
from headrace.kafka.admin import Admin
from headrace.kafka.membership import Membership
from headrace.rest.server import RestServer
from headrace.runtime.worker import Worker
from headrace.runtime.worker_config import DistributedConfig, StandaloneConfig, WorkerConfig

log = structlog.get_logger(__name__)

Ready = Callable[[str], None]


def run_distributed(props: Mapping[str, str], ready: Ready | None = None, stop: threading.Event | None = None) -> None:
    """Run a distributed worker until SIGTERM, Ctrl-C, or `stop` is set.

    props: the worker's properties; ready: called with the REST address once the worker takes requests. Raises a HeadraceError
    if it cannot start.
    """
    config = DistributedConfig(props)
    member = Membership(config.internal_client_props(), config.group_id, config.worker_id(), config.session_timeout_ms)
    _run(config, kafka_stores(config), [], ready, stop, member)


def run_standalone(
    props: Mapping[str, str], files: Sequence[Path], ready: Ready | None = None, stop: threading.Event | None = None
) -> None:
    """Run a standalone worker with the connectors of these files (`.json` or `.properties`); like `run_distributed` otherwise."""
    config = StandaloneConfig(props)
    connectors = [connector_config(file) for file in files]
    _run(config, memory_stores(config), connectors, ready, stop)


def _run(
    config: WorkerConfig,
    stores: Stores,
    connectors: Sequence[tuple[str, dict[str, str], str | None]],
    ready: Ready | None,
    stop: threading.Event | None,
    member: Membership | None = None,
) -> None:
    from headrace.spark.session import session

    if config.exactly_once_enabled:
        log.warning("worker.at-least-once", setting="exactly.once.source.support",
                    meaning="not supported yet: records of source connectors are delivered at least once")  # fmt: skip
    stop = stop or threading.Event()
    stop_on_signals(stop)
    with ExitStack() as running:
        admin = config.client_props("admin")
        patience = parse_type("default.api.timeout.ms", admin.get("default.api.timeout.ms", "30000"), Type.INT)
        cluster_id = Admin(admin).cluster_id(patience / 1000)
        worker = Worker(config, stores.offsets, stores.status, lambda: session(config.spark_conf()))
        herder = Herder(worker, stores, config.worker_id(), cluster_id)
        server = RestServer(herder, config)
        running.callback(server.stop)
        server.start()
        running.callback(stores.stop)
        stores.start()
        if member is not None:
            running.callback(member.leave)
            member.join(config.originals["offset.storage.topic"])
        # Spark starts beside the rest, so that the first task does not wait for it; a failure shows in that task.
        threading.Thread(target=_warm, args=(config,), name="spark-start", daemon=True).start()
        running.callback(herder.shut_down)
        herder.start()
        for name, properties, initial_state in connectors:
            herder.create(name, properties, initial_state)
        log.info("worker.ready", rest=", ".join(server.urls), version=__version__, worker_id=config.worker_id())
        if ready:
            ready(server.urls[0])
        stop.wait()
        log.info("worker.stopping")
    log.info("worker.stopped")


def _warm(config: WorkerConfig) -> None:
    from headrace.spark.session import session

    try:
        session(config.spark_conf())
    except Exception as e:
        log.error("spark.start.failed", cause=str(e))
