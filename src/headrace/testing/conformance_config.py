"""Runs the conformance cases of mode `config`: what validation says of a configuration, and whether a task starts with it.

(`tests/conformance/smt/README.md` describes the cases.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace import plugins
from headrace.config.prefixes import under
from headrace.config.providers import Resolver
from headrace.connect_config.enrich import chain_definition
from headrace.connect_config.validation import validate
from headrace.converters.base import load, load_header
from headrace.converters.string import StringConverterConfig, charset
from headrace.errors import HeadraceError, NotFoundError
from headrace.plugins import Kind
from headrace.runtime.worker_config import SIMPLE_HEADER_CONVERTER
from headrace.spark.session import session
from headrace.transforms.stages import stages

# What a sink connector needs besides what a case gives; the source stands in for it until there is one.
_CONNECTORS = (
    {"connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector", "topics": "t", "file": "f"},
    {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "topic": "t", "file": "f"},
)


@dataclass(frozen=True, eq=False)
class WorkerDefaults:
    """The settings of a worker that validation asks for: Kafka's defaults."""

    key_converter: str = "org.apache.kafka.connect.json.JsonConverter"
    value_converter: str = "org.apache.kafka.connect.json.JsonConverter"
    header_converter: str = SIMPLE_HEADER_CONVERTER
    override_policy: str = "All"
    override_allowlist: list[str] = field(default_factory=list)
    worker_group: str | None = None
    exactly_once_enabled: bool = False
    topic_creation_enable: bool = True
    resolver: Resolver = field(default_factory=Resolver)


def run_config_case(case: Mapping[str, Any]) -> str | None:
    """Run a case; returns None if it came out as recorded, else what differs, in a sentence."""
    expected = case["expect"]
    actual = problems(case["config"])
    if actual.keys() != expected["validate"].keys():
        return f"Validation should complain about {sorted(expected['validate'])}, but says {actual}."
    return _difference(expected.get("error"), start(case["config"]))


def problems(config: Mapping[str, str]) -> dict[str, list[str]]:
    """What validation says: property name → sentences, of those with any."""
    body = validate(None, {"name": "case", **_connector(), **config}, WorkerDefaults())
    return {config["value"]["name"]: config["value"]["errors"] for config in body["configs"] if config["value"]["errors"]}


def start(config: Mapping[str, str]) -> HeadraceError | None:
    """Make converters and chain as a task does when it starts; returns the error that stops it, None if there is none."""
    try:
        chain_definition(config).parse(config)  # Kafka reads the whole configuration before it makes the converters
        for option, is_key in (("key.converter", True), ("value.converter", False)):
            _with_charset(load(config[option], under(config, f"{option}."), is_key))
        _with_charset(load_header(config.get("header.converter", SIMPLE_HEADER_CONVERTER), under(config, "header.converter.")))
        stages(config)
    except HeadraceError as error:
        return error
    return None


def _with_charset(converter: object) -> None:
    """Ask for the character set of a StringConverter: Kafka's has it when it is made, ours when Spark compiles the chain."""
    if isinstance(converter, StringConverterConfig) and converter.encoding.upper() != "UTF-8":
        session()
        charset(converter.encoding)


def _difference(expected: Mapping[str, Any] | None, error: HeadraceError | None) -> str | None:
    if expected is None:
        return None if error is None else f"It should start, but: {error!r}."
    if error is None:
        return f"It should not start: {expected['message']}"
    classes = {expected["class"], expected.get("root", expected)["class"]}
    return None if error.java_class in classes else f"It should stop with {expected['class']}, but does with {error!r}."


def _connector() -> dict[str, str]:
    for props in _CONNECTORS:
        try:
            plugins.find(props["connector.class"], Kind.SINK, Kind.SOURCE)
        except NotFoundError:
            continue
        return props
    raise NotFoundError("There is no FileStream connector.")
