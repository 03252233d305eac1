"""Settings of the clients on the target cluster, out of a connector's configuration. Pure.

`target.…` is for both clients; `connector.producer.…` and `connector.admin.…` are for one, and win.
"""

from __future__ import annotations

from collections.abc import Mapping

from headrace.connectors.kafka_source.overrides import with_prefix
from headrace.spark.topic_writer import PRODUCER

_SECURITY = ("bootstrap.servers", "security.", "sasl.", "ssl.", "client.")


def producer_settings(props: Mapping[str, str | None]) -> dict[str, str]:
    """Java settings of the producer, prefixes taken off."""
    return PRODUCER | with_prefix(props, "target.") | with_prefix(props, "connector.producer.")


def admin_settings(props: Mapping[str, str | None]) -> dict[str, str]:
    """Java settings of the admin client, prefixes taken off: what says how to reach the cluster, and its own."""
    shared = {key: value for key, value in with_prefix(props, "target.").items() if key.startswith(_SECURITY)}
    return shared | with_prefix(props, "connector.admin.")
