"""The topics that a source would write to, and create, by the topics that it matches now: no record is needed.

{"topics": [DESTINATION, …],      as in `headrace.preview.run`; those to be created first
 "more": <count of those that are left out>,
 "note": null | <sentence: why they are not known>}
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from headrace.config.redaction import redacted
from headrace.connectors.base import Props
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.settings import SettingFilter
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from headrace.preview.destination import TIMEOUT_S, ExistingTopics, destination, existing_topics
from headrace.preview.origin import RecordOrigin
from headrace.preview.records import RawRecord
from headrace.preview.run import Preview
from headrace.runtime.routing import router, routing_stages

_MOST = 100
"""Topics of an answer."""
_BY_RECORD = "A transform decides by the record to which topic it goes: preview records to see it."
_NOT_KNOWN = "Which topics {} writes to is not known before its first record."
_MIRROR = "The connector creates it, with the partitions and the settings of its source."
_NOT_A_TARGET = "Its records go elsewhere: the chain changes their topic, or drops them."


def planned_topics(preview: Preview, spark: Callable[[], object]) -> dict[str, Any]:
    """The plan of a validated configuration. Raises HeadraceError if a cluster does not answer.

    spark: returns the session, which evaluates a chain; not called where no transform routes.
    """
    try:
        return redacted(_planned(preview, spark))
    finally:
        preview.plan.close()


def _planned(preview: Preview, spark: Callable[[], object]) -> dict[str, Any]:
    plan = preview.plan
    if plan.sink:
        return _answer([])
    sources = _sources(plan.origin)
    if sources is None:
        return _answer([], _NOT_KNOWN.format(preview.connector.plugin_name))
    if routing_stages(plan.stages):
        spark()
    route = router(plan.stages)
    if route is None:
        return _answer([], _BY_RECORD)
    at_chain = {topic: _at_chain(plan.origin, topic) for topic in sources}
    routed = route.all(at_chain.values())
    targets = {name for name in routed.values() if name is not None}
    # A mirror creates the copy of each topic before any record, so under the name that no chain has changed.
    mirror = issubclass(preview.connector, MirrorSourceConnector)
    topic_of = {copy: topic for topic, copy in at_chain.items()} if mirror else {}
    admin = preview.admin()
    counts = admin.partition_counts(TIMEOUT_S)
    missing = sorted(name for name in targets | topic_of.keys() if name not in counts)
    names = [*missing, *sorted(targets & counts.keys())]
    shown = names[:_MOST]
    # A topic that the listing lacks may be one that this principal may not describe.
    existing = {**counts, **existing_topics(missing[:_MOST], lambda: admin)}
    to_create = {name: topic_of[name] for name in shown if name in topic_of and existing.get(name) is None}
    copies = _copies(preview.config, to_create, sources, existing, targets) if to_create else {}
    topics = [copies.get(name) or destination(name, plan.creation, existing) for name in shown]
    return _answer(topics, more=len(names) - len(shown))


def _answer(topics: list[dict[str, Any]], note: str | None = None, more: int = 0) -> dict[str, Any]:
    return {"topics": topics, "more": more, "note": note}


def _sources(origin: RecordOrigin) -> dict[str, int] | None:
    """The topics that are read, with their partition counts; None: not known."""
    if origin.live is not None:
        topics = Admin(origin.live.admin).topics(TIMEOUT_S, origin.live.matches)
        return {name: len(info.partitions) for name, info in topics.items() if not info.internal}
    return {origin.default_topic: 1} if origin.writes_default_topic else None


def _at_chain(origin: RecordOrigin, topic: str) -> str:
    """The topic of a record when it enters the chain."""
    return origin.chain_input(RawRecord(topic, None, 0, None, None, None)).topic


def _copies(
    config: Props, topic_of: Mapping[str, str], counts: Mapping[str, int], existing: ExistingTopics, targets: Collection[str]
) -> dict[str, dict[str, Any]]:
    """The copies that a mirror creates itself.

    topic_of: the topic of each copy; counts: partitions by topic; targets: the topics that records go to.
    """
    settings = MirrorSourceConfig(config)
    filter_ = SettingFilter(settings.config_properties_exclude, settings.use_defaults_from == "source")
    try:
        of_source = MirrorAdmin(client(config, "source", "admin")).settings(topic_of.values(), TIMEOUT_S)
    except HeadraceError:  # the settings alone are not known, or may not be described
        of_source = {}
    return {
        copy: destination(copy, None, existing)
        | {
            "note": _MIRROR if copy in targets else f"{_MIRROR} {_NOT_A_TARGET}",
            "create": {
                "group": None,
                "partitions": counts[topic],
                "replication.factor": settings.replication_factor,
                "configs": filter_.of_new_topic(of_source.get(topic, ())),
            },
        }
        for copy, topic in topic_of.items()
    }
