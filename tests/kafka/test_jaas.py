from __future__ import annotations

import pytest

from headrace.errors import ConfigError
from headrace.kafka.jaas import Login, parse_jaas


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('a.b.PlainLoginModule required username="u" password="p";', {"username": "u", "password": "p"}),
        ('a.b.PlainLoginModule\n  required\n  username=\'u\'\n  password = "p;=\\"x";', {"username": "u", "password": 'p;="x'}),
        ("a.b.PlainLoginModule Required debug=true;", {"debug": "true"}),
        ("a.b.PlainLoginModule required ;", {}),
    ],
)
def test_module_and_options_are_read(text, options):
    assert parse_jaas(text) == Login("PlainLoginModule", options)


@pytest.mark.parametrize(
    "text",
    ["", "x", 'M required username="hunter2"', 'M username="hunter2";', "M required hunter2;", "M required a=1; N required;"],
)
def test_anything_else_is_refused_without_repeating_it(text):
    with pytest.raises(ConfigError) as raised:
        parse_jaas(text)
    assert "sasl.jaas.config" in str(raised.value)
    assert "hunter2" not in str(raised.value)
