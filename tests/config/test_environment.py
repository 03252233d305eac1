from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.config.environment import log_level, property_name, worker_properties
from headrace.errors import ConfigError

WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8)
KEY = st.builds(
    lambda first, rest: first + "".join(separator + word for separator, word in rest),
    WORD,
    st.lists(st.tuples(st.sampled_from("._-"), WORD), max_size=6),
)


def variable(key: str) -> str:
    """As people write it for Confluent's images."""
    return "CONNECT_" + re.sub("[._-]", lambda found: {".": "_", "_": "__", "-": "___"}[found[0]], key).upper()


@given(KEY)
def test_every_key_in_lower_case_can_be_written_as_a_variable(key: str) -> None:
    assert property_name(variable(key)) == key


@given(st.dictionaries(KEY, st.text(max_size=20)))
def test_values_are_taken_as_they_are(properties: dict[str, str]) -> None:
    assert worker_properties({variable(key): value for key, value in properties.items()}) == properties


def test_four_underscores_stand_for_nothing() -> None:
    with pytest.raises(ConfigError, match="CONNECT_A____B has 4 underscores in a row"):
        worker_properties({"CONNECT_A____B": "1"})


def test_variables_of_strimzis_image_are_properties_and_single_ones_win() -> None:
    environ = {
        "KAFKA_CONNECT_CONFIGURATION": "group.id=a\nkey.converter=org.x.Y\n",
        "KAFKA_CONNECT_BOOTSTRAP_SERVERS": "kafka:9092",
        "HEADRACE_PROPERTIES": "spark.executor.memoryOverhead=1g\ngroup.id=b",
        "CONNECT_GROUP_ID": "c",
    }
    assert worker_properties(environ) == {
        "spark.executor.memoryOverhead": "1g", "group.id": "c", "key.converter": "org.x.Y", "bootstrap.servers": "kafka:9092",
    }  # fmt: skip


def test_what_belongs_to_the_image_and_everything_else_is_left_out() -> None:
    environ = {"CONNECT_LOG4J_LOGGERS": "org=WARN", "CONNECT_CUB_KAFKA_TIMEOUT": "1", "PATH": "/bin", "HEADRACE_HOME": "/x"}
    assert worker_properties(environ) == {}
    assert log_level({"CONNECT_LOG4J_ROOT_LOGLEVEL": "DEBUG"}) == "DEBUG"
    assert log_level({}) is None
