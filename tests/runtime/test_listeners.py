import ipaddress

import pytest

from headrace.errors import ConfigError
from headrace.runtime.listeners import ListenerAddress, advertised, local_address, parse_listener

HTTP, HTTPS = ListenerAddress("http", "a", 1), ListenerAddress("https", "b", 2)


@pytest.mark.parametrize(
    ("text", "listener"),
    [
        ("http://:8083", ListenerAddress("http", "", 8083)),
        ("HTTPS://Host-1.x:0", ListenerAddress("https", "Host-1.x", 0)),
        ("http://[::1]:8083", ListenerAddress("http", "::1", 8083)),
        ("http://a:65535", ListenerAddress("http", "a", 65535)),
    ],
)
def test_a_url_is_read(text, listener):
    assert parse_listener(text) == listener


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "Listener doesn't have the right format or protocol."),
        ("http://a:b", "Listener doesn't have the right format or protocol."),
        ("http://localhost", "Listener doesn't have the right format or protocol."),
        ("ftp://x:1", 'Listener protocol must be either "http" or "https".'),
        ("http://x:65536", "Listener http://x:65536 has a port that is not between 0 and 65535."),
        ("http://x:-1", "Listener http://x:-1 has a port that is not between 0 and 65535."),
    ],
)
def test_anything_else_is_refused_in_kafkas_words_if_it_has_some(text, message):
    with pytest.raises(ConfigError) as error:
        parse_listener(text)
    assert error.value.message == message


@pytest.mark.parametrize(
    ("listeners", "settings", "address"),
    [
        ([HTTPS, HTTP], (None, None, None), ("http", "a", 1)),
        ([HTTPS], (None, None, None), ("https", "b", 2)),
        ([HTTP, HTTPS], ("HTTPS", None, None), ("https", "b", 2)),
        ([HTTP], (None, "proxy", 80), ("http", "proxy", 80)),
        ([ListenerAddress("http", "127.0.0.1", 8083)], ("", "", None), ("http", "localhost", 8083)),
        ([ListenerAddress("http", "", 8083)], (None, None, None), ("http", local_address(), 8083)),
    ],
)
def test_others_are_given_the_address_that_kafka_connect_would_give(listeners, settings, address):
    assert advertised(listeners, *settings) == address


def test_a_free_port_is_advertised_once_it_is_bound():
    assert advertised([ListenerAddress("http", "h", 0)], None, None, None, bound_port=4711) == ("http", "h", 4711)


def test_this_machine_has_an_address():
    assert local_address() == "localhost" or ipaddress.ip_address(local_address())
