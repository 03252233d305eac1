"""Registers the plugins of `plugin.path` beside headrace's own: a Python adapter class for each Java class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import structlog

from headrace import plugins
from headrace.config import parse_list
from headrace.config.providers import configured_resolver
from headrace.config.redaction import concealed
from headrace.connect_config.shadowing import in_host
from headrace.connect_config.versions import by_version
from headrace.connectors.java.connector import JavaSinkConnector, JavaSourceConnector
from headrace.converters.java import JavaConverter, JavaHeaderConverter
from headrace.errors import ConnectError, NotFoundError
from headrace.plugins import Kind
from headrace.predicates.java import JavaPredicate
from headrace.runtime.worker_config import WorkerConfig, spark_settings
from headrace.spark import plugin_scan
from headrace.spark.config_provider import JavaConfigProvider
from headrace.spark.connect_host import ConnectHost
from headrace.spark.java_plugin import JavaPlugin
from headrace.spark.session import session
from headrace.transforms.java import JavaTransformation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_ADAPTERS: Mapping[Kind, type[JavaPlugin]] = {
    Kind.SOURCE: JavaSourceConnector,
    Kind.SINK: JavaSinkConnector,
    Kind.CONVERTER: JavaConverter,
    Kind.HEADER_CONVERTER: JavaHeaderConverter,
    Kind.TRANSFORMATION: JavaTransformation,
    Kind.PREDICATE: JavaPredicate,
    Kind.CONFIG_PROVIDER: JavaConfigProvider,
}
"""The kinds of plugins that can run here."""
_TASK_SETTINGS = (
    "offset.flush.interval.ms", "offset.flush.timeout.ms", "topic.creation.enable", "topic.tracking.enable",
    "metrics.num.samples", "metrics.sample.window.ms", "metrics.recording.level",
)  # fmt: skip


def install_for_worker(
    props: Mapping[str, str], spark: Callable[[Mapping[str, str]], SparkSession] = lambda props: session(spark_settings(props))
) -> None:
    """Make the plugins of a worker's `plugin.path` known, before anything of its configuration names one.

    props: as they stand in the file; spark: returns the session in whose JVM the plugins run, by the properties without
    placeholders; not called here. Raises as `install`, and ConfigError for a placeholder without a value.
    """
    if not props.get("plugin.path"):
        return
    install_config_providers(props)
    with concealed():
        resolved = configured_resolver(props).resolve(props).props
    install(resolved, lambda: spark(resolved))


def install(props: Mapping[str, str], spark: Callable[[], SparkSession]) -> None:
    """Scan the `plugin.path` of a worker's properties, and register its plugins in place of earlier ones.

    spark: returns the session in whose JVM the plugins run; not called here. Raises ConnectError and SetupError as
    `headrace.spark.plugin_scan.scan` does. Does nothing without `plugin.path`.
    """
    scanned = _scan(props)
    if scanned is None:
        return
    for problem in scanned.problems:
        log.error("plugins.unusable", problem=str(problem))
    ordered = _adapters(scanned, _task_settings(props), spark)
    for cls in ordered:
        if is_built_in(cls.plugin_name, cls.plugin_kind):
            log.info("plugins.shadowed", plugin=cls.plugin_name, location=cls.location, meaning=why_shadowed(cls.plugin_name))
    plugins.set_java_plugins(ordered)


def install_config_providers(props: Mapping[str, str]) -> None:
    """Register the config providers on `plugin.path`, which the worker's other properties may need. As `install`."""
    scanned = _scan(props) if props.get("config.providers") else None
    if scanned is not None:
        adapters = _adapters(scanned, {}, session)
        plugins.set_java_plugins([cls for cls in adapters if cls.plugin_kind == Kind.CONFIG_PROVIDER])


def _scan(props: Mapping[str, str]) -> plugin_scan.Scan | None:
    path = parse_list(str(props.get("plugin.path") or ""))
    return plugin_scan.scan(path, WorkerConfig.definition().value("plugin.discovery", props)) if path else None


def _adapters(scanned: plugin_scan.Scan, worker: Mapping[str, str], spark: Callable[[], SparkSession]) -> list[type[Any]]:
    ordered = by_version([_adapter(plugin) for plugin in scanned.plugins])
    newest = {plugin.class_name: plugin.location for plugin in by_version(scanned.plugins)}
    scan = {"locations": scanned.locations or {}, "newest": newest, "aliases": _aliases(ordered), "worker": worker}
    host = ConnectHost(spark, scan)
    for cls in ordered:
        cls.host = host
    return ordered


def _aliases(adapters: Iterable[type[Any]]) -> dict[str, str]:
    """Class names by alias, for options of a plugin that name a class: those of Kafka Connect's own classes, too.

    Aliases that several classes have are left out, as in Kafka Connect.
    """
    own = [cls for cls in plugins.every() if in_host(cls.plugin_name, None)]
    names: dict[str, set[str]] = {}
    for cls in [*own, *adapters]:
        for alias in cls.plugin_aliases:
            names.setdefault(alias, set()).add(cls.plugin_name)
    return {alias: min(meant) for alias, meant in names.items() if len(meant) == 1}


def _task_settings(props: Mapping[str, str]) -> dict[str, str]:
    """The worker's properties that tasks in Java read."""
    return {name: str(props[name]) for name in _TASK_SETTINGS if props.get(name) is not None}


def is_built_in(name: str, kind: Kind) -> bool:
    """Whether headrace has a plugin class of this full name."""
    try:
        return plugins.find(name, kind) not in plugins.java_plugins()
    except (NotFoundError, ConnectError):
        return False


def why_shadowed(name: str) -> str:
    """Why a class on `plugin.path` that headrace has itself is not used, for logs."""
    return f"headrace has {name} itself and runs its own"


def _adapter(plugin: plugin_scan.ScannedPlugin) -> type[Any]:
    kind = Kind(plugin.kind)
    simple = plugin.aliases[0] or plugin.class_name.rpartition(".")[2]
    attributes = {
        "__doc__": f"{plugin.class_name} {plugin.version} in {plugin.path}.",
        "__module__": "plugin_path",
        "plugin_name": plugin.class_name,
        "plugin_kind": kind,
        "plugin_aliases": set(filter(None, plugin.aliases)),
        "version": plugin.version,
        "location": plugin.location,
    }
    return _ADAPTERS[kind].of_class(simple, attributes)
