"""Validation says what Kafka Connect says: recorded answers, and cases with plugins of the tests."""

from __future__ import annotations

import pytest

from headrace import plugins
from headrace.connect_config import validation
from headrace.errors import BadRequestError, ConnectError, HeadraceError
from headrace.plugins import Kind
from headrace.runtime.standalone_config import StandaloneConfig
from tests.connect_config.conftest import WORKER
from tests.rest.recorded import differ, exchanges

WELL = {"name": "v", "connector.class": "test.Well", "bucket": "sealed"}
DRAIN = {"name": "v", "connector.class": "test.Drain", "topics": "t"}
POLICIES = {
    "R39-override-none": {"connector_client_config_override_policy": "None"},
    "R41-override-allow": {
        "connector_client_config_override_policy": "Allowlist",
        "connector_client_config_override_allowlist": "acks,linger.ms",
    },
}


def _installed(body) -> bool:
    """Whether all the plugins of Kafka Connect that a configuration names exist here."""
    names = [v for k, v in body.items() if k.endswith(("connector.class", ".type", ".converter")) and isinstance(v, str)]
    every = list(plugins.every())
    known = {c.plugin_name for c in every} | {a for c in every for a in c.plugin_aliases}
    return all(name in known or name.startswith("NoSuch") for name in names)


def _recorded():
    for exchange in exchanges("R27-validate", *POLICIES):
        path, body = exchange["request"]["path"], exchange["request"].get("body")
        if path.endswith("/config/validate") and isinstance(body, dict) and _installed(body):
            yield pytest.param(exchange, id=exchange["id"])


RECORDED = list(_recorded())


@pytest.mark.parametrize("exchange", RECORDED)
def test_the_answer_is_that_of_kafka_connect(exchange, worker):
    request, response = exchange["request"], exchange["response"]
    plugin, compare = request["path"].split("/")[2], differ()
    body = request["body"]
    try:
        status, answer = 200, validation.validate(plugin, body, worker(**POLICIES.get(exchange["group"], {})))
    except HeadraceError as error:
        status, answer = error.status, {"error_code": error.status, "message": error.message}
    if response.get("body_subset"):
        answer = _reduced(answer, body)
    assert status == response["status"]
    # Converters that do not exist here cannot be recommended.
    assert [d for d in compare.diff(response["body"], answer) if "recommended_values" not in d[0]] == []


def _reduced(answer, sent):
    keep = [c for c in answer["configs"] if c["value"]["errors"] or c["value"]["name"] in sent]
    without_doc = [{k: v for k, v in (c["definition"] or {}).items() if k != "documentation"} or None for c in keep]
    return {**answer, "configs": [c | {"definition": d} for c, d in zip(keep, without_doc, strict=True)]}


def test_most_recorded_answers_are_played():
    assert len(RECORDED) >= 38


def errors_of(name, props, settings):
    body = validation.validate(None, props, settings)
    assert body["error_count"] == sum(len(c["value"]["errors"]) for c in body["configs"])
    return [e for c in body["configs"] if c["value"]["name"] == name for e in c["value"]["errors"]]


@pytest.mark.usefixtures("installed")
class TestConnectors:
    def test_a_valid_configuration_passes(self, worker):
        validation.check(WELL, worker())
        validation.check(DRAIN, worker())
        assert validation.errors(WELL, worker()) == []

    def test_every_error_is_in_the_message(self, worker):
        with pytest.raises(BadRequestError) as error:
            validation.check({"connector.class": "Well", "tasks.max": "0", "depth": "x"}, worker())
        assert error.value.message == (
            "Connector configuration is invalid and contains the following 5 error(s):\n"
            'Missing required configuration "name" which has no default value.\n'
            "Invalid value 0 for configuration tasks.max: Value must be at least 1\n"
            "Invalid value x for configuration depth: Not a number of type INT\n"
            "Invalid value null for configuration depth: Value must be non-null\n"
            'Missing required configuration "bucket" which has no default value.\n'
            "You can also find the above list of errors at the endpoint "
            "`/connector-plugins/{connectorType}/config/validate`"
        )

    def test_the_connectors_own_rules_count_once_its_options_are_valid(self, worker):
        assert errors_of("bucket", WELL | {"bucket": "thimble"}, worker()) == ["too small"]
        assert errors_of("bucket", WELL | {"bucket": "thimble", "depth": "x"}, worker()) == []

    def test_bad_settings_for_new_topics_are_at_their_keys_but_no_reason_to_refuse_the_connector(self, worker):
        default = "topic.creation.default."
        props = WELL | {default + "partitions": "0", "topic.creation.groups": "g", "topic.creation.g.include": "("}
        validation.check(props, worker())  # 201, and FAILED when it starts, as in Kafka Connect
        assert errors_of(default + "replication.factor", props, worker()) == []  # it is missing: as in Kafka Connect
        assert errors_of(default + "partitions", props, worker())[0].startswith("Invalid value 0 for configuration partitions: ")
        assert errors_of("topic.creation.g.include", props, worker())[0].startswith(
            "Invalid value [(] for configuration include: Syntax error in regular expression: "
        )
        assert errors_of(default + "partitions", props, worker(topic_creation_enable="false")) == []
        assert errors_of(default + "partitions", DRAIN | {default + "partitions": "0"}, worker()) == []

    def test_bad_rules_for_new_topics_are_at_their_keys(self, worker):
        props = WELL | {"topic.creation": "a,b", "topic.creation.a.regex": "x.*", "topic.creation.b.partitions": "x"}
        assert errors_of("topic.creation.a.regex", props, worker()) == []
        assert errors_of("topic.creation.b.regex", props, worker())[0] == (
            'Missing required configuration "topic.creation.b.regex" which has no default value.'
        )
        assert errors_of("topic.creation.b.partitions", props, worker())[0] == (
            "Invalid value x for configuration topic.creation.b.partitions: Not a number of type INT"
        )
        assert errors_of("topic.creation", props | {"topic.creation": "a,a"}, worker()) != []
        (error,) = errors_of("topic.creation", props | {"topic.creation.groups": "a"}, worker())
        assert error.endswith(": rules and groups (topic.creation.groups) exclude each other; use one")
        (error,) = errors_of("topic.creation", props | {"topic.creation.default.partitions": "many"}, worker())
        assert error.endswith(": rules and the default group (topic.creation.default.…) exclude each other; use one")

    def test_dead_letters_of_a_source_are_options(self, worker):
        dlq = "errors.deadletterqueue."
        props = WELL | {dlq + "topic.name": "d", dlq + "topic.replication.factor": "x", dlq + "context.headers.enable": "maybe"}
        assert errors_of(dlq + "topic.replication.factor", props, worker())[0] == (
            f"Invalid value x for configuration {dlq}topic.replication.factor: Not a number of type SHORT"
        )
        assert errors_of(dlq + "context.headers.enable", props, worker()) == [
            f"Invalid value maybe for configuration {dlq}context.headers.enable: Expected value to be either true or false"
        ]

    def test_what_no_topic_of_dead_letters_or_losses_can_have_is_refused(self, worker):
        dlq, losses = "errors.deadletterqueue.topic.", "source.data.loss.topic"
        source = {"name": "m", "connector.class": "KafkaSource", "source.bootstrap.servers": "b:1", "source.topic.whitelist": "t"}
        bad = {dlq + "name": "d d!", dlq + "replication.factor": "0", losses: "..", losses + ".replication.factor": "-2"}
        good = {dlq + "name": "d_.1", dlq + "replication.factor": "-1", losses: "", losses + ".replication.factor": "1"}
        assert {key: errors_of(key, source | good, worker()) for key in good} == {key: [] for key in good}
        factor = "Value must be -1, the default of the cluster, or at least 1"
        assert {key: errors_of(key, source | bad, worker()) for key in bad} == {
            dlq + "name": [
                f"Invalid value d d! for configuration {dlq}name: Topic name is invalid: 'd d!' contains one or more characters "
                "other than ASCII alphanumerics, '.', '_' and '-'"
            ],
            dlq + "replication.factor": [f"Invalid value 0 for configuration {dlq}replication.factor: {factor}"],
            losses: [f"Invalid value .. for configuration {losses}: Topic name is invalid: '..' is not allowed"],
            losses + ".replication.factor": [f"Invalid value -2 for configuration {losses}.replication.factor: {factor}"],
        }
        assert errors_of(losses + ".replication.factor", source | {losses + ".replication.factor": "x"}, worker()) == [
            f"Invalid value x for configuration {losses}.replication.factor: Not a number of type SHORT",
            f"Invalid value null for configuration {losses}.replication.factor: {factor}",
        ]
        (error,) = errors_of(losses, source | {losses: "z" * 250}, worker())
        assert error.endswith("is longer than the max allowed length 249")

    def test_overrides_of_the_client_that_makes_the_topic_of_dead_letters_are_looked_at(self, worker):
        refusing, props = worker(connector_client_config_override_policy="None"), WELL | {"admin.override.retries": "1"}
        assert errors_of("admin.override.retries", props, refusing) == []
        assert errors_of("admin.override.retries", props | {"errors.deadletterqueue.topic.name": "d"}, refusing) != []

    def test_groups_are_those_of_the_options_in_order(self, worker):
        body = validation.validate("Well", WELL | {"transforms": "a"}, worker())
        assert (body["name"], body["groups"][0], body["groups"][-2:]) == ("test.Well", "Common", ["Transforms: a", "Well"])

    def test_a_null_is_an_error_unless_the_connector_has_an_option_of_that_name(self, worker):
        sentence = "Null value can not be supplied as the configuration value."
        assert errors_of("nothing", WELL | {"nothing": None}, worker()) == [sentence]
        assert errors_of("errors.tolerance", WELL | {"errors.tolerance": None}, worker())[-1] == sentence
        assert validation.errors(DRAIN | {"errors.retry.timeout": None}, worker()) == [sentence]
        assert errors_of("bucket", WELL | {"bucket": None}, worker()) == []

    def test_without_a_class_there_is_nothing_to_ask(self, worker):
        with pytest.raises(BadRequestError, match=r"Connector config \{name=x\} contains no connector type"):
            validation.check({"name": "x"}, worker())
        with pytest.raises(ConnectError) as error:
            validation.validate("Well", {"a": None}, worker())
        assert error.value.message == (
            "org.apache.kafka.connect.runtime.rest.errors.BadRequestException: "
            "Connector config {a=null} contains no connector type"
        )

    def test_an_unknown_class_is_refused_with_those_there_are(self, worker):
        with pytest.raises(BadRequestError) as error:
            validation.check({"connector.class": "NoSuch"}, worker())
        assert error.value.message.startswith(
            "Failed to find any class that implements Connector and which name matches NoSuch, available connectors are: "
        )
        assert (
            "PluginDesc{klass=class test.Drain, name='test.Drain', version='1.2.3', encodedVersion=1.2.3, type=sink, "
            "typeName='sink', location='classpath'}" in error.value.message
        )

    @pytest.mark.parametrize("engine", ["java", " process"])
    def test_a_class_that_is_not_on_plugin_path_is_refused_with_those_on_it(self, worker, engine):
        with pytest.raises(BadRequestError) as error:
            validation.check(WELL | {"connector.engine": engine}, worker())
        assert error.value.message == (
            f"Failed to find any class on plugin.path (connector.engine={engine}) that implements Connector and which name "
            "matches test.Well, available connectors are: "
        )

    @pytest.mark.parametrize("engine", ["Java", "jvm", ""])
    def test_an_engine_that_there_is_not_is_an_error_of_headraces_own_connectors_too(self, worker, engine):
        assert validation.errors(WELL | {"connector.engine": engine}, worker()) == [
            f"Invalid value {engine} for configuration connector.engine: String must be one of: auto, java, process"
        ]
        assert validation.errors(WELL | {"connector.engine": " auto"}, worker()) == []

    def test_an_alias_of_two_connectors_is_refused(self, worker):
        plugins.plugin("other.Well", Kind.SOURCE)(type("Well", (), {"definition": None}))
        with pytest.raises(BadRequestError, match="More than one connector matches alias Well"):
            validation.check({"connector.class": "Well"}, worker())

    @pytest.mark.parametrize("plugin", ["Well", "test.Well", "ell"])
    def test_the_plugin_of_the_path_has_to_be_the_end_of_the_class(self, plugin, worker):
        validation.validate(plugin, WELL, worker())

    def test_another_plugin_in_the_path_is_refused(self, worker):
        with pytest.raises(BadRequestError, match=r"Included connector type test\.Well does not match request type Drain"):
            validation.validate("Drain", WELL, worker())

    def test_a_version_range_that_cannot_be_read_is_refused_before_the_class_is_looked_for(self, worker):
        props = {"name": "v", "connector.class": "test.NoSuch", "connector.plugin.version": "[1.0"}
        with pytest.raises(BadRequestError, match=r"^Unbounded range: \[1\.0$"):
            validation.check(props, worker())
        with pytest.raises(ConnectError, match=r"^org\.apache\S+\.BadRequestException: Unbounded range: \[1\.0$") as raised:
            validation.validate(None, props, worker())
        assert raised.value.status == 500

    def test_a_version_that_is_not_there_leaves_only_the_options_of_all_connectors(self, worker):
        more = {"connector.plugin.version": "9", "transforms": "x", "nothing": None, "value.converter": "JsonConverter"}
        body = validation.validate(None, WELL | more, worker())
        assert body["error_count"] == 3  # of `nothing`, too
        assert body["groups"] == ["Common", "Transforms", "Predicates", "Error Handling"]
        converter = next(entry for entry in body["configs"] if entry["value"]["name"] == "value.converter")
        assert converter["definition"]["default_value"] is None


def test_null_as_the_renames_of_a_transformation_is_told_at_its_key(worker):
    props = {"connector.class": "FileStreamSource", "name": "v", "topic": "t", "transforms": "r"}
    props |= {"transforms.r.type": "ReplaceField$Value", "transforms.r.renames": None}
    assert errors_of("transforms.r.renames", props, worker()) == ["Null value can not be supplied as the configuration value."]


@pytest.mark.usefixtures("installed")
class TestConverters:
    def test_its_options_stand_under_its_prefix(self, worker):
        props = WELL | {"value.converter": "JsonConverter", "value.converter.schemas.enable": "x"}
        assert errors_of("value.converter.schemas.enable", props, worker()) == [
            "Invalid value x for configuration schemas.enable: Expected value to be either true or false"
        ]

    @pytest.mark.parametrize("name", ["BooleanConverter", "JsonConverter", "StringConverter", "ByteArrayConverter"])
    def test_its_use_is_none_of_its_own(self, name, worker):
        props = WELL | {"value.converter": name, "value.converter.converter.type": "x"}
        assert errors_of("value.converter.converter.type", props, worker()) == [
            "Invalid value x for configuration converter.type: String must be one of: key, value, header"
        ]
        assert validation.errors(props | {"value.converter.converter.type": "header"}, worker()) == []

    def test_a_version_that_is_not_there_is_said_at_its_class_too(self, worker):
        props = WELL | {"value.converter": "JsonConverter", "value.converter.plugin.version": "9"}
        (why,) = errors_of("value.converter", props, worker())
        assert why.startswith("Plugin org.apache.kafka.connect.json.JsonConverter not found that matches the version range [9,9]")
        assert errors_of("value.converter.plugin.version", props, worker()) == [why]

    @pytest.mark.parametrize("key", ["key.converter", "value.converter", "header.converter"])
    def test_a_version_of_the_class_that_the_worker_has_as_well_is_checked(self, key, worker):
        settings = {
            name.replace(".", "_"): "StringConverter" for name in ("key.converter", "value.converter", "header.converter")
        }
        props = WELL | {key: "StringConverter", f"{key}.plugin.version": "9"}
        missing = (
            "Plugin org.apache.kafka.connect.storage.StringConverter not found that matches the version range [9,9], "
            "available versions: [4.3.0, 4.3.0]"  # one as a converter, one as a header converter
        )
        assert validation.errors(props, worker(**settings)) == [missing] * 2
        assert validation.errors(props | {f"{key}.plugin.version": "("}, worker(**settings)) == ["Unbounded range: ("]
        padded = props | {key: " StringConverter"}
        assert validation.errors(padded, worker(**settings)) == ["Failed to load class  StringConverter:  StringConverter"]
        del props[key]  # then the version is without effect, as in Kafka Connect
        assert validation.errors(props, worker(**settings)) == []

    @pytest.mark.parametrize(
        ("name", "visible", "default"),
        [("x.y.Z", False, None), ("", False, None), ("java.lang.String", True, None), ("JsonConverter ", True, None),
         ("JsonConverter", True, "4.3.0")],
    )  # fmt: skip
    def test_a_version_is_of_use_with_its_class(self, name, visible, default, worker):
        body = validation.validate(None, WELL | {"value.converter": name}, worker())
        shown = {e["value"]["name"]: (e["value"]["visible"], e["value"]["value"]) for e in body["configs"]}
        assert shown["value.converter.plugin.version"] == (visible, default)
        assert shown["key.converter.plugin.version"][0] is True

    @pytest.mark.parametrize("key", ["key.converter", "value.converter", "header.converter"])
    def test_a_converter_with_spaces_around_it_cannot_be_loaded(self, key, worker):
        for name in (" StringConverter", "org.apache.kafka.connect.storage.StringConverter\n"):
            assert errors_of(key, WELL | {key: name}, worker()) == [f"Failed to load class {name}: {name}"]
            assert len(validation.errors(WELL | {key: name}, worker())) == 1

    def test_the_workers_own_converter_is_not_checked_again(self, worker):
        props = WELL | {"value.converter.schemas.enable": "x"}
        assert validation.errors(props, worker(value_converter="JsonConverter")) == []


@pytest.mark.usefixtures("installed")
class TestChains:
    def test_a_version_that_is_not_there_leaves_only_class_and_version(self, worker):
        props = {f"transforms.x.{name}": value for name, value in (("type", "Filter"), ("plugin.version", "9"), ("negate", "x"))}
        body = validation.validate(None, WELL | {"transforms": "x", **props, "transforms.x.predicate": "p"}, worker())
        entries = {
            e["value"]["name"]: e["value"]["errors"] for e in body["configs"] if e["definition"]["group"] == "Transforms: x"
        }
        why = "Plugin org.apache.kafka.connect.transforms.Filter not found that matches the version range [9,9]"
        assert list(entries) == ["transforms.x.type", "transforms.x.plugin.version"]
        assert all(len(errors) == 1 and errors[0].startswith(why) for errors in entries.values())


@pytest.mark.usefixtures("installed")
class TestSinks:
    @pytest.mark.parametrize("given", [{"topics": ""}, {"topics": " "}, {"topics": None}])
    def test_one_of_topics_and_regex_is_needed(self, given, worker):
        assert "Must configure one of topics or topics.regex" in errors_of("topics", DRAIN | given, worker())
        assert errors_of("topics.regex", DRAIN | given, worker()) == ["Must configure one of topics or topics.regex"]

    def test_both_are_too_many(self, worker):
        sentence = "topics and topics.regex are mutually exclusive options, but both are set."
        assert validation.errors(DRAIN | {"topics.regex": "x"}, worker()) == [sentence, sentence]

    def test_the_dead_letter_queue_is_not_consumed(self, worker):
        dlq = {"errors.deadletterqueue.topic.name": " t "}
        listed = errors_of("topics", DRAIN | dlq | {"topics": "s,, t,t"}, worker())
        assert any("('topics=[s, t]')" in sentence for sentence in listed)
        assert validation.errors(DRAIN | {"topics": "s,t"} | dlq, worker()) == [
            "The DLQ topic 't' may not be included in the list of topics ('topics=[s, t]') consumed by the connector"
        ]
        assert validation.errors(DRAIN | {"topics": "", "topics.regex": "[tu]"} | dlq, worker()) == [
            "The DLQ topic 't' may not be matched by the regex for the topics ('topics.regex=[tu]') consumed by the connector"
        ]
        assert validation.errors(DRAIN | {"topics": "", "topics.regex": "tt"} | dlq, worker()) == []

    def test_a_topic_stands_in_the_list_once(self, worker):
        assert validation.errors(DRAIN | {"topics": "a,a"}, worker()) == ["Configuration 'topics' values must not be duplicated."]

    def test_its_group_may_not_be_that_of_the_workers(self, worker):
        clash = "conflicts with Connect worker group connect-cluster"
        assert validation.errors(DRAIN | {"name": "cluster"}, worker()) == [
            f"Consumer group for sink connector named cluster {clash}"
        ]
        override = {"consumer.override.group.id": "connect-cluster"}
        assert validation.errors(DRAIN | override, worker()) == [f"Consumer group connect-cluster {clash}"]
        assert validation.errors(DRAIN | {"name": "cluster", "consumer.override.group.id": "g"}, worker()) == []

    def test_a_worker_that_is_alone_has_no_group(self, tmp_path):
        alone = StandaloneConfig(WORKER | {"offset.storage.file.filename": str(tmp_path / "offsets")})
        assert validation.errors(DRAIN | {"name": "cluster"}, alone) == []


def test_a_class_that_was_asked_for_before_is_refused_in_the_words_of_kafkas_cache(worker):
    same = worker()
    said = [str(error_of(lambda name=name: validation.check({"connector.class": name}, same))) for name in ("X", "Y", "X")]
    assert said[2] == f"org.apache.kafka.connect.errors.ConnectException: {said[0]}"
    assert said[0].startswith("Failed to find any class") and said[1].startswith("Failed to find any class")


def test_an_abstract_connector_cannot_be_created(worker):
    for name in ("connector.Connector", "source.SourceConnector", "sink.SinkConnector"):
        config = {"connector.class": f"org.apache.kafka.connect.{name}"}
        assert str(error_of(lambda config=config: validation.check(config, worker()))) == "Instantiation error"


def error_of(call) -> BaseException:
    with pytest.raises(BadRequestError) as refused:
        call()
    return refused.value


@pytest.mark.usefixtures("installed")
class TestExactlyOnce:
    REQUIRED = WELL | {"exactly.once.support": "Required"}

    @pytest.mark.parametrize(
        ("bucket", "sentence"),
        [
            ("open", "The connector does not support exactly-once semantics with the provided configuration."),
            ("leaky", "An unexpected error occurred during validation: it leaks"),
            ("other", "The connector does not implement the API required for preflight validation of exactly-once source"),
        ],
    )
    def test_the_connector_is_asked(self, bucket, sentence, worker):
        found = validation.errors(self.REQUIRED | {"bucket": bucket}, worker(exactly_once_source_support="enabled"))
        assert [e[: len(sentence)] for e in found] == [sentence]

    def test_a_source_of_files_reads_its_options_first(self, worker):
        unread = "An unexpected error occurred during validation: Missing required configuration "
        source = {"connector.class": "FileStreamSource", "name": "f", "exactly.once.support": "required"}
        for file in ({}, {"file": "f"}):
            assert errors_of("exactly.once.support", source | file, worker(exactly_once_source_support="enabled")) == [
                unread + '"topic" which has no default value.'
            ]

    def test_a_connector_that_can_do_it_is_valid(self, worker):
        assert validation.errors(self.REQUIRED | {"bucket": "sealed"}, worker(exactly_once_source_support="enabled")) == []

    def test_the_worker_has_to_allow_it(self, worker):
        sentence = "This worker does not have exactly-once source support enabled."
        assert validation.errors(self.REQUIRED, worker()) == [sentence]
        assert validation.errors(self.REQUIRED, worker(exactly_once_source_support="preparing")) == [sentence]

    def test_a_connector_has_to_be_able_to_define_transactions(self, worker):
        props = WELL | {"transaction.boundary": "connector"}
        assert validation.errors(props, worker()) == []
        assert errors_of("transaction.boundary", props | {"bucket": "open"}, worker()) == [
            "The connector does not support connector-defined transaction boundaries with the given configuration. Please "
            "reconfigure it to use a different transaction boundary definition."
        ]


@pytest.mark.usefixtures("installed")
class TestOverrides:
    NONE = {"connector_client_config_override_policy": "None"}

    def test_only_the_clients_that_the_connector_uses_are_checked(self, worker):
        overrides = {"producer.override.acks": "1", "consumer.override.max.poll.records": "1", "admin.override.retries": "1"}
        refused = [c["value"]["name"] for c in self._with_errors(WELL | overrides, worker(**self.NONE))]
        assert refused == ["producer.override.acks"]
        refused = [c["value"]["name"] for c in self._with_errors(DRAIN | overrides, worker(**self.NONE))]
        assert refused == ["consumer.override.max.poll.records"]
        created = WELL | overrides | {"topic.creation.default.partitions": "1"}
        refused = [c["value"]["name"] for c in self._with_errors(created, worker(**self.NONE))]
        assert refused == ["producer.override.acks", "admin.override.retries"]

    def _with_errors(self, props, settings):
        return [c for c in validation.validate(None, props, settings)["configs"] if c["value"]["errors"]]

    def test_a_source_with_offsets_of_its_own_has_all_clients(self, worker):
        overrides = {"producer.override.acks": "1", "consumer.override.max.poll.records": "1", "admin.override.retries": "1"}
        for config, settings in (({"offsets.storage.topic": "o"}, {}), ({}, {"exactly_once_source_support": "enabled"})):
            refused = self._with_errors(WELL | overrides | config, worker(**self.NONE, **settings))
            assert [c["value"]["name"] for c in refused] == list(overrides)
        for config, settings in (({"offsets.storage.topic": " "}, {}), ({}, {"exactly_once_source_support": "preparing"})):
            refused = self._with_errors(WELL | overrides | config, worker(**self.NONE, **settings))
            assert "consumer.override.max.poll.records" not in [c["value"]["name"] for c in refused]

    def test_a_value_that_the_client_cannot_read_fails_the_request(self, worker):
        props = DRAIN | {"consumer.override.max.poll.records": "x"}
        sentence = "Invalid value x for configuration max.poll.records: Not a number of type INT"
        with pytest.raises(ConnectError) as error:
            validation.validate("Drain", props, worker())
        assert error.value.message == f"org.apache.kafka.common.config.ConfigException: {sentence}"
        with pytest.raises(ConnectError) as error:
            validation.check(props, worker())
        assert (type(error.value), error.value.message) == (ConnectError, sentence)


@pytest.mark.usefixtures("installed")
class TestDefinitions:
    def test_a_connector_shows_the_common_options_too(self):
        names = [d["name"] for d in validation.plugin_definitions(plugins.find("Well", Kind.SOURCE))]
        assert names[:3] == ["depth", "bucket", "name"]
        for exchange in exchanges("R25-plugins"):
            body, plugin = exchange["response"].get("body"), exchange["request"]["path"].split("/")[2:3]
            if plugin in (["FileStreamSource"], ["FileStreamSink"]) and isinstance(body, list):
                shown = validation.plugin_definitions(plugins.find(plugin[0], Kind.SOURCE, Kind.SINK))
                recorded = [d["name"] for d in body]
                assert [d["name"] for d in shown if d["name"] in recorded] == recorded

    def test_other_plugins_show_their_own(self):
        assert [d["name"] for d in validation.plugin_definitions(plugins.find("test.Shout", Kind.TRANSFORMATION))] == [
            "times",
            "what",
        ]
        assert "schemas.enable" in [d["name"] for d in validation.plugin_definitions(plugins.find("Json", Kind.CONVERTER))]
