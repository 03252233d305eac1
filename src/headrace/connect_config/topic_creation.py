"""The options `topic.creation.<group>.…` of a source connector, declared once for reading, validation and the docs (KIP-158).

Rules (`topic.creation`) are the spelling of the proposal's earlier revision: instead of groups and a default, names of rules in
the order in which they are tried, each with one regular expression. Without a rule that matches, Connect creates no topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace.config import REQUIRED, ConfigDef, ConfigValue, Importance, Option, Type, Width, java_text
from headrace.config.java_pattern import JavaRegexError, java_regex
from headrace.config.validators import Lambda, NonNull, Regex, Validator
from headrace.connect_config.common import SourceConnectorConfig, unique_aliases
from headrace.errors import ConfigError

PREFIX = "topic.creation."
DEFAULT_GROUP = "default"
BROKER_DEFAULT = -1
INCLUDE, EXCLUDE, REPLICATION_FACTOR, PARTITIONS = "include", "exclude", "replication.factor", "partitions"
GROUPS: Option = SourceConnectorConfig.definition().options[PREFIX + "groups"]
"""The one option that is part of a source connector's definition; those of a group exist only once it is named here."""
RULES = Option(
    "topic.creation", Type.LIST, [], unique_aliases("rules"), Importance.LOW,
    "Of headrace: the names of rules for new topics, in the order in which they are tried: the first whose `regex` matches the "
    "topic's name counts, and without one no topic is created. Another spelling of `topic.creation.groups`; not both.",
)  # fmt: skip
"""Only there if a connector names rules: it is no part of a definition that Kafka Connect has, too."""
REGEX = "regex"
OWN = (INCLUDE, EXCLUDE, REPLICATION_FACTOR, PARTITIONS)
"""The options of a group; any other key is a setting of the topic."""
OF_RULE = (REGEX, REPLICATION_FACTOR, PARTITIONS)
"""The options of a rule."""

_MATCHING = "A list of regular expression literals used to match the topic names used by the source connector. "
_FOR_DEFAULT = (
    " For the default group this configuration is required. For any other group defined in topic.creation.groups this "
    "config is optional and if it's missing it gets the value of the default group."
)
_DOCS = {
    INCLUDE: _MATCHING + "This list is used to include topics that should be created using the topic settings defined "
    "by this group.",
    EXCLUDE: _MATCHING + "This list is used to exclude topics from being created with the topic settings defined by "
    "this group. Note that exclusion rules have precedent and override any inclusion rules for the topics.",
    REPLICATION_FACTOR: "The replication factor for new topics created for this connector using this group. This value "
    "may be -1 to use the broker's default replication factor, or may be a positive number not larger than the number "
    "of brokers in the Kafka cluster. A value larger than the number of brokers in the Kafka cluster will result in an "
    "error when the new topic is created." + _FOR_DEFAULT,
    PARTITIONS: "The number of partitions of new topics created for this connector using this group. This value may be "
    "-1 to use the broker's default number of partitions, or a positive number representing the desired number of "
    "partitions." + _FOR_DEFAULT,
}
_TITLES = {
    INCLUDE: "Inclusion Topic Pattern for",
    EXCLUDE: "Exclusion Topic Pattern for",
    REPLICATION_FACTOR: "Replication Factor for Topics in",
    PARTITIONS: "Partition Count for Topics in",
}
_RULES = {
    REPLICATION_FACTOR: "Replication factor must be positive and not larger than the number of brokers in the Kafka "
    "cluster, or -1 to use the broker's default",
    PARTITIONS: "Number of partitions must be positive, or -1 to use the broker's default",
}


def _unqualified(name: str) -> str:
    """`partitions` for `topic.creation.a.partitions`: Kafka's sentences about counts and patterns name an option so."""
    return next((setting for setting in OWN if name.endswith("." + setting)), name)


def _check_count(name: str, value: Any) -> None:
    if value is None or (value <= 0 and value != BROKER_DEFAULT):
        setting = _unqualified(name)
        raise ConfigError.invalid(setting, java_text(value), _RULES[setting])


def _check_patterns(name: str, value: Any) -> None:
    try:
        for pattern in value or ():
            java_regex(pattern)
    except JavaRegexError as error:
        why = f"Syntax error in regular expression: {error}"
        raise ConfigError.invalid(_unqualified(name), java_text(value), why) from None


def default_group_options() -> ConfigDef:
    """`topic.creation.default.…`: partitions and replication factor are required; include and exclude are ignored."""
    return _options(DEFAULT_GROUP, ".*", NonNull(), REQUIRED, REQUIRED)


def group_options(name: str, replication_factor: int, partitions: int) -> ConfigDef:
    """`topic.creation.<name>.…` of a group in `topic.creation.groups`, with the numbers of the default group as
    defaults.
    """
    return _options(name, "", Lambda(_check_patterns, "valid regular expressions"), replication_factor, partitions)


def rule_options(name: str) -> ConfigDef:
    """`topic.creation.<name>.…` of a rule; the numbers are 3 and 1 unless it says otherwise, as in the proposal."""
    counts = _options(name, "", NonNull(), 3, 1).options
    prefix = f"{PREFIX}{name}."
    regex = Option(
        prefix + REGEX, Type.STRING, validator=Regex(), importance=Importance.LOW,
        doc="The regular expression (Java) for the names of the topics that this rule is for; it has to match the whole name.",
        group=name, order=1, width=Width.LONG, display_name=f"Topic Pattern for {name}",
    )  # fmt: skip
    return ConfigDef([regex, *(counts[prefix + setting] for setting in (REPLICATION_FACTOR, PARTITIONS))])


def has_rules(props: Mapping[str, Any]) -> bool:
    """Whether a connector's configuration names rules; a blank text names none."""
    return bool(_aliases(RULES, props))


def has_settings(props: Mapping[str, Any]) -> bool:
    """Whether a connector's configuration has settings for new topics."""
    return has_rules(props) or any(key.startswith(PREFIX) for key in props)


def check_spelling(props: Mapping[str, Any]) -> None:
    """Raise ConfigError if a configuration has rules and groups, or a rule the patterns of a group."""
    rules, default = _aliases(RULES, props), f"{PREFIX}{DEFAULT_GROUP}."
    if rules and _aliases(GROUPS, props):
        raise ConfigError.invalid(RULES.name, props[RULES.name], f"rules and groups ({GROUPS.name}) exclude each other; use one")
    of_rules = tuple(f"{PREFIX}{rule}." for rule in rules)  # also of one that is called `default.eu`
    if rules and any(key.startswith(default) and not key.startswith(of_rules) for key in props):
        raise ConfigError.invalid(
            RULES.name, props[RULES.name], f"rules and the default group ({default}…) exclude each other; use one"
        )
    for key in (f"{PREFIX}{rule}.{patterns}" for rule in rules for patterns in (INCLUDE, EXCLUDE)):
        if key in props:
            raise ConfigError.invalid(RULES.name, props[RULES.name], f"{key} is an option of groups; a rule has one {REGEX}")


def problems(props: Mapping[str, Any]) -> tuple[list[ConfigValue], dict[str, Option]]:
    """The errors of the settings for new topics, by key, and the options of these keys."""
    if not has_settings(props):
        return [], {}
    try:
        check_spelling(props)
    except ConfigError as error:
        return [ConfigValue(RULES.name, props[RULES.name], errors=[error.message])], {RULES.name: RULES}
    if has_rules(props):
        rules, options = _aliases(RULES, props), ConfigDef([RULES])
        for name in rules:
            options = options.extend(rule_options(name))
        return [value for value in options.validate(props) if value.errors], options.options
    options = default_group_options()
    for name in _aliases(GROUPS, props):
        if name != DEFAULT_GROUP:
            options = options.extend(group_options(name, BROKER_DEFAULT, BROKER_DEFAULT))
    # What is missing is left to the start of the connector, as in Kafka Connect, whose answers say nothing of any of this.
    return [value for value in options.validate(props) if value.errors and value.name in props], options.options


def _aliases(option: Option, props: Mapping[str, Any]) -> list[str]:
    aliases = next(value.value for value in ConfigDef([option]).validate(props))
    return list(dict.fromkeys(aliases or ()))


def documented_options() -> ConfigDef:
    """The options of the default group and of any other, with `<group>` in place of its name; for the docs."""
    return default_group_options().extend(group_options("<group>", BROKER_DEFAULT, BROKER_DEFAULT))


def documented_rule_options() -> ConfigDef:
    """The options of rules, with `<rule>` in place of the name; for the docs."""
    return ConfigDef([RULES]).extend(rule_options("<rule>"))


def _options(name: str, include: str, patterns: Validator, replication_factor: Any, partitions: Any) -> ConfigDef:
    count = Lambda(_check_count, "Positive number, or -1 to use the broker's default")
    declared: list[tuple[str, Type, Any, Validator]] = [
        (INCLUDE, Type.LIST, include, patterns),
        (EXCLUDE, Type.LIST, "", patterns),
        (REPLICATION_FACTOR, Type.SHORT, replication_factor, count),
        (PARTITIONS, Type.INT, partitions, count),
    ]
    return ConfigDef(
        Option(
            f"{PREFIX}{name}.{setting}",
            type,
            default,
            validator,
            Importance.LOW,
            _DOCS[setting],
            group=name,
            order=order,
            width=Width.LONG,
            display_name=f"{_TITLES[setting]} {name}",
        )
        for order, (setting, type, default, validator) in enumerate(declared, 1)
    )
