from headrace.kafka.client_settings import connector_client, internal_client, same_connection

WORKER = {
    "bootstrap.servers": "b:1",
    "client.id": "w",
    "sasl.mechanism": "PLAIN",
    "security.protocol": "SASL_SSL",
    "producer.acks": "1",
    "admin.retries": "3",
    "spark.master": "local",
}


def test_a_prefixed_setting_is_the_workers_default_for_connectors():
    assert connector_client(WORKER, "b:1", "producer") == {
        "bootstrap.servers": "b:1",
        "sasl.mechanism": "PLAIN",
        "security.protocol": "SASL_SSL",
        "acks": "1",
    }


def test_security_is_not_inherited_for_another_cluster_or_protocol():
    for own in ({"consumer.bootstrap.servers": "other:1"}, {"consumer.security.protocol": "SSL"}):
        settings = connector_client(WORKER | own, "b:1", "consumer")
        assert "sasl.mechanism" not in settings
        assert settings == {"bootstrap.servers": "b:1"} | {k.removeprefix("consumer."): v for k, v in own.items()}


def test_admin_clients_take_the_workers_own_settings_too():
    settings = connector_client(WORKER, "b:1", "admin")
    assert (settings["client.id"], settings["retries"]) == ("w", "3")
    assert "producer.acks" not in settings


def test_the_workers_own_clients_have_no_settings_of_connectors():
    assert internal_client(WORKER, "c:2") == {
        "bootstrap.servers": "c:2",
        "client.id": "w",
        "sasl.mechanism": "PLAIN",
        "security.protocol": "SASL_SSL",
    }


def test_clients_connect_alike_whatever_the_order_of_the_servers_but_not_with_another_login():
    client = {"bootstrap.servers": "a:1,b:2", "sasl.jaas.config": "me", "client.id": "1"}
    assert same_connection(client, {"bootstrap.servers": "b:2, a:1", "sasl.jaas.config": "me", "acks": "1"})
    for other in ({"bootstrap.servers": "a:1"}, {"sasl.jaas.config": "you"}, {"ssl.protocol": "TLS"}):
        assert not same_connection(client, client | other)
