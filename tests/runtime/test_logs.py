from __future__ import annotations

import io
import logging

import pytest

from headrace.errors import ConfigError
from headrace.runtime import logs

pytestmark = pytest.mark.usefixtures("logging_restored")


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        ("ALL", logging.DEBUG, 0),
        ("trace", logging.DEBUG, 4),
        ("DEBUG", logging.DEBUG, 9),
        ("WARN", logging.WARNING, logging.INFO),
        ("WARNING", logging.WARNING, logging.INFO),
        ("FATAL", logging.CRITICAL, logging.ERROR),
        ("CRITICAL", logging.CRITICAL, logging.ERROR),
        ("OFF", logging.CRITICAL + 10, logging.CRITICAL),
    ],
)
def test_levels_have_the_names_of_log4j_and_of_python(name: str, shown: int, hidden: int) -> None:
    logs.configure(io.StringIO(), name)
    root = logging.getLogger()
    assert root.isEnabledFor(shown) and not root.isEnabledFor(hidden)


def test_the_variable_counts_where_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_LOG_LEVEL", "trace")
    logs.configure(io.StringIO())
    assert logging.getLogger().level == logs.LEVELS["TRACE"]


def test_what_is_no_level_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"^'LOUD' \(.*\) is no log level; it may be ALL, TRACE, .*OFF\.$"):
        logs.configure(io.StringIO(), "LOUD")
