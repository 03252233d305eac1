import pytest

from headrace.config import Config, Importance, Option, Type, option, validators
from headrace.errors import ConfigError


class Base(Config):
    group_id: str = option("group.id", Type.STRING, importance=Importance.HIGH)
    tasks: int = option("tasks.max", Type.INT, 1, validator=validators.Range(1))


class Derived(Base):
    tasks: int = option("tasks.max", Type.INT, 5)
    secret: str = option("secret", Type.PASSWORD, "s3cret")

    def check(self):
        if self.tasks > 100:
            raise ConfigError.invalid("tasks.max", self.tasks, "too many")


def test_attributes_hold_the_values_read():
    config = Base({"group.id": " g ", "tasks.max": "7", "other": "x"})
    assert (config.group_id, config.tasks, config["tasks.max"]) == ("g", 7, 7)
    assert config.originals == {"group.id": " g ", "tasks.max": "7", "other": "x"}


def test_a_subclass_inherits_options_and_may_declare_one_again():
    assert Derived.definition().names == ["group.id", "tasks.max", "secret"]
    assert Derived({"group.id": "g"}).tasks == 5
    assert Base({"group.id": "g"}).tasks == 1


def test_on_the_class_the_attribute_is_the_option():
    assert isinstance(Base.tasks, Option)
    assert Base.tasks.name == "tasks.max"


def test_the_first_problem_is_raised():
    with pytest.raises(ConfigError, match=r'Missing required configuration "group\.id"'):
        Base({"tasks.max": "0"})


def test_rules_between_options_are_checked_too():
    with pytest.raises(ConfigError, match="too many"):
        Derived({"group.id": "g", "tasks.max": "101"})


def test_settings_under_a_prefix_come_without_it():
    config = Base({"group.id": "g", "producer.acks": "1", "producer.": "x", "producers": "y"})
    assert config.originals_with_prefix("producer.") == {"acks": "1"}


def test_a_configuration_does_not_change_and_hides_passwords():
    config = Derived({"group.id": "g"})
    with pytest.raises(AttributeError, match=r"tasks\.max of Derived cannot be set"):
        config.tasks = 9
    assert "s3cret" not in repr(config)
