"""Lists have no empty and no repeated entries (KIP-1161, which is in Kafka since 4.2)."""

from __future__ import annotations

import pytest

from headrace.config import Type
from headrace.config.client_options import client_definition
from headrace.config.validators import ValidList
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from tests.config.declared import definitions

OWN_RULES = {
    "transforms", "predicates", "topic.creation.groups",  # aliases: Kafka's other sentences
    "spec", "renames", "listeners", "inter.worker.verification.algorithms",  # the same, of Cast, ReplaceField and the worker
    "source.bootstrap.servers", "target.bootstrap.servers",  # KIP-310's sentence
    "fields", "headers",  # of HeaderFrom: it checks itself that they are as many
    "schema.registry.url",  # Confluent's
}  # fmt: skip


def test_every_list_refuses_them_but_for_those_with_rules_of_their_own() -> None:
    lists = [option for definition in definitions() for option in definition.options.values() if option.type is Type.LIST]
    assert {option.name for option in lists if not isinstance(option.validator, ValidList)} == OWN_RULES


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("topics", "a,,b", "Configuration 'topics' values must not be empty."),
        ("topics", "a,a", "Configuration 'topics' values must not be duplicated."),
        ("topics.exclude", "a,(", "Invalid value a,( for configuration topics.exclude: Invalid regex: "),
    ],
)
def test_what_is_wrong_with_a_list_of_a_mirror_is_said_when_it_is_validated(name: str, text: str, sentence: str) -> None:
    props = {"source.cluster.alias": "a", "target.cluster.alias": "b", name: text}
    (value,) = [value for value in MirrorSourceConfig.definition().validate(props) if value.name == name]
    assert value.errors[0].startswith(sentence)


def test_a_client_takes_repeated_servers_once_and_no_empty_one() -> None:
    kafka = client_definition("producer")
    assert kafka.value("bootstrap.servers", {"bootstrap.servers": "a:1,b:1,a:1"}) == ["a:1", "b:1"]
    [value] = [v for v in kafka.validate({"bootstrap.servers": "a:1,,b:1"}) if v.name == "bootstrap.servers"]
    assert value.errors == ["Configuration 'bootstrap.servers' values must not be empty."]
