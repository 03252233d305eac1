"""Placeholders become values, and values placeholders again."""

from __future__ import annotations

from collections.abc import Mapping, Set

import pytest

from headrace.config.providers import ConfigProvider, Resolver


class Table(ConfigProvider):
    """Values by path and key; counts how often it is asked."""

    def __init__(self, params: Mapping[str, str] | None = None) -> None:
        self.asked: list[tuple[str, set[str]]] = []

    def get(self, path: str, keys: Set[str]) -> Mapping[str, str]:
        self.asked.append((path, set(keys)))
        known = {
            "": {"user": "headrace", "n": "2"},
            "/db": {"password": "s3cr3t", "more": "${t:user}", "empty": "", "a:b": "odd"},
        }
        return {key: value for key, value in known.get(path, {}).items() if key in keys}


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def resolver(table: Table) -> Resolver:
    return Resolver({"t": table})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("${t:user}", "headrace"),
        ("${t:/db:password}", "s3cr3t"),
        ("jdbc://${t:user}:${t:/db:password}@db", "jdbc://headrace:s3cr3t@db"),
        ("${t:user}:${t:user}", "headrace:headrace"),
        ("${x:user} ${t:user}", "${x:user} headrace"),
        ("${t} ${t:user}", "${t} headrace"),
        ("${t:/db:none} ${t::user} ${t:/none:user}", "${t:/db:none} headrace ${t:/none:user}"),
        ("${t:/db:more}", "${t:user}"),
        ("[${t:/db:empty}]", "[]"),
        ("${t:/db:a:b}", "odd"),
        ("${t:us\ner}", "${t:us\ner}"),
        ("$t:user} ${t:user", "$t:user} ${t:user"),
    ],
)
def test_what_is_known_is_put_and_the_rest_stays(resolver: Resolver, text: str, value: str) -> None:
    assert resolver.resolve({"a": text}).props == {"a": value}


def test_what_is_no_text_stays(resolver: Resolver) -> None:
    assert resolver.resolve({"a": None, "b": 1, "c": "${t:n}"}).props == {"a": None, "b": 1, "c": "2"}


def test_each_path_is_asked_once(resolver: Resolver, table: Table) -> None:
    resolver.resolve({"a": "${t:/db:password}${t:user}", "b": "${t:/db:more}", "c": "${t:/db:password}"})
    assert table.asked == [("/db", {"password", "more"}), ("", {"user"})]


def test_without_providers_nothing_is_changed() -> None:
    props = {"a": "${t:user}"}
    assert Resolver().resolve(props).props is props


def test_neither_representation_shows_a_value(resolver: Resolver) -> None:
    assert "s3cr3t" not in repr(resolver.resolve({"a": "${t:/db:password}"}))


def test_a_setting_that_was_taken_over_gets_its_placeholder_back(resolver: Resolver) -> None:
    config = resolver.resolve({"password": "x${t:/db:password}", "tasks": "${t:n}", "plain": "s3cr3t"})
    assert config.restore(dict(config.props)) == config.raw
    assert config.restore({"tasks": " 2 "}) == {"tasks": "${t:n}"}


def test_values_in_composed_settings_become_placeholders(resolver: Resolver) -> None:
    config = resolver.resolve({"password": "${t:/db:password}", "user": "${t:user}", "n": "${t:n}", "literal": "headrace"})
    made = {"url": "jdbc://headrace:s3cr3t@db/2", "task": "2", "password": "s3cr3t2", "number": 5, "literal": "headrace"}
    restored = config.restore(made)
    assert restored == {
        "url": "jdbc://${t:user}:${t:/db:password}@db/2", "task": "2", "password": "${t:/db:password}2", "number": 5,
        "literal": "headrace",
    }  # fmt: skip
    assert resolver.resolve(restored).props == made


def test_a_setting_that_the_connector_has_changed_keeps_its_change(resolver: Resolver) -> None:
    config = resolver.resolve({"topics": "${t:user},b"})
    assert config.restore({"topics": "b"}) == {"topics": "b"}
