"""The common options of a connector, with the installed classes and the options of its configured classes.

Converters get the worker's as their default and what is installed as recommended values; every alias in `transforms` and
`predicates` adds the options of its class under `transforms.<alias>.` (Kafka Connect's `EnrichablePlugin`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from headrace import plugins
from headrace.config import ConfigDef, ConfigValue, Importance, Option, Recommender, Type, Width, parse_list
from headrace.config.answered import AnsweredOption
from headrace.config.java_classes import java_class
from headrace.config.prefixes import under
from headrace.config.types import invalid, trim
from headrace.config.validators import Lambda, Validator
from headrace.connect_config.common import CommonConnectorConfig, SinkConnectorConfig, SourceConnectorConfig
from headrace.connect_config.engine import ENGINE, EngineConfig
from headrace.connect_config.packaged import location_of_connector
from headrace.connect_config.shadowing import used_by
from headrace.connect_config.versions import InstalledVersion, ValidVersion, installed, missing_version, with_version
from headrace.errors import ConfigError, ConnectError, HeadraceError
from headrace.plugins import Kind

log = structlog.get_logger(__name__)

Props = Mapping[str, Any]
VERSION = "connector.plugin.version"


@dataclass(frozen=True)
class PluginOption:
    """A place in a configuration that names a class."""

    kinds: tuple[Kind, ...]
    """One of which the class has to be."""
    interface: str
    """As Kafka's messages have it."""
    abstract: tuple[str, ...] = ()
    """Full names of Kafka's classes of this kind that cannot be used themselves."""


_CONNECT = "org.apache.kafka.connect"
_NUMBERS = f"{_CONNECT}.converters.NumberConverter"
CONVERTER = PluginOption((Kind.CONVERTER,), "Converter", (f"{_CONNECT}.storage.Converter", _NUMBERS))
HEADER_CONVERTER = PluginOption((Kind.HEADER_CONVERTER,), "HeaderConverter", (f"{_CONNECT}.storage.HeaderConverter", _NUMBERS))
TRANSFORMATION = PluginOption((Kind.TRANSFORMATION,), "Transformation", (f"{_CONNECT}.transforms.Transformation",))
PREDICATE = PluginOption((Kind.PREDICATE,), "Predicate", (f"{_CONNECT}.transforms.predicates.Predicate",))
CHAIN = {"transforms": TRANSFORMATION, "predicates": PREDICATE}
CHAIN_OF = {Kind.TRANSFORMATION: "transforms", Kind.PREDICATE: "predicates"}
CONVERTERS = {"key.converter": CONVERTER, "value.converter": CONVERTER, "header.converter": HEADER_CONVERTER}


def find(name: str, slot: PluginOption) -> type[Any] | None:
    """The class of this slot's kinds with this name or alias, None if there is none, or if several have the alias."""
    try:
        return plugins.find(name, *slot.kinds)
    except ConnectError:
        return None


def converter_of(connector: type[Any] | None, name: str, slot: PluginOption) -> type[Any] | None:
    """The class of a converter with this name or alias that a connector's class uses, None if there is none."""
    cls = find(name, slot)
    return None if cls is None else used_by(connector)(cls)


def common_definition(
    connector: type[Any] | None, props: Props, converters: Mapping[str, str], version_of: type[Any] | None = None
) -> ConfigDef:
    """The common options for a connector class (None: those of any connector), with what `props` asks for.

    converters: the worker's class for each of key.converter, value.converter, header.converter; version_of: the class
    whose version is the default of `connector.plugin.version`, by default the connector.
    """
    declared, beside = _declared(connector, props), getattr(connector, "location", None)
    changed: dict[str, Option] = {}
    for name, slot in CONVERTERS.items():
        version = f"{name}.plugin.version"
        converter_name = props.get(name)
        used = converter_of(
            connector, str(converters.get(name) or "") if converter_name is None else trim(str(converter_name)), slot
        )
        changed[name] = _converter_option(declared.options[name], slot, converters.get(name))
        option = _version_option(declared.options[version], used, None if converter_name is None else beside)
        changed[version] = _of_converter(option, name, declared.options[version], props)
    version_option = declared.options[VERSION]  # whether it is there decides over the whole answer, before this
    changed[VERSION] = replace(_version_option(version_option, version_of or connector), validator=version_option.validator)
    definition = ConfigDef(changed.get(o.name) or o for o in declared.options.values())
    for key, slot in CHAIN.items():
        add_aliases(definition, key, slot, props, beside)
    return definition


def chain_definition(props: Props) -> ConfigDef:
    """The options of a connector's transformations and predicates alone, as they are read when a task starts.

    Raises ConfigError, in Kafka's words, if the class of an alias is missing or cannot be used.
    """
    declared = CommonConnectorConfig.definition().options
    definition = ConfigDef(declared[key] for key in CHAIN)
    for key, slot in CHAIN.items():
        add_aliases(definition, key, slot, props, location_of_connector(props))
        for alias in aliases(key, props):
            option = definition.options[f"{key}.{alias}.type"]
            if padded(option.name, props):
                text = props[option.name]
                raise invalid(option.name, text, f"Error getting config definition from {slot.interface}: {text}")
            name = option.read(props.get(option.name))
            if name is None:
                raise invalid(option.name, None, f"Not a {slot.interface}")
            _implements(slot)(option.name, name)
    return definition


def _declared(connector: type[Any] | None, props: Props) -> ConfigDef:
    if connector is None:
        return CommonConnectorConfig.definition()
    declared = (SourceConnectorConfig if connector.plugin_kind == Kind.SOURCE else SinkConnectorConfig).definition()
    if connector not in plugins.java_plugins() and ENGINE not in props:  # a wrong engine finds headrace's own class
        return declared
    return ConfigDef([*declared.options.values(), *EngineConfig.definition().options.values()])


def add_aliases(definition: ConfigDef, key: str, slot: PluginOption, props: Props, beside: str | None = None) -> ConfigDef:
    """Add the options of every alias that the list `key` names; returns the definition.

    beside: the location of the connector (`with_version`).
    """
    for alias in aliases(key, props):
        prefix, group = f"{key}.{alias}.", f"{key.capitalize()}: {alias}"
        cls = find(trim(str(props.get(prefix + "type") or "")), slot)
        cls = None if cls is None else with_version(cls, None, beside)
        for option in _type_options(alias, prefix, group, slot, cls, props):
            definition.define(option)
        cls = None if cls is None else _with_version_or_none(cls, props.get(prefix + "plugin.version"), beside)
        if cls is not None and not padded(prefix + "type", props):
            options = [*_chain_options(slot), *_unmasked(slot, _checked(alias, cls, props))]
            embed(definition, ConfigDef(options), prefix, group, first_order=2)
    return definition


def _unmasked(slot: PluginOption, own: Sequence[Option]) -> list[Option]:
    """A class's own options without those whose names are of options of every transformation (KIP-585)."""
    implicit = {option.name for option in _chain_options(slot)}
    for option in own:
        if option.name in implicit:
            log.warning("Transformer config %s is masked by implicit config of that name", option.name)
    return [option for option in own if option.name not in implicit]


def _with_version_or_none(cls: type[Any], version: str | None, beside: str | None) -> type[Any] | None:
    """The requested version of a class; None if it is missing, which the rules of class and version report."""
    try:
        return with_version(cls, version, beside)
    except HeadraceError:
        return None


def _checked(alias: str, cls: type[Any], props: Props) -> list[Option]:
    """The options of a class; that of a combination which names predicates looks at these, too.

    A class in another language checks its options itself, all at once.
    """
    if cls in plugins.java_plugins():
        return _with_errors(f"{CHAIN_OF[cls.plugin_kind]}.{alias}.", cls.definition(), props)
    name = getattr(cls, "refers_by", None)
    return [
        _with_cycle_check(option, alias, props) if option.name == name else option for option in cls.definition().options.values()
    ]


def _with_errors(prefix: str, definition: ConfigDef, props: Props) -> list[Option]:
    values = {value.name: value for value in definition.validate(under(props, prefix))}

    def rejecting(sentences: Sequence[str]) -> Validator:
        def check(_name: str, value: Any) -> None:
            if sentences and value is not None:  # else it is missing, or of another type: reported for the whole name
                raise ConfigError("; ".join(sentences))

        return Lambda(check, "the plugin's own rules")

    def answered(option: AnsweredOption) -> Option:
        value = values.get(option.name, ConfigValue(option.name))
        recommender = Recommender(lambda _name, _parsed: list(value.recommended_values), lambda _name, _parsed: value.visible)
        return replace(option, typed=True, validator=rejecting(value.errors), recommender=recommender)

    return [answered(option) for option in definition.options.values() if isinstance(option, AnsweredOption)]


def _with_cycle_check(option: Option, alias: str, props: Props) -> Option:
    def check(name: str, value: Any) -> None:
        if option.validator:
            option.validator(name, value)
        _no_cycle([alias], props)

    return replace(option, validator=Lambda(check, "aliases of predicates"))


def _no_cycle(path: list[str], props: Props) -> None:
    """Follow combinations of predicates. Raises ConfigError for an alias that there is not, or that leads back to itself."""
    prefix = f"predicates.{path[-1]}."
    if path[-1] not in aliases("predicates", props):
        raise ConfigError(f"Unknown configuration '{prefix}plugin.version'")
    if path[-1] in path[:-1]:
        raise ConfigError(f"Predicate {path[-1]} is a part of itself: {' -> '.join(path)}")
    option = getattr(find(str(props.get(prefix + "type") or ""), PREDICATE), "refers_by", None)
    named = str(props.get(f"{prefix}{option}") or "") if option else ""
    for alias in dict.fromkeys(a for a in ([named] if option == "predicate" else parse_list(named)) if a):
        _no_cycle([*path, alias], props)


def aliases(key: str, props: Props) -> list[str]:
    """The aliases that the list `transforms`, or `predicates`, of a configuration names."""
    return list(dict.fromkeys(parse_list(str(props.get(key) or ""))))


def embed(definition: ConfigDef, inner: ConfigDef, prefix: str, group: str, first_order: int) -> None:
    """Add options under a prefix, in one group or groups within it, numbered on from `first_order` (Kafka's `ConfigDef.embed`).

    Rules keep naming the option without the prefix, as in Kafka.
    """
    for order, option in enumerate(inner.sorted_options(), first_order):
        definition.define(
            replace(
                option,
                name=prefix + option.name,
                group=group if option.group is None else f"{group}: {option.group}",
                order=order,
                validator=_embedded(option.validator, option.name),
                dependents=tuple(prefix + name for name in option.dependents),
            )
        )


def _embedded(validator: Validator | None, name: str) -> Validator | None:
    return None if validator is None else Lambda(lambda _prefixed, value: validator(name, value), str(validator))


def _resolver(slot: PluginOption) -> Callable[[str], str | None]:
    """Full names for aliases. Unusable classes are included, so that the error can name the reason."""

    def resolve(name: str) -> str | None:
        if plugins.meant_by(name):
            return name
        cls = find(name, slot) or _of_any_kind(name)
        if cls is None and (java_class(name) or (slot in CHAIN.values() and plugins.dotted(name))):
            return name
        return None if cls is None else cls.plugin_name

    return resolve


def _of_any_kind(name: str) -> type[Any] | None:
    """The class of this name, else the only one that has it as an alias; many a converter is of two kinds."""
    classes = list(plugins.every())
    exact = [cls for cls in classes if cls.plugin_name == name]
    matching = exact or [cls for cls in classes if name in cls.plugin_aliases]
    return matching[0] if len({cls.plugin_name for cls in matching}) == 1 else None


def _implements(slot: PluginOption) -> Lambda:
    def check(_name: str, value: str | None) -> None:
        if value in slot.abstract:
            raise ConfigError("This class is abstract and cannot be created.")
        if value is not None and (meant := [name for name in plugins.meant_by(value) if find(name, slot)]):
            raise ConfigError(f"This class is abstract and cannot be created. Did you mean {', '.join(meant)}?")
        if value is not None and find(value, slot) is None:
            raise ConfigError(f"Class {java_class(value) or 'class'} {value} does not implement the {slot.interface} interface")

    return Lambda(check, f"a class that implements {slot.interface}")


def padded(name: str, props: Props) -> bool:
    """Whether the name of a class has white space around it: Kafka Connect finds the class, but not its options."""
    text = str(props.get(name) or "")
    return text != trim(text)


def _installed(slot: PluginOption) -> Recommender:
    return Recommender(lambda _name, _parsed: sorted(cls.plugin_name for cls in plugins.every(*slot.kinds)))


def _converter_option(declared: Option, slot: PluginOption, default: str | None) -> Option:
    fields: dict[str, Any] = {"default": default, "resolve": _resolver(slot), "recommender": _installed(slot)}
    return replace(declared, validator=_implements(slot), **fields)


def converter_versions(values: Mapping[str, ConfigValue], connector: type[Any] | None, props: Props) -> None:
    """Add the errors of converters that are not there in the wanted version; that of the worker's is none of their faults."""
    for name, slot in CONVERTERS.items():
        value = values[name]
        if value.errors or value.value is None or props.get(name) is None or padded(name, props):
            continue
        cls = converter_of(connector, value.value, slot)
        if cls is not None and (why := missing_version(cls, props.get(f"{name}.plugin.version"))):
            value.errors.append(why)


def _version_option(declared: Option, cls: type[Any] | None, beside: str | None = None) -> Option:
    version = None if cls is None else str(with_version(cls, None, beside).version)
    rule = declared.validator if cls is None else InstalledVersion(cls)
    recommender = replace(installed(cls), visible=lambda _name, _parsed: cls is not None)
    return replace(declared, default=version, validator=rule, recommender=recommender)


def _of_converter(option: Option, converter: str, declared: Option, props: Props) -> Option:
    """The option for the version of a converter: it is there with the class, and asks for one that the connector names."""
    assert option.recommender is not None
    shown = replace(option.recommender, visible=lambda _name, parsed: parsed.get(converter) is not None)
    if padded(converter, props):
        return replace(option, recommender=shown, validator=declared.validator, default=None)
    return replace(option, recommender=shown, validator=declared.validator if props.get(converter) is None else option.validator)


def _type_options(
    alias: str, prefix: str, group: str, slot: PluginOption, cls: type[Any] | None, props: Props
) -> tuple[Option, Option]:
    fields: dict[str, Any] = {"importance": Importance.HIGH, "group": group, "width": Width.LONG}
    version = None if cls is None or padded(prefix + "type", props) else str(cls.version)
    interface = slot.interface
    return (
        Option(
            prefix + "type",
            Type.CLASS,
            validator=_alias_rule(prefix, slot, props),
            doc=f"Class for the '{alias}' {interface.lower()}.",
            order=0,
            display_name=f"{interface} type for {alias}",
            resolve=_resolver(slot),
            recommender=_installed(slot),
            **fields,
        ),
        Option(
            prefix + "plugin.version",
            Type.STRING,
            version,
            validator=_version_rule(prefix + "type", cls, props),
            doc=f"Version of the '{alias}' {interface.lower()}.",
            order=1,
            display_name=f"{interface} version for {alias}",
            recommender=installed(cls),
            **fields,
        ),
    )


def _version_rule(name: str, cls: type[Any] | None, props: Props) -> Validator | None:
    if props.get(name) is None:
        return None
    return ValidVersion() if cls is None or padded(name, props) else InstalledVersion(cls)


def _alias_rule(prefix: str, slot: PluginOption, props: Props) -> Lambda:
    implements = _implements(slot)

    def check(name: str, value: str | None) -> None:
        if prefix + "negate" in props and prefix + "predicate" not in props and slot is TRANSFORMATION:
            raise ConfigError(
                f"Config '{prefix}negate' was provided but there is no config '{prefix}predicate' "
                "defining a predicate to be negated."
            )
        version = props.get(prefix + "plugin.version")
        if value is not None:
            ValidVersion()(name, version)
        implements(name, value)
        cls = find(value or "", slot)
        if cls is not None:
            InstalledVersion(cls)(name, version)

    return Lambda(check, f"valid configs for {slot.interface.lower()}")


def _chain_options(slot: PluginOption) -> tuple[Option, ...]:
    """The further options of every transformation (KIP-585)."""
    if slot is not TRANSFORMATION:
        return ()
    return (
        Option(
            "predicate",
            Type.STRING,
            None,
            doc="The alias of a predicate used to determine whether to apply this transformation.",
        ),
        Option("negate", Type.BOOLEAN, False, doc="Whether the configured predicate should be negated."),
    )
