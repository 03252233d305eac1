import pytest

from headrace.config.validators import (
    All,
    CaseInsensitiveValidString,
    Lambda,
    ListSize,
    NonEmptyString,
    NonEmptyStringWithoutControlChars,
    NonNull,
    Range,
    Regex,
    ValidList,
    ValidString,
)
from headrace.errors import ConfigError

CONTROL = "String may not contain control sequences but had the following ASCII chars: "


def invalid(value, why):
    return f"Invalid value {value} for configuration n: {why}"


@pytest.mark.parametrize(
    ("validator", "value", "message"),
    [
        (Range(1), None, invalid("null", "Value must be non-null")),
        (Range(1), 0, invalid("0", "Value must be at least 1")),
        (Range(1, 5), 6, invalid("6", "Value must be no more than 5")),
        (Range(0.5, 1.0), 1.5, invalid("1.5", "Value must be no more than 1.0")),
        (ValidString("x", "y"), "z", invalid("z", "String must be one of: x, y")),
        (ValidString("x", "y"), None, invalid("null", "String must be one of: x, y")),
        (CaseInsensitiveValidString("x", "y"), "z", invalid("z", "String must be one of (case insensitive): X, Y")),
        (CaseInsensitiveValidString("x"), None, invalid("null", "String must be one of (case insensitive): X")),
        (ValidList("x", "y"), ["z"], invalid("z", "String must be one of: x, y")),
        (ValidList(), None, "Configuration 'n' values must not be null."),
        (ValidList(), ["a", "a"], "Configuration 'n' values must not be duplicated."),
        (ValidList(), ["a", ""], "Configuration 'n' values must not be empty."),
        (
            ValidList(empty_ok=False),
            [],
            "Configuration 'n' must not be empty. Valid values include: any non-empty value",
        ),
        (ValidList("x", empty_ok=False), [], "Configuration 'n' must not be empty. Valid values include: [x]"),
        (NonEmptyString(), "", invalid("", "String must be non-empty")),
        (NonEmptyStringWithoutControlChars(), "", invalid("", "String may not be empty")),
        (NonEmptyStringWithoutControlChars(), "a\x01\nb", invalid("a\x01\nb", CONTROL + "1, 10")),
        (NonEmptyStringWithoutControlChars(), "a\x7f\x85", invalid("a\x7f\x85", CONTROL + "127, 133")),
        (NonNull(), None, invalid("null", "entry must be non null")),
        (ListSize(2), ["1", "2", "3"], invalid("[1, 2, 3]", "exceeds maximum list size of [2].")),
        (All(Range(1), Range(0, 3)), 9, invalid("9", "Value must be no more than 3")),
        (Regex(), "(", invalid("(", "Invalid regex: Unclosed group near index 1\n(")),
        (Regex(), ["a", "*"], invalid("*", "Invalid regex: Dangling meta character '*' near index 0\n*\n^")),
    ],
)
def test_a_bad_value_is_refused_in_kafkas_words(validator, value, message):
    with pytest.raises(ConfigError) as error:
        validator("n", value)
    assert error.value.message == message


@pytest.mark.parametrize(
    ("validator", "value"),
    [
        (Range(1, 5), 5),
        (Range(max=5), -5),
        (CaseInsensitiveValidString("x"), "X"),
        (ValidList(null_ok=True), None),
        (ValidList("x", "y"), ["y", "x"]),
        (NonEmptyString(), None),
        (NonEmptyStringWithoutControlChars(), " "),
        (Regex(), "x++(?<n>a)"),
        (Regex(in_java=True), "(?<=eu|asia)-.*"),
        (Lambda(lambda _n, _v: None, "anything"), object()),
    ],
)
def test_a_good_value_passes(validator, value):
    validator("n", value)


@pytest.mark.parametrize(
    ("validator", "text"),
    [
        (Range(1), "[1,...]"),
        (Range(max=2), "[...,2]"),
        (Range(1, 5), "[1,...,5]"),
        (ValidString("x", "y"), "[x, y]"),
        (CaseInsensitiveValidString("x"), "(case insensitive) [X]"),
        (ValidList("x"), "[x]"),
        (ValidList(), ""),
        (All(NonNull(), NonEmptyString()), "non-null string, non-empty string"),
        (Lambda(lambda _n, _v: None, "anything"), "anything"),
        (ListSize(3), "List containing maximum of 3 elements"),
        (NonEmptyStringWithoutControlChars(), "non-empty string without ISO control characters"),
        (Regex(), "valid regex"),
    ],
)
def test_a_rule_describes_the_values_it_allows(validator, text):
    assert str(validator) == text
