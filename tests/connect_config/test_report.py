"""The parts of a validation's response."""

from __future__ import annotations

from headrace.config import ConfigValue, Option, Type
from headrace.connect_config.report import Report


def test_an_option_under_a_prefix_is_one_error_always_visible_and_its_dependents_are_as_the_class_has_them():
    option = Option("a", Type.STRING, dependents=("b",))
    for given, count in (("value.converter.", 1), ("", 2)):
        report = Report()
        report.add([ConfigValue("a", None, errors=["it is missing", "it is wrong"], visible=False)], {"a": option}, given)
        ((shown,), body) = (report.configs, report.body("c"))
        assert (body["error_count"], len(report.errors())) == (count, 2)
        assert (shown["value"]["name"], shown["value"]["visible"]) == (given + "a", bool(given))
        assert shown["definition"]["dependents"] == ["b"]
