import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.connectors.kafka_source.pattern import check_whitelist, normalize, whitelist_pattern
from headrace.errors import ConfigError


@pytest.mark.parametrize(
    ("whitelist", "regex"),
    [
        ("topic", "topic"),
        ("topic, topic-prefix*", "topic|topic-prefix*"),
        (" a , b ", "a|b"),
        ("'a,b'", "a|b"),
        ('"\'a b"', "ab"),
        ("it's", "it's"),
        ("a{1,2}", "a{1|2}"),
    ],
)
def test_commas_blanks_and_quotes(whitelist, regex):
    assert normalize(whitelist) == regex


@pytest.mark.parametrize(
    ("whitelist", "topics"),
    [
        ("topic, topic-prefix*", {"topic", "topic-prefix", "topic-prefixx"}),  # a regular expression, not a glob
        ("topic-prefix.*", {"topic-prefix", "topic-prefix-1", "topic-prefixx"}),
        ("opic", set()),
        ("(?i)TOPIC", {"topic"}),
    ],
)
def test_the_whole_name_has_to_match(whitelist, topics):
    names = {"topic", "topic-prefix", "topic-prefix-1", "topic-prefixx", "my-topic"}
    assert {name for name in names if whitelist_pattern(whitelist).fullmatch(name)} == topics


@given(st.lists(st.text("abc019._-", min_size=1, max_size=8), min_size=1, max_size=5))
def test_a_list_of_names_matches_these(names):
    pattern = whitelist_pattern(", ".join(names))
    assert all(pattern.fullmatch(name) for name in names)


@pytest.mark.parametrize(("whitelist", "regex"), [("(", "("), ("a, *b", "a|*b"), ("[", "[")])
def test_an_invalid_pattern_is_named_with_its_option(whitelist, regex):
    with pytest.raises(ConfigError) as error:
        whitelist_pattern(whitelist)
    assert str(error.value) == f"{regex} is an invalid regex for config source.topic.whitelist"


@pytest.mark.parametrize("whitelist", ["", "  ", "''", None])
def test_an_empty_whitelist_is_an_error(whitelist):
    with pytest.raises(ConfigError, match="the regular expression is empty"):
        check_whitelist("source.topic.whitelist", whitelist)
