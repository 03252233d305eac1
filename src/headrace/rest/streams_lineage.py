"""The topics of a streams application that reports to a worker, read from its topology as `describe()` prints it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headrace.config.types import comma_separated
from headrace.rest.lineage import APPLICATION, UNKNOWN, Lineage, LineageEdge, LineageNode, joined, topic_node

_SUB_TOPOLOGY = re.compile(r"^ *Sub-topology: (\d+)", re.MULTILINE)
_SOURCE = re.compile(r"^ *Source: .*?\(topics: (.*)\)$", re.MULTILINE)
_SINK = re.compile(r"^ *Sink: .*?\(topic: (.*?)\)$", re.MULTILINE)
_STORES = re.compile(r"\(stores: \[(.*?)\]\)")


def of_application(application: Mapping[str, Any], place: str | None = None) -> Lineage:
    """Its sub-topologies, each with the topics that it reads and writes; internal topics are among them.

    place: of its topics, as of `ClusterNames.place`.
    """
    internal = {topic["name"] for topic in application["internal_topics"] or ()}
    _, *parts = _SUB_TOPOLOGY.split(application["topology"])
    return joined(
        _of_part(application, place, number, text, internal) for number, text in zip(parts[::2], parts[1::2], strict=True)
    )


def _of_part(application: Mapping[str, Any], place: str | None, number: str, text: str, internal: set[str]) -> Lineage:
    name = application["application"]
    here = LineageNode(f"application:{name}/{number}", APPLICATION, name, f"sub-topology {number}", application["state"])
    named = [source_nodes(name, sources, internal, place) for sources in _SOURCE.findall(text)]
    read = {node.id: node for nodes in named for node in nodes}
    written = [full_name(name, topic, internal) for topic in _SINK.findall(text)]
    stores = (f"{name}-{store}-changelog" for store_names in _STORES.findall(text) for store in comma_separated(store_names))
    written += [topic for topic in stores if topic in internal]
    targets = {node.id: node for node in (topic_node(topic, place) for topic in written)}
    edges = [*(LineageEdge(source, here.id) for source in read), *(LineageEdge(here.id, target) for target in targets)]
    return Lineage([here, *(read | targets).values()], edges)


def source_nodes(application: str, sources: str, internal: set[str], place: str | None = None) -> list[LineageNode]:
    """What a source reads; sources: topics in brackets, or the pattern of an application that subscribes by one.

    Which topics match a pattern the topology does not say: that is a node of its own.
    """
    if sources.startswith("[") and sources.endswith("]"):
        return [topic_node(full_name(application, topic, internal), place) for topic in comma_separated(sources[1:-1])]
    return [LineageNode(f"unknown:application:{application}/{sources}", UNKNOWN, f"topics like {sources}", place)]


def full_name(application: str, topic: str, internal: set[str]) -> str:
    """The name on the cluster: a topology has its internal topics without the application before them."""
    full = f"{application}-{topic}"
    return full if full in internal else topic
