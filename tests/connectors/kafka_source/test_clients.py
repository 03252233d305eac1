from headrace.connectors.kafka_source.clients import ADMIN, CONSUMER, CONSUMER_DEFAULTS

PROPS = {
    "name": "mirror",
    "source.bootstrap.servers": "s:9092",
    "source.topic.whitelist": ".*",
    "source.group.id": "lag",
    "source.security.protocol": "SSL",
    "source.max.poll.records": "7",
    "connector.consumer.security.protocol": "PLAINTEXT",
    "connector.consumer.fetch.min.bytes": "100",
    "connector.admin.retries": "3",
    "connector.admin.bootstrap.servers": "a:9092",
    "consumer.override.fetch.min.bytes": "1",
    "source.": "x",
    "source.client.id": None,
}


def test_the_consumer_gets_shared_settings_its_own_and_the_defaults():
    assert CONSUMER.settings(PROPS) == {
        **CONSUMER_DEFAULTS,
        "bootstrap.servers": "s:9092",
        "group.id": "lag",
        "max.poll.records": "7",
        "security.protocol": "PLAINTEXT",
        "fetch.min.bytes": "100",
    }


def test_the_admin_client_gets_shared_settings_and_its_own_but_nothing_of_the_consumer():
    assert ADMIN.settings(PROPS) == {"bootstrap.servers": "a:9092", "security.protocol": "SSL", "retries": "3"}


def test_an_option_of_the_consumer_can_be_overridden_more_specifically():
    props = {"source.auto.offset.reset": "earliest", "connector.consumer.auto.offset.reset": "latest"}
    assert CONSUMER.settings(props)["auto.offset.reset"] == "latest"
