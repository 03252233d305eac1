import pytest

from headrace.transforms.date_pattern import date_pattern


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("", ()),
        ("yyyy-MM", (("y", 4), "-", ("M", 2))),
        ("HH 'o''clock'", (("H", 2), " o'clock")),
        ("d''d", (("d", 1), "'", ("d", 1))),
        ("XXX", (("X", 3),)),
    ],
)
def test_runs_of_a_letter_are_parts_and_the_rest_stands_for_itself(pattern, parts):
    assert date_pattern(pattern) == parts


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("bad", "Illegal pattern character 'b'"),
        ("yyyy'T", "Unterminated quote"),
        ("XXXX", "invalid ISO 8601 format: length=4"),
    ],
)
def test_what_java_refuses_is_refused_in_its_words(pattern, why):
    with pytest.raises(ValueError, match=why):
        date_pattern(pattern)
