import logging

import pytest

from headrace.errors import ConnectError, NotFoundError
from headrace.rest.log_levels import LogLevels, parse_level


@pytest.fixture
def root() -> logging.Logger:
    """The root of a tree of loggers of its own."""
    root = logging.RootLogger(logging.INFO)
    root.manager = logging.Manager(root)  # type: ignore[misc]
    for name in ("a.b.c", "a.b.d", "a.bc"):
        root.manager.getLogger(name)
    return root


def test_loggers_in_use_are_listed_with_their_effective_level(root: logging.Logger) -> None:
    fresh = {"level": "INFO", "last_modified": None}
    assert LogLevels(root).all() == {"a.b.c": fresh, "a.b.d": fresh, "a.bc": fresh, "root": fresh}


def test_a_name_that_only_groups_loggers_is_not_found(root: logging.Logger) -> None:
    with pytest.raises(NotFoundError, match=r"^Logger a\.b not found\.$"):
        LogLevels(root).get("a.b")


def test_a_level_is_set_for_all_names_that_begin_so(root: logging.Logger) -> None:
    levels = LogLevels(root)
    assert levels.set("a.b", "DEBUG") == ["a.b", "a.b.c", "a.b.d", "a.bc"]  # the last one, too, in Kafka Connect
    assert levels.get("a.b.d")["level"] == levels.get("a.bc")["level"] == "DEBUG"
    assert levels.get("a.b")["last_modified"] > 1_700_000_000_000
    assert levels.set("a.b.", "ERROR") == ["a.b.", "a.b.c", "a.b.d"]
    assert levels.get("a.bc")["level"] == "DEBUG"


def test_only_those_that_had_another_level_are_named(root: logging.Logger) -> None:
    levels = LogLevels(root)
    levels.set("a.b.c", "DEBUG")
    assert levels.set("a.b", "DEBUG") == ["a.b", "a.b.d", "a.bc"]
    assert levels.set("new.name", "INFO") == []  # what the root has
    assert levels.get("new.name") == {"level": "INFO", "last_modified": None}


def test_a_name_that_nobody_uses_can_be_set(root: logging.Logger) -> None:
    levels = LogLevels(root)
    assert levels.set("new.name", "ERROR") == ["new.name"]
    assert levels.get("new.name")["level"] == "ERROR"


def test_the_root_is_every_logger(root: logging.Logger) -> None:
    levels = LogLevels(root)
    assert levels.set("root", "WARN") == ["a.b.c", "a.b.d", "a.bc", "root"]
    assert levels.get("ROOT")["level"] == "WARN"


@pytest.mark.parametrize("name", ["ALL", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"])
def test_every_level_of_connect_exists(root: logging.Logger, name: str) -> None:
    levels = LogLevels(root)
    levels.set("a", parse_level(name.lower()))
    assert levels.get("a")["level"] == name


def test_off_lets_nothing_through(root: logging.Logger) -> None:
    levels = LogLevels(root)
    levels.set("a", "OFF")
    assert not root.manager.getLogger("a").isEnabledFor(logging.CRITICAL)
    assert list(levels.all()) == ["root"]
    assert levels.get("a.b.c")["level"] == "OFF"
    assert levels.set("a", "OFF") == ["a", "a.b.c", "a.b.d", "a.bc"]


def test_an_unknown_level_is_not_found() -> None:
    with pytest.raises(NotFoundError, match=r"^invalid log level 'LOUD'\.$"):
        parse_level("LOUD")
    assert parse_level(" info\t") == "INFO"
    with pytest.raises(ConnectError, match=r"^Illegal null or empty Level name\.$"):
        parse_level("")
