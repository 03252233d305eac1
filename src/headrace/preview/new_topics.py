"""The topics that a source would write to, and create, by the topics that it matches now: no record is needed.

{"topics": [DESTINATION, …],      as in `headrace.preview.run`; those to be created first
 "more": <count of those that are left out>,
 "note": null | <sentence: why they are not known>}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from headrace.preview.destination import TIMEOUT_S, destination
from headrace.preview.origin import PreviewPlan, RecordOrigin
from headrace.preview.records import RawRecord
from headrace.preview.run import Preview
from headrace.runtime.routing import router

_MOST = 100
"""Topics of an answer, and those that are sent through a chain: each is a job of Spark."""
_BY_RECORD = "A transform decides by the record to which topic it goes: preview records to see it."
_NOT_KNOWN = "Which topics {} writes to is not known before its first record."
_MIRROR = "The connector creates it, with the partitions and the settings of its source."


def planned_topics(preview: Preview, spark: Callable[[], object]) -> dict[str, Any]:
    """The plan of a validated configuration. Raises HeadraceError if a cluster does not answer.

    spark: returns the session, which evaluates a chain; not called where there is none.
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
    if plan.stages:
        spark()
    route = router(plan.stages)
    if route is None:
        return _answer([], _BY_RECORD)
    asked = sorted(sources)[: _MOST if plan.stages else None]
    routed = {topic: route(_at_chain(plan.origin, topic)) for topic in asked}
    targets = {target: topic for topic, target in routed.items() if target is not None}
    existing = preview.admin().partition_counts(TIMEOUT_S)
    missing = [target for target in sorted(targets) if target not in existing]
    names = [*missing, *(target for target in sorted(targets) if target in existing)]
    shown = names[:_MOST]
    if issubclass(preview.connector, MirrorSourceConnector):
        copies = _copies(preview.config, {target: targets[target] for target in shown if target not in existing}, sources)
    else:
        copies = {}
    topics = [copies.get(name) or _destination(plan, name, existing) for name in shown]
    return _answer(topics, more=len(names) - len(shown) + len(sources) - len(asked))


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


def _destination(plan: PreviewPlan, name: str, existing: Mapping[str, int]) -> dict[str, Any]:
    return destination(name, plan.creation, {name: existing.get(name)})


def _copies(config: Props, missing: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """The copies that a mirror creates itself. missing: copy → topic; counts: partitions by topic."""
    settings = MirrorSourceConfig(config)
    filter_ = SettingFilter(settings.config_properties_exclude, settings.use_defaults_from == "source")
    try:
        of_source = MirrorAdmin(client(config, "source", "admin")).settings(missing.values(), TIMEOUT_S)
    except HeadraceError:  # the settings alone are not known, or may not be described
        of_source = {}
    return {
        copy: destination(copy, None, {copy: None})
        | {
            "note": _MIRROR,
            "create": {
                "group": None,
                "partitions": counts[topic],
                "replication.factor": settings.replication_factor,
                "configs": filter_.of_new_topic(of_source.get(topic, ())),
            },
        }
        for copy, topic in missing.items()
    }
