"""Copies under unchanged and under given names, and records that have been in the target before."""

from __future__ import annotations

from headrace.connectors.mirror.source_task import PROVENANCE
from tests.clusters import record
from tests.mirror.flow import FLOW_S, Flow
from tests.support import wait_until


def test_under_unchanged_names_a_record_that_came_from_the_target_is_left_out(flow: Flow) -> None:
    kept, renamed = f"both-{flow.name}", f"old-{flow.name}"
    target = f"{flow.name}-b".encode()
    for topic in (kept, renamed):
        flow.source.create(topic)
    from_target = record(b"back", b"v", [(PROVENANCE, target)])
    through_it = record(b"around", b"v", [(PROVENANCE, target), (PROVENANCE, b"c")])
    here, elsewhere = record(b"here", None, [("h", b"1")]), record(b"elsewhere", b"v", [(PROVENANCE, b"c")])
    flow.source.produce(kept, [from_target, here, through_it, elsewhere])
    flow.source.produce(renamed, [here])
    name = flow.deploy("MirrorSourceConnector", {
        "name": f"{flow.name}-names", "topics": f"{kept},{renamed}", "provenance.headers.enabled": "true",
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        "replication.policy.renames": f"{renamed}:new-{flow.name}", "emit.offset-syncs.enabled": "false",
        "offset-syncs.topic.replication.factor": None,
    })  # fmt: skip
    hop = (PROVENANCE, flow.alias.encode())
    wait_until(lambda: flow.destination.size(kept) >= 2, FLOW_S, "two records")
    found = flow.destination.read(kept)
    assert found == [here._replace(headers=[*here.headers, hop]), elsewhere._replace(headers=[*elsewhere.headers, hop])]
    wait_until(lambda: flow.destination.size(f"new-{flow.name}") == 1, FLOW_S, "the copy with a name of its own")
    flow.remove(name)
