"""Checks the configuration of a connector, as Kafka Connect's herder does for REST
(`AbstractHerder.validateConnectorConfig`).

Placeholders of config providers are resolved first; unlike in Kafka Connect the answer shows them, and never their values.

In order: the common options with their rules, the connector's own options, those of its converters, and its overrides
of client settings. Every problem is collected; nothing outside the process is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from headrace import plugins
from headrace.config import ConfigDef, ConfigValue, Option, java_text
from headrace.config.client_options import client_definition
from headrace.config.providers import Resolved
from headrace.config.redaction import concealed
from headrace.connect_config import overrides, rules
from headrace.connect_config.engine import ENGINE, in_java
from headrace.connect_config.enrich import CONVERTERS, VERSION, common_definition, converter_of, converter_versions, padded
from headrace.connect_config.java_sinks import refused
from headrace.connect_config.report import Report, definitions
from headrace.connect_config.rules import WorkerSettings
from headrace.connect_config.topic_creation import has_settings, problems
from headrace.connect_config.versions import version_range, with_version
from headrace.errors import BadRequestError, ConfigError, ConnectError, HeadraceError, NotFoundError
from headrace.kafka.client_settings import OVERRIDE_PREFIXES
from headrace.plugins import Kind

Props = Mapping[str, Any]
CLASS = "connector.class"
_REFUSED: WeakKeyDictionary[WorkerSettings, set[str]] = WeakKeyDictionary()
"""Worker → the names of classes that are no connectors there and were asked for."""
_MOST_REFUSED = 1000
_ABSTRACT = {f"org.apache.kafka.connect.{name}Connector" for name in ("connector.", "source.Source", "sink.Sink")}


def validate(plugin: str | None, props: Props, worker: WorkerSettings, *, look_up: bool = True) -> dict[str, Any]:
    """The body of PUT /connector-plugins/{plugin}/config/validate.

    plugin: the name in the path, None for no comparison with it; props: the configuration, texts or None; look_up: whether the
    values of config providers are checked, or the placeholders as they stand: errors tell about a value.
    Raises BadRequestError if path and configuration name different connectors, ConnectError (500, as Kafka Connect answers) if
    no connector can be found or a client setting cannot be read.
    """
    included = props.get(CLASS)
    if plugin is not None and included is not None and not _pruned(included).endswith(_pruned(plugin)):
        raise BadRequestError(f"Included connector type {included} does not match request type {plugin}")
    try:
        with concealed():
            config = worker.resolver.resolve(props) if look_up else Resolved(props, props)
            report = _whole_report(config, worker)
            _new_topics(report, config.props, worker)
            report.conceal(config)
            return report.body(str(included))
    except HeadraceError as error:
        raise ConnectError(f"{error.java_class}: {error.message}") from error


def errors(props: Props, worker: WorkerSettings) -> list[str]:
    """All the problems of a configuration, as sentences. Raises what `check` raises when there is no connector to ask."""
    return _report(props, worker).errors()


def _report(props: Props, worker: WorkerSettings) -> Report:
    try:
        with concealed():
            config = worker.resolver.resolve(props)
            report = _whole_report(config, worker)
            report.conceal(config)
            return report
    except BadRequestError:
        raise
    except HeadraceError as error:
        kind = BadRequestError if error.java_class == BadRequestError.java_class else ConnectError
        raise kind(error.message) from error


def check(props: Props, worker: WorkerSettings) -> None:
    """Raise BadRequestError, with every problem of the configuration, unless it is valid.

    Raises ConnectError for an override that the client cannot read.
    """
    report = _report(props, worker)
    if report.error_count:
        raise BadRequestError(
            f"Connector configuration is invalid and contains the following {report.error_count} error(s):\n"
            + "\n".join(report.errors())
            + "\nYou can also find the above list of errors at the endpoint "
            "`/connector-plugins/{connectorType}/config/validate`"
        )


def connector_class(props: Props, *, again: bool = True) -> type[Any]:
    """The class that `connector.class` names; again: as of `plugins.find`.

    Raises BadRequestError if there is none, with those there are.
    """
    name = props.get(CLASS)
    if name is None:
        raise BadRequestError(f"Connector config {java_text(dict(props))} contains no connector type")
    java = in_java(props)
    try:
        cls = plugins.find(name, Kind.SOURCE, Kind.SINK, java=java, again=again)
    except NotFoundError:
        if name in _ABSTRACT:
            raise BadRequestError("Instantiation error") from None
        available = plugins.java_plugins(Kind.SOURCE, Kind.SINK) if java else plugins.every(Kind.SOURCE, Kind.SINK)
        place = f" on plugin.path ({ENGINE}={props[ENGINE]})" if java else ""  # headrace may have a class of its own of this name
        raise BadRequestError(
            f"Failed to find any class{place} that implements Connector and which name matches {name}, "
            f"available connectors are: {', '.join(map(_described, available))}"
        ) from None
    except ConnectError as error:
        raise BadRequestError(error.message) from None
    try:
        return with_version(cls, props.get(VERSION))
    except HeadraceError:  # the answer of a validation has it; only the newest can be asked
        return cls


def plugin_definitions(cls: type[Any]) -> list[dict[str, Any]]:
    """The body of GET /connector-plugins/{plugin}/config; after those of a connector the options that all connectors have."""
    definition: ConfigDef = cls.definition()
    if cls.plugin_kind not in (Kind.SOURCE, Kind.SINK):
        return definitions(definition)
    common = common_definition(cls, {}, {})
    return definitions(
        ConfigDef([*definition.options.values(), *(o for o in common.options.values() if o.name not in definition.options)])
    )


def _new_topics(report: Report, props: Props, worker: WorkerSettings) -> None:
    """Bad settings for new topics, at their keys.

    Kafka Connect reports them when the connector starts: it is FAILED then, and so it is here if it is created all the same.
    """
    if worker.topic_creation_enable and connector_class(props).plugin_kind == Kind.SOURCE:
        names = {(config["value"] or config["definition"])["name"] for config in report.configs}
        values, options = problems(props)
        report.add((value for value in values if value.name not in names), options)


def _whole_report(config: Resolved, worker: WorkerSettings) -> Report:
    props = config.props
    if props.get(CLASS) is not None:
        _check_range(props.get(VERSION))
    connector = _connector(config.raw if props.get(CLASS) is None else props, worker)
    try:
        with_version(connector, props.get(VERSION))
    except HeadraceError as error:
        return _wrong_version(connector, props, error.message)
    common = common_definition(connector, props, _converters(worker))
    values = {value.name: value for value in common.validate(props)}
    converter_versions(values, connector, props)
    _common_rules(values, props, connector, worker)
    definition = connector.definition()
    for value in _connector_values(connector, definition, props):
        values[value.name] = value  # the connector's results for its options replace earlier ones
    report = Report()
    converters = _converter_options(connector, props, values)
    _add_in_order(report, values, {**common.options, **definition.options})
    report.add_groups([*common.groups, *definition.groups])
    for key, own, checked in converters:
        report.add(checked, own.options, prefix=key + ".")
        report.add_groups(sorted(own.groups, reverse=True))  # Kafka's order is that of a hash map; this is the same
    _client_overrides(report, props, connector, worker)
    return report


def _connector(props: Props, worker: WorkerSettings) -> type[Any]:
    """The class of the connector. A name that a worker has refused before is refused in the words of Kafka Connect's cache."""
    try:
        return connector_class(props)
    except BadRequestError as error:
        refused, name = _REFUSED.setdefault(worker, set()), props.get(CLASS)
        if name is not None and name in refused:
            raise BadRequestError(f"{ConnectError.java_class}: {error.message}") from None
        if name is not None and len(refused) < _MOST_REFUSED:
            refused.add(name)
        raise


def _check_range(version: str | None) -> None:
    """A range that cannot be read is a mistake of the request: not even the class is looked for then, as in Kafka Connect."""
    try:
        version_range(version)
    except ConfigError as error:
        raise BadRequestError(error.message) from None


def _wrong_version(connector: type[Any], props: Props, why: str) -> Report:
    """Only what any connector has can be checked when the wanted version of this one is not there."""
    common, report = common_definition(None, {}, {}, version_of=connector), Report()
    values = {value.name: value for value in common.validate(props)}
    converter_versions(values, None, props)
    values[CLASS].errors.append(why)
    values[VERSION].errors.append(why)
    rules.no_nulls(values, props)
    _add_in_order(report, values, common.options)
    report.add_groups(common.groups)
    return report


def _common_rules(values: rules.Values, props: Props, connector: type[Any], worker: WorkerSettings) -> None:
    if connector.plugin_kind == Kind.SINK:
        rules.sink_topics(values, props)
        rules.sink_group(values, props, worker)
        if connector in plugins.java_plugins():
            for option, error in refused(props, _converters(worker)):
                values[option].errors.append(error.message)
    elif worker.worker_group is not None:  # a worker that is alone does no preflight
        rules.exactly_once(values, props, connector, worker)
    rules.no_nulls(values, props)


def _connector_values(connector: type[Any], definition: ConfigDef, props: Props) -> list[ConfigValue]:
    """The connector's own options; its further rules only when each of them is valid."""
    values = {value.name: value for value in definition.validate(props)}
    if any(value.errors for value in values.values()):
        return list(values.values())
    for name, sentences in connector.problems(props).items():
        values.setdefault(name, ConfigValue(name, props.get(name))).errors.extend(sentences)
    return list(values.values())


def _add_in_order(report: Report, values: rules.Values, options: Mapping[str, Option]) -> None:
    """Keys that nothing defines first, as Kafka Connect lists them, then the options in order of definition."""
    report.add((value for name, value in values.items() if name not in options), {})
    for name, option in options.items():
        if name in values:
            report.add([values[name]], options)
        else:  # a plugin's own check may leave out what it defines
            report.add_unanswered(option)


def _converter_options(
    connector: type[Any], props: Props, values: rules.Values
) -> list[tuple[str, ConfigDef, list[ConfigValue]]]:
    """The options of the converters that the connector names itself, and their results; if there are none, the key says why."""
    checked_options: list[tuple[str, ConfigDef, list[ConfigValue]]] = []
    for key in ("header.converter", "key.converter", "value.converter"):
        name = values[key].value
        if props.get(key) is None or name is None or values[key].errors or values[f"{key}.plugin.version"].errors:
            continue
        if padded(key, props):
            values[key].errors.append(f"Failed to load class {props[key]}: {props[key]}")
            continue
        cls = converter_of(connector, name, CONVERTERS[key])
        if cls is None:
            continue
        settings = {k[len(key) + 1 :]: v for k, v in props.items() if k.startswith(key + ".")}
        what = "load ConfigDef from"
        try:
            version, beside = props.get(f"{key}.plugin.version"), getattr(connector, "location", None)
            definition: ConfigDef = with_version(cls, version, beside).definition()
            what = "perform config validation for"
            checked = definition.validate({"converter.type": key.partition(".")[0], **settings})
            checked_options.append((key, definition, checked))
        except ConnectError as error:  # of a class in Java
            why = "" if error.message == "null" else f": {error.message}"
            values[key].errors.append(f"Failed to {what} {key.replace('.', ' ')}{why}")
    return checked_options


def _client_overrides(report: Report, props: Props, connector: type[Any], worker: WorkerSettings) -> None:
    """The policy's results for overrides of the clients of this connector."""
    refuse = overrides.policy(worker.override_policy, worker.override_allowlist)
    is_source = connector.plugin_kind == Kind.SOURCE
    has_dlq = bool(str(props.get(rules.DLQ) or "").strip())
    keeps_offsets = is_source and _keeps_own_offsets(props, worker)
    used = {
        "producer": is_source or has_dlq,
        "consumer": not is_source or keeps_offsets,
        "admin": has_dlq or keeps_offsets or (is_source and has_settings(props)),
    }
    for client in (client for client, in_use in used.items() if in_use):
        checked = overrides.validate(props, client, refuse)
        report.add(checked, client_definition(client).options, prefix=OVERRIDE_PREFIXES[client])


def _keeps_own_offsets(props: Props, worker: WorkerSettings) -> bool:
    """Whether a source connector reads and creates the topic of its offsets by clients of its own."""
    if worker.worker_group is None:  # it is alone, and has its offsets in a file
        return False
    return worker.exactly_once_enabled or bool(str(props.get(rules.OFFSETS_TOPIC) or "").strip())


def _converters(worker: WorkerSettings) -> dict[str, str]:
    return {
        "key.converter": worker.key_converter,
        "value.converter": worker.value_converter,
        "header.converter": worker.header_converter,
    }


def _pruned(plugin: str) -> str:
    return plugin.removesuffix("Connector") if plugin != "Connector" else plugin


def _described(cls: type[Any]) -> str:
    name, kind, version = cls.plugin_name, cls.plugin_kind, cls.version
    return (
        f"PluginDesc{{klass=class {name}, name='{name}', version='{version}', encodedVersion={version}, "
        f"type={kind}, typeName='{kind}', location='{getattr(cls, 'location', 'classpath')}'}}"
    )
