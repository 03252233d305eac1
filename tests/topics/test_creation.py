# pyright: reportOptionalMemberAccess=false, reportArgumentType=false
# None, for a topic that is not created, fails the test.

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.config import REQUIRED, ConfigDef
from headrace.connect_config.topic_creation import GROUPS, documented_options
from headrace.errors import ConfigError
from headrace.topics.creation import TopicCreation, topic_creation
from tests.support import captured_logs

DEFAULT = {"topic.creation.default.partitions": "2", "topic.creation.default.replication.factor": "1"}
REPLICATION_FACTOR_RULE = (
    "Replication factor must be positive and not larger than the number of brokers in the Kafka cluster, "
    "or -1 to use the broker's default"
)
PARTITIONS_RULE = "Number of partitions must be positive, or -1 to use the broker's default"


def of(props) -> TopicCreation:
    creation = topic_creation(props)
    assert creation is not None
    return creation


def prefixed(**props) -> dict[str, str]:
    return {"topic.creation." + key.replace("__", "."): value for key, value in props.items()}


class TestWhetherTopicsAreCreated:
    def test_not_without_any_property(self):
        assert topic_creation({"topic": "t", "topic.creation": ""}) is None

    def test_not_if_the_worker_forbids_it_and_then_nothing_is_checked(self):
        props = prefixed(default__partitions="x", groups="g,g", g__include="(")
        assert topic_creation(props, enabled=False) is None

    def test_with_the_single_default_of_the_proposal(self):
        creation = of({**DEFAULT, **prefixed(default__cleanup__policy="compact", default__min__insync__replicas="2")})
        plan = creation.new_topic("anything")
        assert creation.groups == ()
        assert (plan.partitions, plan.replication_factor) == (2, 1)
        assert plan.configs == {"cleanup.policy": "compact", "min.insync.replicas": "2"}

    @pytest.mark.parametrize("key", ["topic.creation.groups", "topic.creation.foo", "topic.creation.default.x"])
    def test_any_property_makes_the_default_group_necessary(self, key):
        with pytest.raises(ConfigError) as error:
            topic_creation({key: ""})
        assert str(error.value) == (
            'Missing required configuration "topic.creation.default.replication.factor" which has no default value.'
        )


class TestRules:
    PROPS = {
        **DEFAULT,
        **prefixed(
            default__retention__bytes="1000000",
            groups="first,second,nothing",
            first__include="in-.*",
            first__exclude="in-no.*",
            first__partitions="5",
            second__include="in-.*,both.*",
            second__retention__ms="1000",
            nothing__partitions="9",
            ghost__include="ghost.*",
            ghost__partitions="7",
        ),
    }

    @pytest.mark.parametrize(
        ("topic", "group", "partitions", "configs"),
        [
            ("in-one", "first", 5, {}),
            ("in-no-two", "second", 2, {"retention.ms": "1000"}),
            ("both-three", "second", 2, {"retention.ms": "1000"}),
            ("both", "second", 2, {"retention.ms": "1000"}),
            ("prefix-in-four", "default", 2, {"retention.bytes": "1000000"}),
            ("ghost-five", "default", 2, {"retention.bytes": "1000000"}),
        ],
    )
    def test_the_first_group_in_the_list_that_matches_the_whole_name_wins(self, topic, group, partitions, configs):
        plan = of(self.PROPS).new_topic(topic)
        assert (plan.group.name, plan.partitions, plan.configs) == (group, partitions, configs)

    def test_the_order_of_the_list_decides(self):
        creation = of({**self.PROPS, "topic.creation.groups": "second,first"})
        assert creation.rule_for("in-six").name == "second"

    def test_default_in_the_list_is_ignored_with_a_warning(self):
        with captured_logs() as logs:
            creation = of({**self.PROPS, "topic.creation.groups": "default, first"})
        assert [g.name for g in creation.groups] == ["first"]
        assert [(entry["log_level"], entry["event"]) for entry in logs] == [
            ("warning", "'default' topic creation group always exists and does not need to be listed explicitly")
        ]

    def test_the_default_group_is_for_every_topic_whatever_its_patterns(self):
        creation = of({**DEFAULT, **prefixed(default__include="[", default__exclude=".*")})
        assert creation.rule_for("x").name == "default"
        assert "inclusionPattern=.*, exclusionPattern=," in str(creation.default)

    def test_an_empty_include_matches_nothing(self):
        creation = of({**DEFAULT, **prefixed(groups="e,f", e__include="", e__partitions="4", f__exclude="")})
        assert creation.rule_for("x.y").name == "default"

    def test_a_java_pattern_is_read_as_java_does(self):
        creation = of({**DEFAULT, **prefixed(groups="g", g__include=r"(?i)orders, \p{Alpha}\d++, [a-z&&[^x]]-\Q.\E")})
        assert [creation.rule_for(t).name for t in ("ORDERS", "Q12", "b-.", "x-.", "b-x")] == ["g"] * 3 + ["default"] * 2

    def test_minus_one_leaves_a_number_to_the_broker(self):
        plan = of(prefixed(default__partitions="-1", default__replication__factor="-1")).new_topic("t")
        assert (plan.partitions, plan.replication_factor) == (-1, -1)


class TestRendering:
    def test_of_a_group(self):
        props = {**DEFAULT, **prefixed(groups="g", g__include="a, b", g__exclude="c", g__retention__ms="1")}
        assert str(of(props).groups[0]) == (
            "TopicCreationGroup{name='g', inclusionPattern=a|b, exclusionPattern=c, numPartitions=2, "
            "replicationFactor=1, otherConfigs={retention.ms=1}}"
        )

    def test_of_a_topic(self):
        props = {**prefixed(default__partitions="5", default__replication__factor="3", default__a="1", default__b="2")}
        assert str(of(props).new_topic("T")) == (
            "(name=T, numPartitions=5, replicationFactor=3, replicasAssignments=null, configs={a=1, b=2})"
        )
        assert str(of(DEFAULT).default) == (
            "TopicCreationGroup{name='default', inclusionPattern=.*, exclusionPattern=, numPartitions=2, "
            "replicationFactor=1, otherConfigs={}}"
        )


def messages():
    one = prefixed(default__partitions="1", default__replication__factor="1")
    invalid = "Invalid value {} for configuration {}: {}".format
    missing = 'Missing required configuration "topic.creation.default.{}" which has no default value.'.format
    partitions, factor = "topic.creation.default.partitions", "topic.creation.default.replication.factor"
    group = {**one, **prefixed(groups="a", a__include="x")}
    yield prefixed(default__partitions="1"), missing("replication.factor")
    yield prefixed(default__replication__factor="1"), missing("partitions")
    yield prefixed(groups="g"), missing("replication.factor")
    yield {**one, partitions: ""}, invalid("", partitions, "Not a number of type INT")
    yield {**one, partitions: "0"}, invalid("0", "partitions", PARTITIONS_RULE)
    yield {**one, partitions: "-2"}, invalid("-2", "partitions", PARTITIONS_RULE)
    yield {**one, factor: "0"}, invalid("0", "replication.factor", REPLICATION_FACTOR_RULE)
    yield {**one, factor: "-2"}, invalid("-2", "replication.factor", REPLICATION_FACTOR_RULE)
    yield {factor: "y", partitions: "x"}, invalid("y", factor, "Not a number of type SHORT")
    yield {**one, factor: "99999"}, invalid("99999", factor, "Not a number of type SHORT")
    yield {**one, **prefixed(groups="a,b,a")}, invalid("[a, b, a]", "topic.creation.groups", "Duplicate alias provided.")
    syntax = "Syntax error in regular expression: "
    unclosed = syntax + "Unclosed character class near index 0\n[\n^"
    dangling = syntax + "Dangling meta character '*' near index 0\n*bad\n^"
    yield {**group, **prefixed(a__include="[")}, invalid("[[]", "include", unclosed)
    yield {**group, **prefixed(a__exclude="ok,*bad")}, invalid("[ok, *bad]", "exclude", dangling)
    yield (
        {**group, **prefixed(a__partitions="0", a__replication__factor="-5")},
        invalid("-5", "replication.factor", REPLICATION_FACTOR_RULE),
    )
    yield {**group, **prefixed(a__partitions="x")}, invalid("x", "topic.creation.a.partitions", "Not a number of type INT")


@pytest.mark.parametrize(("props", "message"), list(messages()))
def test_the_first_problem_is_told_in_kafkas_words(props, message):
    with pytest.raises(ConfigError) as error:
        topic_creation(props)
    assert str(error.value) == message


def test_duplicate_groups_are_found_by_the_one_option_that_rest_validates():
    (value,) = ConfigDef([GROUPS]).validate({"topic.creation.groups": "a, a"})
    assert value.errors == ["Invalid value [a, a] for configuration topic.creation.groups: Duplicate alias provided."]


def test_the_docs_show_every_option_once():
    options = documented_options().options
    required = [name for name, option in options.items() if option.default is REQUIRED]
    assert required == ["topic.creation.default.replication.factor", "topic.creation.default.partitions"]
    assert "topic.creation.<group>.include" in options
    assert all(option.doc for option in options.values())


NAMES = ["a", "ab", "b", "ba", "abc", "c", "x"]
patterns = st.lists(st.sampled_from(["a", "a.*", ".*b", "c", ".*", "x|a", "(?i)B"]), max_size=3)
groups = st.lists(
    st.fixed_dictionaries(
        {"include": patterns, "exclude": patterns, "partitions": st.none() | st.integers(1, 9), "setting": st.booleans()}
    ),
    max_size=4,
)


def props_of(groups) -> dict[str, str]:
    props = {**DEFAULT, "topic.creation.default.retention.ms": "7"}
    props["topic.creation.groups"] = ",".join(f"g{n}" for n in range(len(groups)))
    for n, group in enumerate(groups):
        prefix = f"topic.creation.g{n}."
        props[prefix + "include"] = ",".join(group["include"])
        props[prefix + "exclude"] = ",".join(group["exclude"])
        if group["partitions"]:
            props[prefix + "partitions"] = str(group["partitions"])
        if group["setting"]:
            props[prefix + "cleanup.policy"] = "compact"
    return props


@given(groups, st.sampled_from(NAMES))
def test_the_first_match_wins_and_exclusion_beats_inclusion(groups, topic):
    creation = of(props_of(groups))

    def alone(patterns) -> bool:
        only = of({**DEFAULT, **prefixed(groups="g", g__include=",".join(patterns))})
        return only.rule_for(topic).name == "g"

    matching = [n for n, g in enumerate(groups) if alone(g["include"]) and not alone(g["exclude"])]
    assert creation.rule_for(topic).name == (f"g{matching[0]}" if matching else "default")


@given(groups, st.sampled_from(NAMES))
def test_only_partitions_and_replication_factor_are_inherited(groups, topic):
    plan = of(props_of(groups)).new_topic(topic)
    assert plan.replication_factor == 1
    if plan.group.name == "default":
        assert (plan.partitions, plan.configs) == (2, {"retention.ms": "7"})
    else:
        group = groups[int(plan.group.name[1:])]
        assert plan.partitions == (group["partitions"] or 2)
        assert plan.configs == ({"cleanup.policy": "compact"} if group["setting"] else {})


@given(st.permutations(list(TestRules.PROPS.items())))
def test_the_order_of_properties_does_not_matter(items):
    shuffled, want = of(dict(items)), of(TestRules.PROPS)
    assert [shuffled.new_topic(t) for t in NAMES] == [want.new_topic(t) for t in NAMES]


class TestRulesOfTheEarlierRevision:
    PROPS = {
        "topic.creation": "firstRule,rest",
        **prefixed(
            firstRule__regex="MyPrefix.*", firstRule__partitions="5", firstRule__cleanup__policy="compact", rest__regex="X.Z",
        ),
    }  # fmt: skip

    def test_the_first_rule_whose_pattern_matches_the_whole_name_counts(self):
        first = of(self.PROPS).new_topic("MyPrefixABC")
        assert (first.partitions, first.replication_factor, first.configs) == (5, 3, {"cleanup.policy": "compact"})
        assert first.group.name == "firstRule"

    def test_the_numbers_are_those_of_the_proposal_unless_the_rule_says_otherwise(self):
        rest = of(self.PROPS).new_topic("XYZ")
        assert (rest.partitions, rest.replication_factor, rest.configs) == (1, 3, {})

    def test_what_no_rule_matches_is_not_created(self):
        assert of(self.PROPS).new_topic("XYZZ") is None

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"topic.creation.rest.regex": "("}, "Invalid value ( for configuration topic.creation.rest.regex: "),
            ({"topic.creation.rest.partitions": "0"}, f"Invalid value 0 for configuration partitions: {PARTITIONS_RULE}"),
            ({"topic.creation": "firstRule,none"}, 'Missing required configuration "topic.creation.none.regex"'),
            ({"topic.creation.groups": "g"}, "Invalid value firstRule,rest for configuration topic.creation: rules and groups "),
            (
                {"topic.creation.default.partitions": "1"},
                "Invalid value firstRule,rest for configuration topic.creation: rules and the default group "
                "(topic.creation.default.…) exclude each other; use one",
            ),
            (
                {"topic.creation.rest.include": "x"},
                "Invalid value firstRule,rest for configuration topic.creation: topic.creation.rest.include is an option of "
                "groups; a rule has one regex",
            ),
        ],
    )
    def test_what_is_wrong_with_a_rule_is_said(self, change, sentence):
        with pytest.raises(ConfigError) as error:
            topic_creation(self.PROPS | change)
        assert str(error.value).startswith(sentence)

    def test_a_rule_may_be_called_as_the_default_group_is(self):
        named = {"topic.creation": "default", **prefixed(default__regex="x", default__partitions="4")}
        assert (of(named).new_topic("x").partitions, of(named).new_topic("y")) == (4, None)

    def test_the_name_of_a_rule_may_begin_as_that_of_the_default_group(self):
        named = {"topic.creation": "default.eu", **prefixed(default__eu__regex="x", default__eu__partitions="4")}
        assert of(named).new_topic("x").partitions == 4

    def test_a_blank_text_names_no_rules(self):
        assert topic_creation({"topic.creation": " "}) is None
        assert of({**DEFAULT, "topic.creation": " "}).new_topic("t").partitions == 2
        assert of({**self.PROPS, "topic.creation.groups": " "}).new_topic("XYZ").partitions == 1
