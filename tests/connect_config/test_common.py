import pytest

from headrace.connect_config.common import SinkConnectorConfig, SourceConnectorConfig
from headrace.connect_config.dead_letters import SourceDeadLetterConfig
from headrace.connect_config.report import option_json
from headrace.connect_config.restarts import TaskRestartConfig
from tests.rest.recorded import exchanges

# Of these the default is that of the worker, or of what is installed (see enrich).
DEPENDS = ("connector.plugin.version", "key.converter", "value.converter", "header.converter")


@pytest.mark.parametrize(
    ("connector", "config"), [("FileStreamSource", SourceConnectorConfig), ("FileStreamSink", SinkConnectorConfig)]
)
def test_the_common_options_are_word_for_word_those_of_kafka_connect(connector, config):
    recorded = _definitions(connector)
    options = config.definition().options
    own = {*TaskRestartConfig.definition().options}  # Kafka Connect restarts nothing by itself
    if config is SourceConnectorConfig:
        own |= {*SourceDeadLetterConfig.definition().options}  # nor has it dead letters of sources
    declared = {name: option_json(option) for name, option in options.items() if name not in own}
    for name, definition in declared.items():
        if name.startswith(DEPENDS):
            definition["default_value"] = recorded[name]["default_value"]
        assert definition == recorded[name]
    assert list(declared) == list(recorded)[: len(declared)]


def _definitions(connector):
    bodies = [e["response"]["body"] for e in exchanges("R27-validate") if not e["response"].get("body_subset")]
    body = next(body for body in bodies if body.get("name") == connector)
    return {config["definition"]["name"]: config["definition"] for config in body["configs"]}


def test_the_runtime_reads_typed_attributes():
    config = SourceConnectorConfig({"name": "a", "connector.class": "B", "tasks.max": "3", "transforms": "x, y"})
    assert (config.tasks_max, config.transforms, config.errors_tolerance, config.key_converter) == (3, ["x", "y"], "none", None)
    sink = SinkConnectorConfig({"name": "a", "connector.class": "B", "topics": "t,u"})
    assert (sink.topics, sink.dlq_replication_factor, sink.topics_regex) == (["t", "u"], 3, "")
