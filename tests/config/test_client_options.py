import pytest

from headrace.config import Type
from headrace.config.client_options import client_definition


@pytest.mark.parametrize(
    ("client", "name", "kind", "default"),
    [
        ("producer", "acks", Type.STRING, "all"),
        ("producer", "linger.ms", Type.LONG, 5),
        ("consumer", "max.poll.records", Type.INT, 500),
        ("consumer", "client.id", Type.STRING, ""),
        ("admin", "retries", Type.INT, 2147483647),
        ("worker", "request.timeout.ms", Type.INT, 40000),
        ("worker", "sasl.login.refresh.window.factor", Type.DOUBLE, 0.8),
    ],
)
def test_an_option_is_that_of_the_client_asked_for(client, name, kind, default):
    option = client_definition(client).options[name]
    assert (option.type, option.default) == (kind, default)


def test_clients_have_only_their_own_options():
    assert "acks" not in client_definition("consumer").options
    assert "max.poll.records" not in client_definition("producer").options
