"""Clients of a broker that wants certificates of both sides, with stores of every type, in Python and in Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaException

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.kafka.admin import Admin
from headrace.kafka.clients import admin, producer
from headrace.spark.kafka import read_batch
from tests.certificates import NEEDS_KEYTOOL, PASSWORD, Certificates

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = NEEDS_KEYTOOL
KINDS = ("PEM", "PKCS12", "JKS")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def tls_broker(made: Certificates) -> Iterator[str]:
    """The address of a broker's TLS listener."""
    plain, tls, controller = free_port(), free_port(), free_port()
    listeners = f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{tls}"
    settings = {
        "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": listeners,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL",
        "ssl.client.auth": "required",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": made.path("server.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": made.path("ca.pem"),
    }
    with Broker(port=plain, settings=settings, name="tls") as broker:
        Admin({"bootstrap.servers": broker.bootstrap}).create("orders", 1, 1)
        yield f"127.0.0.1:{tls}"


@pytest.fixture(scope="module")
def clients(made: Certificates, tls_broker: str) -> Mapping[str, Mapping[str, str]]:
    """By type of store, what a client needs; its certificate has an intermediate authority."""
    stores = {
        "PEM": (made.path("ca.pem"), made.path("chained.pem")),
        "PKCS12": (made.trust_p12(), made.path("chained.p12")),
        "JKS": (made.jks("ca"), made.jks("chained")),
    }
    secret = {"ssl.truststore.password": PASSWORD, "ssl.keystore.password": PASSWORD, "ssl.key.password": PASSWORD}
    return {
        kind: {
            "bootstrap.servers": tls_broker,
            "security.protocol": "SSL",
            "ssl.truststore.type": kind,
            "ssl.truststore.location": trust,
            "ssl.keystore.type": kind,
            "ssl.keystore.location": key,
            **({} if kind == "PEM" else secret),
        }
        for kind, (trust, key) in stores.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_pythons_clients_take_stores_of_every_type(kind: str, clients: Mapping[str, Mapping[str, str]]) -> None:
    assert Admin(clients[kind]).describe("orders")
    errors: list[object] = []
    sending = producer(clients[kind])
    sending.produce("orders", b"1", on_delivery=lambda error, _record: errors.append(error))
    assert sending.flush(120) == 0
    assert errors == [None]


def test_who_shows_no_certificate_is_refused(clients: Mapping[str, Mapping[str, str]]) -> None:
    without = {key: value for key, value in clients["JKS"].items() if "keystore" not in key}
    with pytest.raises(KafkaException):
        admin(without).list_topics(timeout=2)


@pytest.mark.parametrize("kind", KINDS)
def test_sparks_clients_take_stores_of_every_type(
    kind: str, clients: Mapping[str, Mapping[str, str]], spark: SparkSession
) -> None:
    sending = producer(clients["PEM"])
    sending.produce("orders", b"spark")
    assert sending.flush(120) == 0
    assert read_batch(spark, clients[kind], {("orders", 0): (0, 1)}).count() == 1
