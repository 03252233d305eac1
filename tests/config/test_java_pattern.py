"""`java_patterns.jsonl` holds what java.util.regex of JDK 17 made of these patterns: the subjects that match, or the error."""

import json
from pathlib import Path

import pytest

from headrace.config.java_pattern import JavaRegexError, java_regex

_LINES = [json.loads(line) for line in Path(__file__).with_name("java_patterns.jsonl").read_text().splitlines()]
SUBJECTS = _LINES[0]["subjects"]
CASES = _LINES[1:]


@pytest.mark.parametrize("case", [c for c in CASES if "matches" in c], ids=lambda c: c["pattern"])
def test_a_pattern_matches_what_it_matches_in_java(case):
    regex = java_regex(case["pattern"])
    assert [s for s in SUBJECTS if regex.fullmatch(s)] == case["matches"]


@pytest.mark.parametrize("case", [c for c in CASES if "error" in c], ids=lambda c: c["pattern"])
def test_an_error_has_the_words_of_java(case):
    with pytest.raises(JavaRegexError) as error:
        java_regex(case["pattern"])
    assert str(error.value) == case["error"]


@pytest.mark.parametrize("pattern", [r"(?<=a*)b", r"(a\1)"])
def test_what_python_cannot_do_is_said(pattern):
    with pytest.raises(JavaRegexError, match="This pattern cannot be used in headrace: "):
        java_regex(pattern)
