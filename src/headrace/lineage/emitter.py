"""Sends OpenLineage's events of the connectors that run on this worker. On a thread of its own: nothing waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from headrace.errors import ConfigError, HeadraceError, SetupError
from headrace.lineage.runs import ConnectorState, RunEventPlan, Runs, follow
from headrace.rest.column_lineage import column_rows
from headrace.rest.herder import RestHerder
from headrace.rest.lineage import lineage_of_connector
from headrace.runtime.worker_config import WorkerConfig

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

log = structlog.get_logger(__name__)

_LOOK_S, _STOP_S = 2.0, 10.0
_SOURCE_SERVERS = ("source.bootstrap.servers", "source.cluster.bootstrap.servers")


class LineageEmitter:
    """Looks at the connectors every two seconds, and sends what has changed."""

    def __init__(self, herder: RestHerder, config: WorkerConfig, client: OpenLineageClient) -> None:
        """config: of the worker; client: with the transport that events go to."""
        self._herder, self._client = herder, client
        self._namespace = config.openlineage_namespace or config.worker_group or "headrace"
        self._servers = ",".join(config.bootstrap_servers)
        self._runs: Runs = {}
        self._failing = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name="openlineage", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End the runs of this worker: whoever takes its connectors over begins others."""
        self._stopping.set()
        self._thread.join(_STOP_S)

    def _main(self) -> None:
        from openlineage.client.uuid import generate_new_uuid

        while True:
            ended = self._stopping.wait(_LOOK_S)
            connectors = () if ended else self._connectors()
            events, self._runs = follow(self._runs, connectors, time.monotonic(), lambda: str(generate_new_uuid()))
            for plan in events:
                self._send(plan)
            if ended:
                return

    def _connectors(self) -> Iterator[ConnectorState]:
        for name in self._herder.connectors():
            try:
                status = self._herder.status(name)
            except HeadraceError:  # just created
                continue
            if status["connector"]["worker_id"] == self._herder.worker_id:
                yield ConnectorState.of(status)

    def _send(self, plan: RunEventPlan) -> None:
        from headrace.lineage.events import event

        try:
            lineage = lineage_of_connector(self._herder, plan.connector)
            columns = column_rows(self._herder, plan.connector)
            self._client.emit(event(plan, lineage, self._namespace, self._clusters(plan.connector), columns))
            self._failing = False
        except Exception as error:  # whatever a transport raises
            if not self._failing:
                log.warning("openlineage.not-sent", cause=str(error), meaning="the event is lost; connectors go on")
            self._failing = True

    def _clusters(self, connector: str) -> Mapping[str | None, str]:
        """Bootstrap servers by the name that the connector's lineage has for a cluster."""
        clusters: dict[str | None, str] = {None: self._servers}
        try:
            config = self._herder.info(connector).config
        except HeadraceError:  # deleted
            return clusters
        source = next((servers for key in _SOURCE_SERVERS if (servers := config.get(key))), None)
        if source:
            clusters |= {source: source, config.get("source.cluster.alias"): source, None: self._servers}
        return clusters


def lineage_emitter(herder: RestHerder, config: WorkerConfig) -> LineageEmitter | None:
    """The emitter of a worker whose configuration asks for one. Raises SetupError, ConfigError."""
    if not config.openlineage_enabled:
        return None
    try:
        from openlineage.client import OpenLineageClient
    except ImportError:
        raise SetupError(
            "openlineage.integration.enabled=true needs the extra `lineage`: pip install 'headrace[lineage]'."
        ) from None
    try:
        return LineageEmitter(herder, config, OpenLineageClient(config=_settings(config.openlineage_file)))
    except Exception as error:
        raise ConfigError(f"openlineage.integration.config.file.path: the client cannot be made: {error}") from error


def _settings(path: str | None) -> dict[str, Any] | None:
    """The client's settings; None: it finds them by itself, as OPENLINEAGE_CONFIG and OPENLINEAGE_URL say."""
    if not path:
        return None
    import yaml

    return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
