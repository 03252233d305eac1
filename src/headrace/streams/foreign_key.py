"""Joins of two tables by a foreign key (KIP-213): registrations go to the other table through one internal topic, responses come
back through another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headrace.streams.flow import StreamFlow, TableFlow
from headrace.streams.functions import Function
from headrace.streams.graph import Graph, GraphNode, Operator
from headrace.streams.materialized import Materialized, materialized_internal
from headrace.streams.nodes import RepartitionTopic
from headrace.streams.operations import (
    ForeignTableJoin,
    JoinKind,
    ResponseJoin,
    SubscriptionJoin,
    SubscriptionReceive,
    SubscriptionSend,
    TableSource,
)
from headrace.streams.options import Consumed, Partitioner, Produced, TableJoined
from headrace.streams.serdes import Serde
from headrace.streams.sources import StreamSink, StreamSource
from headrace.streams.stores import StateStore, StoreKind
from headrace.streams.views import SourceView

_FK = "KTABLE-FK-JOIN-"
_REGISTRATION, _RESPONSE = _FK + "SUBSCRIPTION-REGISTRATION-", _FK + "SUBSCRIPTION-RESPONSE-"
_PROCESSOR, _STORE, _OUTPUT = _FK + "SUBSCRIPTION-PROCESSOR-", _FK + "SUBSCRIPTION-", _FK + "OUTPUT-"
_RESOLVER = _FK + "SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR-"
_SINK, _SOURCE = "KTABLE-SINK-", "KTABLE-SOURCE-"


@dataclass(frozen=True)
class _Names:
    """Generates the names of one join."""

    graph: Graph
    name: str | None

    def of(self, suffix: str, prefix: str) -> str:
        return self.graph.names.suffixed_or_generated(self.name, suffix, prefix)

    def topic(self, suffix: str, prefix: str) -> str:
        """An internal topic, known to the topology from now on."""
        topic = self.of(suffix, prefix) + "-topic"
        self.graph.topology.repartition_topics[topic] = RepartitionTopic(topic)
        return topic

    def through(
        self, parents: list[GraphNode], topic: str, suffix: str, serdes: tuple[Serde | None, Serde | None],
        partitioner: Partitioner | None,
    ) -> StreamSource:  # fmt: skip
        """Write to the topic and read it again. serdes: of its keys, and of what its values hold."""
        key_serde, value_serde = serdes
        sink = StreamSink(self.of(f"{suffix}-sink", _SINK), topic, Produced(None, key_serde, value_serde, partitioner))
        self.graph.add(parents, sink)
        source = StreamSource(self.of(f"{suffix}-source", _SOURCE), (topic,), Consumed(None, key_serde))
        self.graph.add(sink, source)
        return source


def join(
    kind: JoinKind, left: TableFlow, right: TableFlow, functions: tuple[Function, Function], options: list[Any]
) -> TableFlow:
    """Each row with the row of the other table whose key it has. functions: the extractor of that key, and the joiner."""
    extractor, joiner = functions
    joined: TableJoined = options[0] or TableJoined()
    graph = left.flow.graph
    names = _Names(graph, joined.name)
    right.view.enable_sending_old_values(True)
    left.view.enable_sending_old_values(True)
    registration_topic = names.topic("-subscription-registration", _REGISTRATION)
    send = Operator(names.of("-subscription-registration-processor", _REGISTRATION), SubscriptionSend(extractor, kind))
    graph.add(left.flow.node, send)
    keys = left.flow.key_serde, right.flow.key_serde
    registrations = names.through(
        [send], registration_topic, "-subscription-registration", (keys[1], keys[0]), joined.other_partitioner
    )
    graph.topology.copartitioned.append(right.flow.sources | {registrations.name})
    responders = _subscription_joins(names, right, registrations)
    response_topic = names.topic("-subscription-response", _RESPONSE)
    rows = keys[0], right.flow.value_serde
    responses = names.through(responders, response_topic, "-subscription-response", rows, joined.partitioner)
    sources = left.flow.sources | {responses.name}
    graph.topology.copartitioned.append(sources)
    respond = Operator(
        names.of("-subscription-response-resolver", _RESOLVER),
        ResponseJoin(joiner, kind, send.name),
        uses=left.view.stores(),
    )
    graph.add(responses, respond)
    flow = StreamFlow(graph, respond.name, respond, sources, left.flow.key_serde)
    return _result(names, flow, options[1] or Materialized())


def _subscription_joins(names: _Names, right: TableFlow, registrations: StreamSource) -> list[GraphNode]:
    """The operators that send responses: to new subscriptions, and for changes of the other table."""
    graph = names.graph
    store_name = names.graph.names.suffixed_or_generated(names.name, "-subscription-store", _STORE + "STATE-STORE-")
    store = StateStore(name=store_name, kind=StoreKind.KEY_VALUE, persistent=None)
    receive = Operator(names.of("-subscription-receive", _PROCESSOR), SubscriptionReceive(store_name), lambda: (store,))
    graph.add(registrations, receive)
    used = right.view.stores()
    lookup = Operator(names.of("-subscription-join-foreign", _PROCESSOR), SubscriptionJoin(right.flow.name), uses=used)
    graph.add(receive, lookup)
    changed = ForeignTableJoin(store_name, receive.name)
    change = Operator(names.of("-foreign-join-subscription", _PROCESSOR), changed, lambda: (store,))
    graph.add(right.flow.node, change)
    return [lookup, change]


def _result(names: _Names, flow: StreamFlow, materialized: Materialized) -> TableFlow:
    name = names.of("-result", _OUTPUT)
    internal = materialized_internal(materialized, names.graph, _OUTPUT)
    key_serde = internal.key_serde or flow.key_serde
    store = replace(internal.store(), key_serde=key_serde)
    view = SourceView(store, internal.queryable_name is not None)
    node = Operator(name, TableSource(store.name), view.state_stores)
    node.versioned = internal.materialized.versioned
    return TableFlow(flow.to(node, value_serde=internal.value_serde), view, store.name)
