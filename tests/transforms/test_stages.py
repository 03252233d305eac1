import pytest

from headrace import plugins
from headrace.transforms.cast import Cast
from headrace.transforms.stages import stages

CAST = "org.apache.kafka.connect.transforms.Cast$Key"


def chain(**props):
    return stages({key.replace("_", "."): value for key, value in props.items()})


def test_there_is_a_stage_for_each_alias_in_order():
    first, second = chain(transforms="b,a", transforms_a_type="Filter", transforms_b_type=CAST, transforms_b_spec="x:INT8")
    assert (first.alias, second.alias) == ("b", "a")
    assert isinstance(first.transformation, Cast)
    assert (first.transformation.target, first.transformation.casts) == ("key", {"x": "int8"})
    assert (second.predicate, second.negate) == (None, False)


def test_every_use_of_a_predicate_has_an_instance_of_its_own():
    result = chain(
        transforms="a,b",
        transforms_a_type="Filter",
        transforms_a_predicate="p",
        transforms_b_type="Filter",
        transforms_b_predicate="p",
        predicates="p",
        predicates_p_type="HasHeaderKey",
        predicates_p_name="h",
    )
    assert [stage.predicate_alias for stage in result] == ["p", "p"]
    assert result[0].predicate is not result[1].predicate


@pytest.mark.parametrize(("text", "negate"), [("true", True), ("TRUE", True), ("false", False), (" true", False)])
def test_only_true_as_it_stands_negates(text, negate):
    props = {"predicates": "p", "predicates_p_type": "RecordIsTombstone", "transforms_a_predicate": "p"}
    (stage,) = chain(transforms="a", transforms_a_type="Filter", transforms_a_negate=text, **props)
    assert stage.negate is negate
    assert stage.transformation.originals == {"type": "Filter"}  # KIP-585: the transformation sees neither of the two


def test_key_and_value_are_plugins_without_a_short_name():
    key, value = plugins.find(CAST), plugins.find(CAST.replace("Key", "Value"))
    assert (key, value) == (Cast.Key, Cast.Value)
    assert key.plugin_aliases == set()
