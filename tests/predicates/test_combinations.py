import pytest

from headrace.connect_config.enrich import chain_definition
from headrace.errors import ConfigError
from headrace.transforms.stages import stages
from tests.predicates.holds import holds

A = {"type": "headrace.predicates.Sql", "condition": "value:a::boolean"}
B = {"type": "headrace.predicates.Sql", "condition": "value:b::boolean"}


@pytest.mark.parametrize("a", [True, False])
@pytest.mark.parametrize("b", [True, False])
def test_and_or_and_not_are_what_their_names_say(spark, a, b):
    def combined(kind, **options):
        return holds({"p": {"type": f"headrace.predicates.{kind}", **options}, "a": A, "b": B}, {"a": a, "b": b})

    assert combined("And", predicates="a,b") is (a and b)
    assert combined("Or", predicates="a, b") is (a or b)
    assert combined("Not", predicate="b") is (not b)


def test_combinations_nest(spark):
    both, either = {"type": "And", "predicates": "either,no"}, {"type": "Or", "predicates": "a,b"}
    no = {"type": "Not", "predicate": "b"}
    result = [holds({"p": both, "either": either, "no": no, "a": A, "b": B}, {"a": a, "b": not a}) for a in (True, False)]
    assert result == [True, False]


def test_what_need_not_be_asked_does_not_fail(spark):
    bad = {"type": "headrace.predicates.Sql", "condition": "value:x::int = 1"}
    value = {"a": False, "b": True, "x": "?"}
    assert holds({"p": {"type": "And", "predicates": "a,x"}, "a": A, "x": bad}, value) is False
    assert holds({"p": {"type": "Or", "predicates": "b,x"}, "b": B, "x": bad}, value) is True
    said = holds({"p": {"type": "And", "predicates": "b,x"}, "b": B, "x": bad}, value)
    assert str(said).startswith("The expression")


def configured(**predicates):
    props = {"transforms": "f", "transforms.f.type": "Filter", "transforms.f.predicate": "p", "predicates": ",".join(predicates)}
    for alias, (kind, text) in predicates.items():
        option = "predicate" if kind == "Not" else "predicates"
        props |= {f"predicates.{alias}.type": f"headrace.predicates.{kind}", f"predicates.{alias}.{option}": text}
    return props


@pytest.mark.parametrize(
    ("predicates", "sentence"),
    [
        ({"p": ("And", "gone")}, "Unknown configuration 'predicates.gone.plugin.version'"),
        ({"p": ("Not", "p")}, "Predicate p is a part of itself: p -> p"),
        ({"p": ("And", "q"), "q": ("Or", "r"), "r": ("Not", "p")}, "Predicate p is a part of itself: p -> q -> r -> p"),
        ({"p": ("And", "")}, "must not be empty"),
        ({"p": ("Not", "")}, "String must be non-empty"),
    ],
)
def test_aliases_that_lead_nowhere_are_refused_by_validation_and_at_start(predicates, sentence):
    props = configured(**predicates)
    errors = [
        e for value in chain_definition(props).validate(props) for e in value.errors if value.name.startswith("predicates.p.")
    ]
    assert [e for e in errors if sentence in e]
    with pytest.raises(ConfigError, match=sentence):
        stages(props)


def test_a_combination_of_predicates_by_topic_is_one():
    topic = {"predicates.t.type": "TopicNameMatches", "predicates.t.pattern": "a"}
    props = {**configured(p=("Not", "t")), "predicates": "p,t", **topic}
    (stage,) = stages(props)
    assert stage.predicate and stage.predicate.by_topic
