import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headrace.config import ConfigDef, Importance, Option, Recommender, Type, validators
from headrace.errors import ConfigError
from tests.support import own_messages


def found(definition, props):
    return {value.name: value for value in definition.validate(props)}


def test_absent_keys_get_their_default_and_unknown_ones_are_ignored():
    definition = ConfigDef([Option("a", Type.INT, 3), Option("l", Type.LIST, ["x"])])
    assert definition.parse({"zzz": "1"}) == {"a": 3, "l": ["x"]}


def test_a_missing_required_key_is_reported_as_kafka_does():
    definition = ConfigDef([Option("a", Type.INT)])
    message = 'Missing required configuration "a" which has no default value.'
    with pytest.raises(ConfigError) as error:
        definition.parse({})
    assert error.value.message == message
    assert found(definition, {})["a"].errors == [message]


def test_validation_finds_every_error_and_also_checks_the_null_that_a_failure_leaves():
    definition = ConfigDef([Option("tasks.max", Type.INT, 1, validator=validators.Range(1)), Option("b", Type.BOOLEAN, False)])
    values = found(definition, {"tasks.max": "x", "b": "y"})
    assert values["tasks.max"].value is None
    assert values["tasks.max"].errors == [
        "Invalid value x for configuration tasks.max: Not a number of type INT",
        "Invalid value null for configuration tasks.max: Value must be non-null",
    ]
    assert values["b"].errors == ["Invalid value y for configuration b: Expected value to be either true or false"]


def test_duplicates_are_dropped_when_read_but_an_error_when_validated(caplog):
    definition = ConfigDef([Option("l", Type.LIST, [], validator=validators.ValidList()), Option("m", Type.LIST, [])])
    with caplog.at_level(logging.WARNING):
        assert definition.parse({"l": "a,b,a", "m": "c,c"}) == {"l": ["a", "b"], "m": ["c", "c"]}
    assert 'Configuration key "l" contains duplicate values. Duplicates will be removed.' in own_messages(caplog)[0]
    values = found(definition, {"l": "a,b,a", "m": "c,c"})
    assert values["l"].errors == ["Configuration 'l' values must not be duplicated."]
    assert values["m"].errors == []


def test_a_name_can_be_defined_once():
    with pytest.raises(ConfigError, match=r"Configuration a is defined twice\."):
        ConfigDef([Option("a", Type.INT)]).extend(ConfigDef([Option("a", Type.INT)]))


def test_a_dependent_that_is_not_defined_is_an_error():
    definition = ConfigDef([Option("a", Type.INT, 1, dependents=("zz",))])
    with pytest.raises(ConfigError) as error:
        definition.parse({})
    assert error.value.message == "Some configurations in are referred in the dependents, but not defined: zz"
    value = found(definition, {})["zz"]
    assert (value.errors, value.visible) == (["zz is referred in the dependents, but not defined."], False)


def test_a_recommender_sees_the_other_values():
    recommender = Recommender(lambda _name, parsed: [parsed["b"]], lambda _name, parsed: parsed["b"] > 1)
    definition = ConfigDef([Option("a", Type.INT, 1, recommender=recommender), Option("b", Type.INT, 1)])
    assert (found(definition, {})["a"].recommended_values, found(definition, {})["a"].visible) == ([1], False)
    assert (found(definition, {"b": "2"})["a"].recommended_values, found(definition, {"b": "2"})["a"].visible) == ([2], True)


def test_a_recommender_that_fails_is_an_error_of_the_option():
    def fail(name, _parsed):
        raise ConfigError.invalid(name, "x", "no")

    definition = ConfigDef([Option("a", Type.INT, 1, recommender=Recommender(fail))])
    assert found(definition, {})["a"].errors == ["Invalid value x for configuration a: no"]


def test_options_sort_by_group_order_need_importance_and_name():
    definition = ConfigDef(
        [
            Option("z", Type.INT, 1, group="g", order=2),
            Option("y", Type.INT, 1, group="g", order=1),
            Option("d", Type.INT, 1, importance=Importance.LOW),
            Option("c", Type.INT, 1, importance=Importance.LOW),
            Option("b", Type.INT, 1, importance=Importance.HIGH),
            Option("a", Type.INT, importance=Importance.LOW),
        ]
    )
    assert [option.name for option in definition.sorted_options()] == ["a", "b", "c", "d", "y", "z"]


def test_options_without_effect_are_named_with_the_reason_where_they_are_set():
    definition = ConfigDef(
        [Option("a", Type.INT, 1, without_effect="it is 1"), Option("b", Type.INT, 1), Option("c", Type.INT, 1)]
    )
    assert definition.without_effect({"a": "2", "b": "2", "d": "2"}) == {"a": "it is 1"}
    assert definition.without_effect({"b": "2"}) == {}


TEXTS = st.one_of(st.none(), st.sampled_from(["", "true", "1", "0", "-3", "x", "1.5", "a,b", "a,,b"]), st.text(max_size=5))
LAW = ConfigDef(
    [
        Option("bool", Type.BOOLEAN, True),
        Option("int", Type.INT, 1, validator=validators.Range(0, 9)),
        Option("double", Type.DOUBLE, 1.0),
        Option("list", Type.LIST, ["a"], validator=validators.All(validators.NonNull(), validators.ListSize(2))),
        Option("one", Type.STRING, "x", validator=validators.ValidString("x", "")),
        Option("name", Type.STRING, validator=validators.NonEmptyString()),
    ]
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a loaded machine
@given(st.dictionaries(st.sampled_from([*LAW.names, "unknown"]), TEXTS))
def test_a_configuration_can_be_read_if_and_only_if_validation_finds_nothing(props):
    values = LAW.validate(props)
    errors = [error for value in values for error in value.errors]
    if errors:
        with pytest.raises(ConfigError) as error:
            LAW.parse(props)
        assert error.value.message == errors[0]
    else:
        assert LAW.parse(props) == {value.name: value.value for value in values}
