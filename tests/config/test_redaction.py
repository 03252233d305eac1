"""What config providers gave is kept out of texts, trees, errors and the log."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from headrace.config import redaction
from headrace.errors import ConfigError, RestError
from headrace.runtime import logs
from tests.support import log_restored


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What is logged during the test, as a worker writes it."""
    stream = io.StringIO()
    with log_restored():
        logs.configure(stream, "INFO")
        yield stream


def test_a_value_is_replaced_wherever_it_stands() -> None:
    redaction.remember("s3cr3t", "${env:PW}")
    assert redaction.redact("a s3cr3t, and xs3cr3tx") == "a ${env:PW}, and x${env:PW}x"
    assert redaction.redact("nothing") == "nothing"


def test_a_short_value_is_left() -> None:
    redaction.remember("abc", "${env:PW}")
    assert redaction.redact("abc") == "abc"


@pytest.mark.parametrize("word", ["none", "true", "False", "latest"])
def test_a_word_that_options_are_set_to_is_left(word: str) -> None:
    redaction.remember(word, "${env:POLICY}")
    assert redaction.redact(f"errors.tolerance is {word}") == f"errors.tolerance is {word}"


def test_the_longest_value_counts() -> None:
    redaction.remember("secret", "${env:A}")
    redaction.remember("secret-two", "${env:B}")
    assert redaction.redact("secret-two secret") == "${env:B} ${env:A}"


def test_a_placeholder_that_contains_its_value_is_left_as_it_is() -> None:
    redaction.remember("orders", "${env:orders}")
    once = redaction.redact("no topic orders")
    assert once == redaction.redact(once) == "no topic ${env:orders}"


@pytest.mark.parametrize(
    "shown",
    ["a'b\"c\\d", repr("a'b\"c\\d"), json.dumps("a'b\"c\\d"), "Zürich", json.dumps("Zürich"), "line two is long", "item-b"],
)
def test_the_forms_that_a_value_takes_are_found_too(shown: str) -> None:
    for number, value in enumerate(("a'b\"c\\d", "Zürich", "line one is long\n  line two is long\n", "item-a, item-b")):
        redaction.remember(value, f"${{file:/p:{number}}}")
    assert shown.strip("'\"") not in redaction.redact(f"x {shown} y")


def test_of_two_placeholders_with_one_value_the_latest_stands_for_it() -> None:
    for placeholder in ("${env:A}", "${env:B}", "${env:A}"):
        redaction.remember("s3cr3t", placeholder)
        assert redaction.redact("s3cr3t") == placeholder


def test_trees_are_searched() -> None:
    redaction.remember("s3cr3t", "P")
    tree = {"a": ["x s3cr3t", {"s3cr3t": ("s3cr3t", 1, None)}]}
    assert redaction.redacted(tree) == {"a": ["x P", {"P": ("P", 1, None)}]}


def test_errors_are_raised_without_it() -> None:
    redaction.remember("s3cr3t", "${env:PW}")
    with pytest.raises(ConfigError, match=r"^Invalid value \$\{env:PW\} for configuration a$"), redaction.concealed():
        raise ConfigError.invalid("a", "s3cr3t")
    with pytest.raises(RestError, match=r"\$\{env:PW\}") as raised, redaction.concealed():
        raise RestError(403, "s3cr3t")
    assert raised.value.status == 403


def test_no_line_of_the_log_shows_it(log: io.StringIO) -> None:
    redaction.remember("it's s3cr3t", "${env:PW}")
    structlog.get_logger("x").info("event it's s3cr3t", setting="it's s3cr3t", many=["it's s3cr3t"])
    structlog.get_logger("x").warning("object", cause=ValueError("it's s3cr3t"))
    logging.getLogger("library").error("given %s and %r", "it's s3cr3t", "it's s3cr3t")
    try:
        raise ValueError("it's s3cr3t")
    except ValueError:
        structlog.get_logger("x").exception("failed")
        logging.getLogger("library").exception("failed")
    lines = log.getvalue()
    assert "s3cr3t" not in lines
    assert lines.count("${env:PW}") >= 8
