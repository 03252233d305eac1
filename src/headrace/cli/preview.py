"""`headrace preview`: what a connector's chain makes of records, without a connector."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.errors import BadRequestError, ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headrace.runtime.worker_config import WorkerConfig

_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"
_WORKER = {"bootstrap.servers": "localhost:9092", "key.converter": _CONVERTER, "value.converter": _CONVERTER}
_WHERE = ("spark.master", "spark.submit.deployMode", "spark.driver.host", "spark.driver.bindAddress")
"""Where a worker's Spark runs: its cluster is not asked for a preview."""

ConfigFile = Annotated[
    Path,
    typer.Option("--config", metavar="FILE", exists=True, dir_okay=False, readable=True,
                 help="The connector's configuration, .json or .properties."),
]  # fmt: skip
RecordsFile = Annotated[
    Path | None,
    typer.Option("--records", metavar="FILE", exists=True, dir_okay=False, readable=True, allow_dash=True,
                 help="Records, one JSON object per line; `-`: standard input."),
]  # fmt: skip
Live = Annotated[
    int | None,
    typer.Option("--live", metavar="N", min=1, max=1000, help="Take the last N records of the topics that the connector reads."),
]
WorkerFile = Annotated[
    Path | None,
    typer.Option("--worker", metavar="FILE", exists=True, dir_okay=False, readable=True,
                 help="A worker.properties file: its converters are the defaults, plugins on its plugin.path are found, and its "
                      "cluster is asked which topics exist."),
]  # fmt: skip


def preview(
    config: ConfigFile,
    records: RecordsFile = None,
    live: Live = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/preview.md).")] = False,
    worker: WorkerFile = None,
) -> None:
    """Show what the transforms of a connector make of records, step by step; nothing is deployed, written or committed.

    A line of the records is `{"topic", "partition", "offset", "timestamp", "key", "value", "headers"}`, each of which may be left
    out. Without `--worker`, a connector that names no converters has JsonConverter.
    """
    if (records is None) == (live is None):
        raise typer.BadParameter("give one of --records and --live.", param_hint="'--records' / '--live'")
    from rich.console import Console

    from headrace.preview.records import from_lines
    from headrace.preview.run import prepare
    from headrace.preview.show import show
    from headrace.runtime import logs
    from headrace.runtime.worker_config import spark_settings

    logs.configure()
    settings = default_worker(worker, lambda props: preview_session(spark_settings(props)))
    prepared = prepare(connector_settings(config), settings)
    if records is not None:
        raw = sys.stdin.buffer.read() if str(records) == "-" else records.read_bytes()
        records_read = _naming_file(records, lambda: from_lines(raw, prepared.topic))
    else:
        records_read = prepared.live(live or 1)
    result = prepared.run(preview_session(settings.spark_conf()), records_read, describe_topics=worker is not None)
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        show(result, Console())


def default_worker(file: Path | None, spark: Callable[[Mapping[str, str]], SparkSession]) -> WorkerConfig:
    """The worker whose converters are the defaults: that of a file, or one with JsonConverter. Raises ConfigError.

    The plugins on the file's `plugin.path` are made known; spark: the session that they run in, by the worker's properties.
    """
    from headrace.config import load_properties
    from headrace.runtime.java_plugins import install_for_worker
    from headrace.runtime.standalone_config import read_worker_config
    from headrace.runtime.worker_config import WorkerConfig

    if file is None:
        return WorkerConfig(_WORKER)
    props = load_properties(file)
    install_for_worker(props, spark)
    return read_worker_config(props)


def preview_session(conf: Mapping[str, str] | None = None) -> SparkSession:
    """The Spark session of previews. conf: as of `preview_conf`."""
    from headrace.spark.session import session

    return session(preview_conf(conf or {}))


def preview_conf(conf: Mapping[str, str]) -> dict[str, str]:
    """The `spark.*` settings of a preview: a worker's, but for those that say where it runs; a preview runs in this process."""
    # Constants are evaluated without compiling anything, which is the quickest for a few records.
    defaults = {"spark.master": "local[1]", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    return defaults | {key: value for key, value in conf.items() if key not in _WHERE}


def _naming_file(file: Path, read: Any) -> Any:
    try:
        return read()
    except BadRequestError as error:
        raise BadRequestError(f"{'standard input' if str(file) == '-' else file}: {error.message}") from None


def connector_settings(file: Path) -> dict[str, Any]:
    """The settings in a connector file: JSON, or `{"name", "config"}` of JSON, or Java properties. Raises ConfigError."""
    from headrace.config import load_properties

    if file.suffix != ".json":
        return dict(load_properties(file))
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"Connector file {file} is not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"Connector file {file} holds a JSON {type(content).__name__}; it has to be an object of settings.")
    if isinstance(content.get("config"), dict):
        content = {"name": content.get("name"), **content["config"]}
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in content.items() if v is not None}
