"""A source connector as a user would write it."""

from __future__ import annotations

from dataclasses import replace

from headrace.connectors.base import Props
from headrace.connectors.file_stream.source import FileStreamSourceConnector
from headrace.connectors.topic_settings import TopicSettings
from headrace.errors import ConnectError


class ChoosySource(FileStreamSourceConnector):
    """Has a say in the settings of its topics."""

    @classmethod
    def settings_for_new_topic(cls, config: Props, settings: TopicSettings, cluster_size: int) -> TopicSettings | None:
        if config.get("wish") == "fail":
            raise ConnectError("The source does not want this topic.")
        if config.get("wish") == "none":
            return None
        return replace(settings, partitions=3 * cluster_size).with_configs({"retention.ms": "86400000"})
