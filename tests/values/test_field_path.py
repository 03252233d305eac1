"""The paths are those that Kafka's SingleFieldPath makes of these texts."""

import pytest

from headrace.errors import ConfigError
from headrace.values.field_path import field_path


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", ()),
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ("a.", ("a", "")),
        (".", ("", "")),
        ("`a.b`.c", ("a.b", "c")),
        ("a.`b.c`", ("a", "b.c")),
        ("`a`b`", ("a`b",)),  # a backtick closes before a dot or the end only
        ("`a\\`.b`.c", ("a`.b", "c")),
        ("a`b.c", ("a`b", "c")),
    ],
)
def test_dots_separate_steps_unless_backticks_quote_them(text, steps):
    assert field_path(text) == steps


@pytest.mark.parametrize(("text", "at"), [("`", 0), ("`a", 0), ("a.`b", 2), ("`a\\`", 0)])
def test_a_backtick_that_is_not_closed_is_refused(text, at):
    with pytest.raises(ConfigError) as error:
        field_path(text)
    assert str(error.value) == (
        f"Incomplete backtick pair in path: [{text}], consider adding a backslash before backtick at position {at} to escape it"
    )
