"""`headrace mirror mm2.properties`: MirrorMaker 2's dedicated mode, a worker for each flow in one process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import structlog
import typer

from headrace.connectors.mirror import mm2_properties
from headrace.errors import ConnectError, RestError
from headrace.retry import Backoff

if TYPE_CHECKING:
    from headrace.cli.connectors.client import RestClient

log = structlog.get_logger(__name__)

MirrorFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="An mm2.properties file of MirrorMaker 2."),
]
Clusters = Annotated[
    list[str] | None, typer.Option("--clusters", metavar="ALIAS", help="Only flows to this cluster; repeatable.")
]
RestPort = Annotated[
    int, typer.Option("--rest-port", min=0, max=65535, metavar="N", help="Port of the first flow's REST API; 0 takes free ones.")
]
_POLL_INTERVAL_S = 0.2
_RETRY_S = (1.0, 30.0)


def run(file: MirrorFile, clusters: Clusters = None, rest_port: RestPort = 0) -> None:
    """Run every flow of a properties file of MirrorMaker 2, until Ctrl-C.

    Each flow has a worker in its target cluster, with the group id and the internal topics that MirrorMaker gives it, so that one
    can take over from the other. Standard output is a line for each, once it takes requests: `A->B rest=http://…`.
    """
    from headrace.config import load_properties
    from headrace.runtime import logs
    from headrace.signals import stop_on_signals

    logs.configure()
    props = load_properties(file)
    flows = [flow for flow in mm2_properties.flows(props) if not clusters or flow.target in clusters]
    if not flows:
        raise ConnectError(
            f"There is no flow to {', '.join(clusters or [])}; flows: {', '.join(map(str, mm2_properties.flows(props)))}."
        )
    stop = threading.Event()
    stop_on_signals(stop)
    running = [FlowWorker(props, flow, rest_port and rest_port + n, stop) for n, flow in enumerate(flows)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    failed = next((process.error for process in running if process.error is not None), None)
    if failed is not None:
        raise failed


class FlowWorker:
    """The worker of one flow, on a thread of its own. A worker that fails ends them all."""

    def __init__(self, props: Mapping[str, str], flow: mm2_properties.ReplicationFlow, port: int, stop: threading.Event) -> None:
        """port: of its REST API, 0: any; stop: ends it."""
        self._props, self._flow, self._stop = props, flow, stop
        worker = mm2_properties.worker(props, flow)
        self._worker = (
            {"listeners": f"http://127.0.0.1:{port}", **worker} if port else {"listeners": "http://127.0.0.1:0", **worker}
        )
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._main, name=str(flow), daemon=True)
        self._configuring: threading.Thread | None = None

    def start(self) -> None:
        """Start the worker; returns at once."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end; wakes up now and then, for signals."""
        while self._thread.is_alive():
            self._thread.join(_POLL_INTERVAL_S)

    def _main(self) -> None:
        from headrace.worker_process import run_distributed

        try:
            run_distributed(self._worker, ready=self._ready, stop=self._stop)
        except Exception as error:
            self.error = error
            self._stop.set()

    def _ready(self, url: str) -> None:
        typer.echo(f"{self._flow} rest={url}")
        # Not on this thread, which is the worker's.
        self._configuring = threading.Thread(target=self._configure, args=(url,), name=f"{self._flow} connectors", daemon=True)
        self._configuring.start()

    def _configure(self, url: str) -> None:
        from headrace.cli.connectors.client import RestClient

        configs = [mm2_properties.connector(self._props, self._flow, name) for name in mm2_properties.CONNECTORS]
        with closing(RestClient(url)) as client:
            configure(client, str(self._flow), configs, self._stop)


def configure(client: RestClient, flow: str, configs: Sequence[Mapping[str, str]], stop: threading.Event) -> None:
    """Bring the connectors of a flow to what the file says; those that are right are left alone.

    One that is refused, as MirrorCheckpointConnector is without offset syncs, is logged, and the others run, as in MirrorMaker.
    What else fails is tried again, until `stop` is set.
    """
    pending, backoff = list(configs), Backoff(*_RETRY_S)
    while pending and not stop.is_set():
        pending = [config for config in pending if not _is_settled(client, flow, config)]
        if pending:
            stop.wait(backoff.failed())


def _is_settled(client: RestClient, flow: str, config: Mapping[str, str]) -> bool:
    """Configure a connector unless it is right; returns whether that is settled: it is right now, or was refused."""
    name = config["name"]
    try:
        present = client.ask("GET", "connectors", name, "config")
        if not present.ok or present.json != config:
            client.call("PUT", "connectors", name, "config", body=config)
            log.info("mirror.connector.configured", flow=flow, connector=name)
    except Exception as error:
        is_refused = isinstance(error, RestError) and error.status == HTTPStatus.BAD_REQUEST
        hint = "the others run without it" if is_refused else "it is tried again"
        log.error("Failed to configure %s connector for %s.", name, flow, cause=str(error), hint=hint)
        return is_refused
    return True
