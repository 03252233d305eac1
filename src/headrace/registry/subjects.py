"""The names of subjects, by Confluent's `SubjectNameStrategy`."""

from __future__ import annotations

from headrace.errors import ConfigError, DataError

_PACKAGE = "io.confluent.kafka.serializers.subject."
STRATEGIES = ("TopicNameStrategy", "RecordNameStrategy", "TopicRecordNameStrategy")


def strategy_of(option: str, name: str) -> str:
    """One of STRATEGIES, by its class name. Raises ConfigError for any other."""
    simple = name.strip().removeprefix(_PACKAGE)
    if simple not in STRATEGIES:
        raise ConfigError.invalid(option, name, f"there are {', '.join(_PACKAGE + strategy for strategy in STRATEGIES)}")
    return simple


def subject_of(strategy: str, topic: str, is_key: bool, record_name: str | None) -> str:
    """The subject of a schema. record_name: full name of the schema's record, None if it is not a record schema.

    Raises DataError where the strategy needs a name and there is none.
    """
    if strategy == "TopicNameStrategy":
        return f"{topic}-{'key' if is_key else 'value'}"
    if record_name is None:
        raise DataError(f"In configuration {strategy}, the message {'key' if is_key else 'value'} must only be a record schema")
    return record_name if strategy == "RecordNameStrategy" else f"{topic}-{record_name}"
