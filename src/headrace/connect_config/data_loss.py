"""The options of connectors that notice when their source cluster has lost records."""

from __future__ import annotations

from headrace.config import Config, Importance, Type, option
from headrace.config.validators import ValidString
from headrace.connect_config.own_topics import REPLICATION_FACTOR, TOPIC_NAME

_GROUP = "Lost records"


class DataLossConfig(Config):
    """The options of data losses of a source: the reaction, and the topic that records them."""

    source_data_loss: str = option(
        "source.data.loss",
        Type.STRING,
        "fail",
        validator=ValidString("fail", "rewind", "continue"),
        importance=Importance.HIGH,
        group=_GROUP,
        doc="Of headrace: what to do when a source topic was deleted and recreated, or has lost records that were to be copied. "
        "`fail`: the task fails and says which. `rewind`: the partition is copied again from the beginning of what is there, "
        "possibly with duplicates. `continue`: with what is there. In all cases the loss is logged, counted, and "
        "written to `source.data.loss.topic`.",
    )
    source_data_loss_topic: str | None = option(
        "source.data.loss.topic",
        Type.STRING,
        None,
        validator=TOPIC_NAME,
        importance=Importance.LOW,
        group=_GROUP,
        doc="Of headrace: the topic of the worker's cluster that has a record of every loss; made with the first one. Not set: "
        "the name of the connector and `-loss`, with `_` for what a topic's name cannot have.",
    )
    source_data_loss_topic_replication_factor: int = option(
        "source.data.loss.topic.replication.factor",
        Type.SHORT,
        -1,
        validator=REPLICATION_FACTOR,
        importance=Importance.LOW,
        group=_GROUP,
        doc="Of headrace: replication factor for that topic, if it has to be made; -1: the broker's default.",
    )
