"""The clients on the target cluster, and where a connector's configuration has their settings."""

from __future__ import annotations

from headrace.kafka.client_settings import ClientTable, all_settings, connects
from headrace.spark.topic_writer import PRODUCER as PRODUCER_DEFAULTS


def _of_admin(setting: str) -> bool:
    return connects(setting) or setting.startswith("client.")


PRODUCER = ClientTable({"target.": all_settings, "connector.producer.": all_settings}, PRODUCER_DEFAULTS)
ADMIN = ClientTable({"target.": _of_admin, "connector.admin.": all_settings})
