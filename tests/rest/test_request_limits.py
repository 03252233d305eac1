"""Request lines and headers that are too long, complete or without an end."""

import socket
from collections.abc import Callable

import pytest

from headrace.rest.request_limits import MOST_BYTES
from tests.rest.conftest import Client

HELD = (64 << 10) + 1  # what makes the server give up


def test_a_path_of_more_than_8_kib_is_414(serve: Callable[..., Client]) -> None:
    answer = serve()("GET", "/connectors/" + "x" * MOST_BYTES)
    assert (answer.status, answer.json) == (414, {"error_code": 414, "message": "URI Too Long"})


def test_the_query_counts_as_part_of_it(serve: Callable[..., Client]) -> None:
    assert serve()("GET", "/connectors?expand=" + "x" * MOST_BYTES).status == 414


def test_headers_of_more_than_8_kib_together_are_431(serve: Callable[..., Client]) -> None:
    half = "x" * (MOST_BYTES // 2)
    answer = serve()("GET", "/connectors", headers={"X-One": half, "X-Two": half})
    assert (answer.status, answer.json) == (431, {"error_code": 431, "message": "Request Header Fields Too Large"})


def test_what_is_just_short_enough_is_served(serve: Callable[..., Client]) -> None:
    call = serve()
    assert call("GET", "/connectors/" + "x" * (MOST_BYTES - 200)).message.endswith("not found")
    assert call("GET", "/connectors", headers={"X-One": "x" * (MOST_BYTES - 200)}).status == 200


@pytest.mark.parametrize(("head", "status"), [
    ("GET /".ljust(HELD, "x"), 414),
    ("GET / HTTP/1.1\r\nX-One: ".ljust(HELD, "x"), 431),
    ("no request at all\r\n\r\n", 400),
])  # fmt: skip
def test_one_that_never_ends_is_refused_and_the_connection_closed(serve: Callable[..., Client], head: str, status: int) -> None:
    host, _, port = serve().address.partition(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(head.encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 %d " % status)
