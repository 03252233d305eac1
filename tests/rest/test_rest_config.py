import pytest

from headrace.errors import ConfigError
from headrace.rest import RestConfig
from headrace.rest.config import Listener


def test_the_default_listener_is_local() -> None:
    config = RestConfig({})
    assert config.main == [Listener("localhost", 8083)]
    assert config.worker_id == "localhost:8083"
    assert config.serves_admin


def test_a_listener_without_a_host_is_every_interface() -> None:
    assert RestConfig({"listeners": "http://:8083, http://[::1]:8084"}).main == [Listener("", 8083), Listener("::1", 8084)]
    assert str(Listener("::1", 8084)) == "http://[::1]:8084"


def test_the_advertised_address_names_the_worker() -> None:
    assert RestConfig({"listeners": "http://0.0.0.0:8083", "rest.advertised.host.name": "w1"}).worker_id == "w1:8083"
    assert RestConfig({"rest.advertised.port": "80"}).worker_id == "localhost:80"


def test_admin_listeners_take_the_admin_resources_away_from_the_others() -> None:
    assert not RestConfig({"admin.listeners": ""}).serves_admin
    assert RestConfig({"admin.listeners": "http://localhost:9999"}).admin == [Listener("localhost", 9999)]


@pytest.mark.parametrize(
    "uri", ["localhost:8083", "http://localhost", "http://localhost:x", "http://localhost:99999", "ftp://localhost:1"]
)
def test_a_bad_listener_is_a_configuration_error(uri: str) -> None:
    with pytest.raises(ConfigError) as error:
        RestConfig({"listeners": uri})
    why = "Expected a URI like http://localhost:8083."
    assert str(error.value) == f"Invalid value {uri} for configuration listeners: {why}"


def test_https_is_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match="HTTPS listeners are not supported; put a TLS proxy in front"):
        RestConfig({"listeners": "https://localhost:8443"})


def test_at_least_one_listener_is_needed() -> None:
    with pytest.raises(ConfigError, match=r"^Invalid value \[\] for configuration listeners: At least one listener"):
        RestConfig({"listeners": ""})


def test_a_bad_header_rule_is_found_at_the_start() -> None:
    with pytest.raises(ConfigError, match="^Invalid header config action: 'put'"):
        RestConfig({"response.http.headers.config": "put a: b"})
