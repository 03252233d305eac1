"""`headrace dev`: a broker and a worker on it, for trying things out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from headrace.cli.broker import DataOption, PortOption
from headrace.cli.progress import progress
from headrace.cli.settings import setting
from headrace.cli.worker import say_ready, say_ready_with_page

_WORKER = {
    "group.id": "headrace-dev",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "config.storage.topic": "connect-configs",
    "config.storage.replication.factor": "1",
    "offset.storage.topic": "connect-offsets",
    "offset.storage.replication.factor": "1",
    "status.storage.topic": "connect-status",
    "status.storage.replication.factor": "1",
}


def dev(
    port: PortOption = 9092,
    rest_port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port of the REST API; 0 takes a free one.")
    ] = 8083,
    data: DataOption = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the worker; may be repeated.")
    ] = None,
) -> None:
    """Run a broker and a worker on it, for trying things out.

    Create connectors over the REST API, or on the page whose address is printed; Ctrl-C ends both.
    """
    more = dict(map(setting, settings or ()))
    from headrace.embedded import Broker
    from headrace.runtime import logs
    from headrace.worker_process import run_distributed

    kafka = Broker(port, data)
    with progress("starting Kafka") as report:
        kafka.start(report)
    try:
        typer.echo(f"bootstrap.servers={kafka.bootstrap}")
        logs.configure()
        listeners = {"bootstrap.servers": kafka.bootstrap, "listeners": f"http://127.0.0.1:{rest_port}"}
        properties = _WORKER | listeners | more
        run_distributed(properties, ready=ready_of(properties))
    finally:
        kafka.stop()


def ready_of(properties: Mapping[str, str]) -> Callable[[str], None]:
    """What prints the addresses of a worker with these properties: that of the page only where it has one."""

    def ready(url: str) -> None:
        from headrace.runtime.distributed_config import DistributedConfig  # here, so that `--help` does not wait for it

        (say_ready_with_page if DistributedConfig(properties).rest_page_enable else say_ready)(url)

    return ready
