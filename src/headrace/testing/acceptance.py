"""What every connector has to do, as tests that its author inherits; they need no broker and no Spark.

    class TestMyConnector(ConnectorAcceptance):
        connector = MyConnector
        config = {"name": "c", "connector.class": "my.MyConnector", "url": "http://localhost:1"}

pytest finds the test methods in the class. What a connector does with records is for tests of its own, with a worker of
`headrace.testing.worker`.
"""
# ruff: noqa: D102 (the names of tests say what they test)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from headrace import plugins
from headrace.config import REQUIRED, Option, Type
from headrace.connect_config import validation
from headrace.connectors.base import Connector
from headrace.runtime.standalone_config import StandaloneConfig

_STRING = "org.apache.kafka.connect.storage.StringConverter"
_NUMBERS = (Type.INT, Type.LONG, Type.SHORT, Type.DOUBLE)
_SECRET = "sealed-3141"


class ConnectorAcceptance:
    """The tests of one connector."""

    connector: ClassVar[type[Connector]]
    """The class under test."""
    config: ClassVar[Mapping[str, str]]
    """A configuration that is valid; whether what it names is there does not matter."""
    worker: ClassVar[Mapping[str, str]] = {
        "key.converter": _STRING, "value.converter": _STRING, "offset.storage.file.filename": "/nowhere",
    }  # fmt: skip
    """The settings of the worker that validates it."""

    def test_it_is_found_by_its_name_and_its_short_one(self) -> None:
        cls: Any = self.connector
        short = cls.plugin_name.rpartition(".")[2]
        for name in (cls.plugin_name, short, short.removesuffix("Connector")):
            assert plugins.find(name, cls.plugin_kind) is cls, name

    def test_it_says_its_version(self) -> None:
        assert self.connector.version

    def test_its_tasks_have_a_class(self) -> None:
        assert isinstance(self.connector.task_for(self.config), type)

    def test_every_option_is_documented(self) -> None:
        assert [option.name for option in self._options() if not option.doc.strip()] == []

    def test_the_configuration_is_valid(self) -> None:
        assert self._errors(self.config) == []

    def test_what_is_missing_is_refused_at_its_key(self) -> None:
        for option in self._options():
            if option.default is REQUIRED and option.name in self.config:
                without = {key: value for key, value in self.config.items() if key != option.name}
                assert option.name in self._keys_with_errors(without)

    def test_text_in_the_place_of_a_number_is_refused_at_its_key(self) -> None:
        for option in self._options():
            if option.type in _NUMBERS:
                assert option.name in self._keys_with_errors({**self.config, option.name: "many"})

    def test_secrets_are_in_no_answer(self) -> None:
        for option in self._options():
            if option.type is Type.PASSWORD:
                assert _SECRET not in str(self._answer({**self.config, option.name: _SECRET}))

    def test_a_setting_that_nobody_knows_is_no_error(self) -> None:
        assert self._errors({**self.config, "somebody.elses.setting": "x"}) == []

    def _options(self) -> list[Option]:
        return list(self.connector.definition().options.values())

    def _answer(self, config: Mapping[str, str]) -> dict[str, Any]:
        return validation.validate(None, config, StandaloneConfig(self.worker))

    def _errors(self, config: Mapping[str, str]) -> list[str]:
        return validation.errors(config, StandaloneConfig(self.worker))

    def _keys_with_errors(self, config: Mapping[str, str]) -> set[str]:
        return {entry["value"]["name"] for entry in self._answer(config)["configs"] if entry["value"]["errors"]}
