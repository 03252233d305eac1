import pytest

from headrace.config import REQUIRED, Option, Type, validators
from headrace.errors import ConfigError


def test_an_option_without_default_is_required():
    assert Option("a", Type.STRING).required
    assert not Option("a", Type.STRING, None).required
    assert repr(REQUIRED) == "REQUIRED"


def test_a_default_is_read_and_checked_like_a_given_value():
    assert Option("a", Type.LIST, "x, y").default == ["x", "y"]
    with pytest.raises(ConfigError, match="Invalid value x for configuration a: Not a number of type INT"):
        Option("a", Type.INT, "x")
    with pytest.raises(ConfigError, match="Value must be at least 1"):
        Option("a", Type.INT, 0, validator=validators.Range(1))


def test_the_name_is_shown_when_there_is_no_better_one():
    assert Option("a.b", Type.STRING).display_name == "a.b"
    assert Option("a.b", Type.STRING, display_name="A").display_name == "A"


def test_nobody_can_change_the_default_for_all():
    option = Option("a", Type.LIST, ["x"])
    option.fresh_default().append("y")
    assert option.fresh_default() == ["x"]


def test_a_class_is_looked_up_by_the_resolver():
    option = Option("c", Type.CLASS, resolve={"Json": "org.JsonConverter"}.get)
    assert option.read(" Json ") == "org.JsonConverter"
    assert option.read(None) is None
    with pytest.raises(ConfigError) as error:
        option.read("No")
    assert error.value.message == "Invalid value No for configuration c: Class No could not be found."
