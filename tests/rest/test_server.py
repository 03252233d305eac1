import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest

from headrace.cluster.herder import Herder
from headrace.errors import ConfigError, SetupError
from headrace.rest import RestServer
from tests.rest.conftest import Client, worker_config
from tests.rest.memory_herder import MemoryHerder


def test_it_accepts_when_start_returns_and_no_more_after_stop(herder: Herder) -> None:
    server = RestServer(herder, worker_config({"listeners": "http://localhost:0"}))
    server.start()
    call = Client(server.urls[0])
    assert call("GET", "/").status == 200
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        call("GET", "/")


def test_a_port_in_use_is_one_clear_sentence(herder: Herder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        uri = f"http://127.0.0.1:{other.getsockname()[1]}"
        server = RestServer(herder, worker_config({"listeners": uri}))
        with pytest.raises(SetupError) as error:
            server.start()
    assert str(error.value) == (
        f"The REST interface cannot listen at {uri} (Address already in use); "
        "stop what uses that address or set `listeners` to another."
    )


def test_an_unknown_host_is_one_clear_sentence(herder: Herder) -> None:
    server = RestServer(herder, worker_config({"listeners": "http://no-such-host.invalid:8083"}))
    with pytest.raises(SetupError, match=r"^The REST interface cannot listen at http://no-such-host\.invalid:8083 \("):
        server.start()


def test_stop_before_start_is_harmless(herder: Herder) -> None:
    RestServer(herder, worker_config()).stop()


def test_several_listeners_serve_the_same(herder: Herder) -> None:
    server = RestServer(herder, worker_config({"listeners": "http://127.0.0.1:0, http://localhost:0"}))
    server.start()
    assert [Client(url)("GET", "/connectors").json for url in server.urls] == [[], []]
    server.stop()


def test_admin_listeners_serve_admin_resources_alone(herder: Herder) -> None:
    server = RestServer(herder, worker_config({"listeners": "http://localhost:0", "admin.listeners": "http://localhost:0"}))
    server.start()
    main, admin = Client(server.urls[0]), Client(server.admin_urls[0])
    assert (main("GET", "/connectors").status, main("GET", "/admin/loggers").status) == (200, 404)
    assert (admin("GET", "/connectors").status, admin("GET", "/admin/loggers").status) == (404, 200)
    server.stop()


def test_many_requests_at_once_do_not_hold_each_other_up(herder: MemoryHerder, serve: Callable[..., Client]) -> None:
    call, barrier, statuses = serve(), threading.Barrier(20), []
    herder.connectors = lambda: [str(barrier.wait(120))]  # type: ignore[method-assign]
    threads = [threading.Thread(target=lambda: statuses.append(call("GET", "/connectors").status)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 20


@pytest.mark.parametrize("path", ["/", "/no/such/resource"])
def test_each_answer_has_the_time_when_it_was_made(call: Client, path: str) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    assert before <= parsedate_to_datetime(call("GET", path).headers["date"]) <= datetime.now(UTC)


def test_a_bad_header_rule_is_found_before_the_start(herder: Herder) -> None:
    with pytest.raises(ConfigError, match=r"^Invalid header config action: 'put'"):
        RestServer(herder, worker_config({"response.http.headers.config": "put a: b"}))
