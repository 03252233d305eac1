"""The commands in this process, and a worker for them whose connectors are all stopped: neither Kafka nor Spark is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from headrace.cli.app import app
from headrace.cluster.herder import Herder
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.standalone.stores import memory_stores
from headrace.errors import HeadraceError
from headrace.rest import RestServer
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import Worker

CONVERTER = "org.apache.kafka.connect.storage.StringConverter"
SOURCE = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str, url: str, given: str | None = None) -> Ended:
    """Run `headrace connectors …` as `headrace.cli.app.run` does; given: its standard input."""
    environ = {"HEADRACE_URL": url, "COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1"}
    result = CliRunner().invoke(app, ["connectors", *arguments], input=given, env=environ)
    if isinstance(result.exception, HeadraceError):
        return Ended(1, result.stdout, f"{result.stderr}error: {result.exception}\n")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    out = result.stdout.replace(f" {given}", "", 1) if given else result.stdout  # without what the runner "types"
    return Ended(result.exit_code, out, result.stderr)


def no_spark() -> None:
    raise AssertionError("a stopped connector needs no Spark")


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a worker, with nothing in it."""
    props = {"key.converter": CONVERTER, "value.converter": CONVERTER, "listeners": "http://localhost:0"}
    config = StandaloneConfig({**props, "offset.storage.file.filename": str(tmp_path / "worker-offsets")})
    stores = memory_stores(config.offset_file)
    worker = Worker(config, stores.offsets, stores.status, no_spark, StandaloneGroup().session)  # type: ignore[arg-type]
    stores.start()
    herder = Herder(worker, stores, "localhost:8083", "cluster", StandaloneGroup())
    server = RestServer(herder, config)
    with capture_logs():  # else the worker's log would be among what a command prints
        server.start()
        herder.start()
        yield server.urls[0]
        herder.shut_down()
        server.stop()
        stores.stop()


@pytest.fixture
def cli(url: str) -> Callable[..., Ended]:
    """Runs a command against that worker: `cli("list", "--json")`."""
    return lambda *arguments, given=None: run(*arguments, url=url, given=given)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "connectors"
    made.mkdir()
    return made


@pytest.fixture
def put(folder: Path) -> Callable[..., Path]:
    """Writes a connector file that wants the connector STOPPED: `put("a", {"topic": "x"})`."""

    def write(name: str, more: Mapping[str, str] | None = None) -> Path:
        file = folder / f"{name.replace('/', '_')}.json"
        body = {"name": name, "config": {**SOURCE, **(more or {})}, "initial_state": "STOPPED"}
        file.write_text(json.dumps(body), encoding="utf-8")
        return file

    return write
