import pytest

from headrace import plugins
from headrace.config import Option, Type
from headrace.connect_config.enrich import chain_definition, common_definition
from headrace.errors import ConfigError
from tests.connect_config.conftest import Shout

pytestmark = pytest.mark.usefixtures("installed")
STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"


def definition(**props):
    props = {key.replace("_", "."): value for key, value in props.items()}
    converters = {"key.converter": STRING, "value.converter": STRING}
    return common_definition(plugins.find("test.Well"), props, converters)


def values(**props):
    props = {key.replace("_", "."): value for key, value in props.items()}
    return {value.name: value for value in definition(**props).validate(props)}


def test_converters_default_to_those_of_the_worker():
    options = definition().options
    assert options["key.converter"].default == STRING
    assert options["connector.plugin.version"].default == "1.2.3"


def test_an_alias_of_a_converter_becomes_its_full_name():
    assert values(value_converter="Json")["value.converter"].value == JSON


def test_recommended_are_the_converters_that_are_installed():
    assert {JSON, STRING} <= set(values()["key.converter"].recommended_values)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("NoSuch", "Invalid value NoSuch for configuration value.converter: Class NoSuch could not be found."),
        ("test.Shout", "Class class test.Shout does not implement the Converter interface"),
    ],
)
def test_a_class_that_is_no_converter_is_refused(name, error):
    assert values(value_converter=name)["value.converter"].errors == [error]


@pytest.mark.parametrize("kind", ["avro.AvroConverter", "protobuf.ProtobufConverter", "json.JsonSchemaConverter"])
def test_a_converter_with_a_registry_is_none_of_headers(kind):
    name = f"io.confluent.connect.{kind}"
    assert values(value_converter=name)["value.converter"].errors == []
    sentence = f"Class class {name} does not implement the HeaderConverter interface"
    assert values(header_converter=name)["header.converter"].errors == [sentence]


def test_every_alias_of_a_transformation_adds_the_options_of_its_class():
    found = definition(transforms=" a , b ", transforms_a_type="Shout", transforms_b_type="test.Shout")
    added = [o for o in found.options.values() if o.group == "Transforms: a"]
    assert [(o.name, o.order) for o in added] == [
        ("transforms.a.type", 0),
        ("transforms.a.plugin.version", 1),
        ("transforms.a.what", 2),  # required and important ones first, as in Kafka
        ("transforms.a.negate", 3),
        ("transforms.a.predicate", 4),
        ("transforms.a.times", 5),
    ]
    assert "transforms.b.times" in found.options
    assert found.options["transforms.a.type"].display_name == "Transformation type for a"


def test_a_missing_option_of_a_transformation_has_the_prefix_in_its_sentence_and_a_bad_one_has_not():
    found = values(transforms="a", transforms_a_type="test.Shout", transforms_a_times="0")
    assert found["transforms.a.what"].errors == ['Missing required configuration "transforms.a.what" which has no default value.']
    assert found["transforms.a.times"].errors == ["Invalid value 0 for configuration times: Value must be at least 1"]


def test_an_alias_without_class_or_with_a_wrong_one_only_has_its_type():
    missing, wrong = values(transforms="a"), values(transforms="a", transforms_a_type="test.IsLoud")
    assert missing["transforms.a.type"].errors == [
        'Missing required configuration "transforms.a.type" which has no default value.'
    ]
    assert wrong["transforms.a.type"].errors == ["Class class test.IsLoud does not implement the Transformation interface"]
    assert "transforms.a.negate" not in missing | wrong


def test_negate_needs_a_predicate():
    found = values(transforms="a", transforms_a_type="test.Shout", transforms_a_what="x", transforms_a_negate="true")
    assert found["transforms.a.type"].errors == [
        "Config 'transforms.a.negate' was provided but there is no config 'transforms.a.predicate' defining a predicate "
        "to be negated."
    ]


def test_options_of_a_transformation_that_are_called_like_those_of_every_one_are_masked(events):
    class Masked(Shout):
        own = (Option("negate", Type.INT, 7), Option("predicate", Type.INT))

    plugins.plugin("test.Masked", "transformation")(Masked)
    found = definition(transforms="a", transforms_a_type="test.Masked").options
    assert [found[f"transforms.a.{name}"].default for name in ("predicate", "negate")] == [None, False]
    masked = [event for event in events if "is masked" in event["event"]]  # a worker of another test may log, too
    assert [(e["log_level"], e["event"]) for e in masked] == [
        ("warning", f"Transformer config {name} is masked by implicit config of that name") for name in ("negate", "predicate")
    ]


@pytest.mark.parametrize(("key", "kind"), [("transforms", "transformation"), ("predicates", "predicate")])
def test_a_short_name_that_fits_several_classes_names_none(key, kind):
    for name in ("one.Twin", "other.Twin"):
        plugins.plugin(name, kind)(type("Twin", (Shout,), {}))
    sentence = f"Invalid value Twin for configuration {key}.a.type: Class Twin could not be found."
    assert values(**{key: "a", f"{key}_a_type": "Twin"})[f"{key}.a.type"].errors == [sentence]
    assert values(value_converter="Twin")["value.converter"].errors == [sentence.replace(f"{key}.a.type", "value.converter")]
    with pytest.raises(ConfigError, match="Class Twin could not be found"):
        chain_definition({key: "a", f"{key}.a.type": "Twin"})
    assert not values(**{key: "a", f"{key}_a_type": "other.Twin", f"{key}_a_what": "x"})[f"{key}.a.type"].errors


def test_predicates_have_their_own_options_only():
    found = definition(predicates="p", predicates_p_type="IsLoud")
    assert [name for name in found.options if name.startswith("predicates.p.")] == [
        "predicates.p.type",
        "predicates.p.plugin.version",
        "predicates.p.level",
    ]


def test_an_alias_given_twice_is_reported_once_and_defined_once():
    assert values(transforms="a,a", transforms_a_type="test.Shout")["transforms"].errors == [
        "Invalid value [a, a] for configuration transforms: Duplicate alias provided."
    ]


@pytest.mark.parametrize(("key", "name"), [("transforms", "Shout"), ("transforms", "test.Shout"), ("predicates", "test.IsLoud")])
@pytest.mark.parametrize("spaces", [" {}", "{} ", "\t{}\n"])
def test_a_type_with_spaces_around_it_is_a_class_without_options(key, name, spaces):
    text = spaces.format(name)
    found = values(**{key: "a", f"{key}_a_type": text})
    assert not found[f"{key}.a.type"].errors
    assert found[f"{key}.a.plugin.version"].value is None
    assert [name for name in found if name.startswith(f"{key}.a.")] == [f"{key}.a.type", f"{key}.a.plugin.version"]
    interface = "Transformation" if key == "transforms" else "Predicate"
    with pytest.raises(ConfigError) as started:
        chain_definition({key: "a", f"{key}.a.type": text})
    assert str(started.value) == (
        f"Invalid value {text} for configuration {key}.a.type: Error getting config definition from {interface}: {text}"
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("java.lang.String", "Class class {} does not implement the {} interface"),
        ("java.util.Map", "Class interface {} does not implement the {} interface"),
        ("org.apache.kafka.common.serialization.StringSerializer", "Class class {} does not implement the {} interface"),
        ("org.apache.kafka.connect.mirror.MirrorSourceConnector", "Class class {} does not implement the {} interface"),
        ("org.apache.kafka.connect.sink.SinkTask", "Class class {} does not implement the {} interface"),
        ("org.apache.kafka.connect.transforms.Transformation", "This class is abstract and cannot be created."),
        ("org.apache.kafka.connect.transforms.predicates.Predicate", "This class is abstract and cannot be created."),
        ("org.apache.kafka.connect.storage.Converter", "This class is abstract and cannot be created."),
        ("org.apache.kafka.connect.converters.NumberConverter", "This class is abstract and cannot be created."),
        ("java.lang.NoSuch", "Invalid value {0} for configuration {2}: Class {0} could not be found."),
    ],
)
def test_a_class_of_java_that_is_no_plugin_is_there_but_cannot_be_used(name, sentence):
    for option, interface in (
        ("transforms.a.type", "Transformation"), ("predicates.a.type", "Predicate"),
        ("value.converter", "Converter"), ("header.converter", "HeaderConverter"),
    ):  # fmt: skip
        text = sentence
        if "abstract" in text and not (name.endswith(f".{interface}") or ("Number" in name and "Converter" in interface)):
            text = f"Class {'class' if 'Number' in name else 'interface'} {{}} does not implement the {{}} interface"
        given = {option.partition(".")[0]: "a"} if option.endswith("type") else {}
        found = values(**given, **{option: name})[option]
        assert found.errors == [text.format(name, interface, option)]
        assert found.value == (None if "could not be found" in text else name)


@pytest.mark.parametrize("name", ["org.apache.kafka.connect.storage.StringConverter", "StringConverter"])
def test_a_class_of_two_kinds_is_neither_transformation_nor_predicate(name):
    sentence = "Class class org.apache.kafka.connect.storage.StringConverter does not implement the {} interface"
    assert values(transforms="a", **{"transforms.a.type": name})["transforms.a.type"].errors == [
        sentence.format("Transformation")
    ]
    assert values(predicates="a", **{"predicates.a.type": name})["predicates.a.type"].errors == [sentence.format("Predicate")]


def test_the_version_of_a_type_is_checked_with_its_class():
    asked = {"transforms": "a", "transforms.a.plugin.version": "("}
    version = "transforms.a.plugin.version"
    assert values(**asked)[version].errors == []
    assert values(**asked, **{"transforms.a.type": "Shout"})[version].errors == ["Unbounded range: ("]
    padded = values(**asked | {version: "9"}, **{"transforms.a.type": " Shout"})
    assert padded[version].errors == []
    assert padded["transforms.a.type"].errors[0].startswith("Plugin test.Shout not found that matches the version range [9,9]")


def test_a_converter_with_spaces_around_it_is_one():
    assert values(value_converter=f" {JSON} ")["value.converter"].value == JSON
