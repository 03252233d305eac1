"""Where data comes from and goes to: the graph, its pictures, and where its nodes stand."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import asdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.cli.connectors import tables
from headrace.errors import RetriableError
from headrace.lineage.jobs import application_job
from headrace.registry.usage import SchemaUses
from headrace.rest.lineage import Lineage, LineageEdge, LineageNode, as_dot, as_mermaid, joined, with_schemas
from headrace.rest.page.layout import HEIGHT, draw
from headrace.rest.page.topology import picture
from headrace.rest.streams_lineage import of_application
from headrace.values.schema import DATE, Schema
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder
from tests.rest.test_connector_lineage import ALL, MIRROR, connector, flows, graph_of
from tests.rest.test_page import STREAMS


def test_what_one_reaches_is_what_lies_up_and_down_of_it_and_nothing_beside():
    reached = {node.name for node in ALL.reached(["connector:mirror"]).nodes}
    assert reached == {"a", "mirror", "copy.a", "sink", "/out"}
    assert {node.name for node in ALL.reached(["topic:lines"]).nodes} == {"/in", "file", "lines"}
    assert ALL.reached(["topic:none"]) == Lineage([], [])


def test_what_one_topic_of_a_mirror_reaches_is_its_copy_and_not_those_of_the_others():
    mirror = {"connector.class": "MirrorSourceConnector", "source.cluster.alias": "eu",
              "source.cluster.bootstrap.servers": "eu:9092"}  # fmt: skip
    read = [{"cluster": "eu", "topic": name, "partition": 0} for name in ("a", "b")]
    graph = joined([
        graph_of(connector("mirror"), "source", mirror, {"eu.a": 1, "eu.b": 1, "odd": 1}, read),
        graph_of(connector("rows"), "sink", {"file": "/rows"}, {"eu.a": 1}),
        graph_of(connector("both"), "sink", {"file": "/both"}, {"eu.a": 1, "eu.b": 1}),
    ])  # fmt: skip

    def reached(*ids: str) -> set[str]:
        return {node.name for node in graph.reached(ids).nodes}

    # Of which topics `odd` is made is not known.
    assert reached("topic:eu:9092/a") == {"a", "mirror", "eu.a", "odd", "rows", "/rows", "both", "/both"}
    assert reached("topic:eu:9092/b") == {"b", "mirror", "eu.b", "odd", "both", "/both"}
    assert reached("topic:eu.b") == {"b", "mirror", "eu.b", "both", "/both"}
    assert reached("topic:odd") == {"a", "b", "mirror", "odd"}
    assert reached("external:/rows") == {"a", "mirror", "eu.a", "rows", "/rows"}
    assert graph.reached(["connector:mirror"]) == graph.reached(["topic:eu:9092/a", "topic:eu:9092/b"])
    assert graph.reached(["connector:mirror"]).nodes == graph.nodes
    assert flows(graph.reached(["external:/both"])) == flows(graph) - {
        ("topic:eu.a", "connector:rows"), ("connector:rows", "external:/rows"), ("connector:mirror", "topic:odd"),
    }  # fmt: skip


def test_the_targets_of_a_mirror_that_are_not_known_are_not_kept_for_each_of_its_topics():
    topics = [f"t{number}" for number in range(2000)]
    mirror = {"connector.class": "MirrorSourceConnector", "source.cluster.alias": "eu",
              "source.cluster.bootstrap.servers": "eu:9092"}  # fmt: skip
    read = [{"cluster": "eu", "topic": name, "partition": 0} for name in topics]
    written = {f"eu.{name}": 1 for name in topics[:1000]} | {f"odd-{name}": 1 for name in topics[1000:]}
    graph = graph_of(connector("mirror"), "source", mirror, written, read)
    tracemalloc.start()
    try:
        reached = graph.reached(["topic:eu:9092/t7"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(reached.nodes) == 1003
    assert peak < 5_000_000, "a copy of 1,000 targets for each of 2,000 topics is 16 MB"


def test_it_is_drawn_for_other_tools_with_any_name():
    strange = joined([graph_of(connector('a"]<b>\n'), "source", {"file": "f"}, {'t"': 1})]).body()
    assert '"connector:a\\"]<b> " -> "topic:t\\"";' in as_dot(strange)
    assert as_mermaid(strange).splitlines() == [
        "flowchart LR", '  n0["a&quot;]&lt;b> "]', '  n1[/"f"/]', '  n2(["t&quot;"])', "  n0 --> n2", "  n1 --> n0",
    ]  # fmt: skip


@pytest.mark.parametrize(("state", "mark"), [("RUNNING", ""), ("ERROR", " (ERROR)"), ("PENDING_ERROR", " (PENDING_ERROR)")])
def test_a_streams_application_that_failed_is_marked_for_other_tools(state: str, mark: str):
    failed = Lineage([LineageNode("application:x/0", "application", "x", "sub-topology 0", state)], []).body()
    assert f'[label="x @ sub-topology 0{mark}", ' in as_dot(failed)
    assert as_mermaid(failed).splitlines()[1] == f'  n0[["x @ sub-topology 0{mark}"]]'


def test_over_rest_and_on_the_page(call: Client, herder: MemoryHerder):
    herder.create("c", {**MIRROR, "name": "c"})
    herder.topics["c"] = {"copy.a", "<b>"}
    herder.changes["c"] = [({"topic:partition": "a:0"}, {"offset": 1})]
    found = call("GET", "/headrace/lineage").json
    assert [node["id"] for node in found["nodes"] if not node["id"].startswith(("application", "topic:orders"))] == [
        "connector:c",
        "topic:<b>",
        "topic:copy.a",
        "topic:eu:9092/a",
    ]
    assert len(call("GET", "/headrace/lineage?topic=a").json["edges"]) == 3
    assert call("GET", "/headrace/lineage?connector=none").json == {"nodes": [], "edges": [], "columns": [], "not_reached": []}
    page = call("GET", "/ui/graph?connector=c", headers={"Accept": "text/html"}).text
    assert page.count('class="node') == 4 and "&lt;b&gt;" in page and "<b>" not in page


def test_a_cluster_that_is_away_is_not_waited_for(call: Client, herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch):
    def away(_name: str) -> None:
        raise RetriableError("The cluster does not answer.")

    herder.create("c", {**MIRROR, "name": "c"})
    herder.topics["c"] = {"copy.a"}
    herder.changes["c"] = [({"topic:partition": "a:0"}, {"offset": 1})]
    monkeypatch.setattr(herder, "offsets", away)
    ids = {node["id"] for node in call("GET", "/headrace/lineage?connector=c").json["nodes"]}
    assert ids == {"connector:c", "topic:copy.a", "topic:eu:9092/a"}


TOPOLOGY = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders, more])
      --> KSTREAM-KEY-SELECT-0000000001
    Sink: KSTREAM-SINK-0000000004 (topic: by-city-repartition)
      <-- KSTREAM-FILTER-0000000003

  Sub-topology: 1
    Source: KSTREAM-SOURCE-0000000005 (topics: [by-city-repartition])
      --> KSTREAM-AGGREGATE-0000000002
    Processor: KSTREAM-AGGREGATE-0000000002 (stores: [by-city])
      --> KTABLE-TOSTREAM-0000000006
    Sink: KSTREAM-SINK-0000000007 (topic: counts)
      <-- KTABLE-TOSTREAM-0000000006
"""


def test_the_topology_of_an_application_is_drawn_with_the_topics_between_its_sub_topologies():
    internal = [{"name": "app-by-city-repartition"}]
    found = picture({"application": "app", "topology": TOPOLOGY, "internal_topics": internal})
    assert flows(found) == {
        ("topic:orders", "KSTREAM-SOURCE-0000000000"), ("topic:more", "KSTREAM-SOURCE-0000000000"),
        ("KSTREAM-SINK-0000000004", "topic:app-by-city-repartition"),
        ("topic:app-by-city-repartition", "KSTREAM-SOURCE-0000000005"),
        ("KSTREAM-SOURCE-0000000005", "KSTREAM-AGGREGATE-0000000002"), ("KSTREAM-SINK-0000000007", "topic:counts"),
    }  # fmt: skip
    (store,) = (node for node in found.nodes if node.id == "KSTREAM-AGGREGATE-0000000002")
    assert (store.name, store.place) == ("KSTREAM-AGGREGATE-2", "sub-topology 1 · by-city")


def test_a_streams_application_reads_and_writes_topics_by_its_sub_topologies():
    internal = [{"name": "app-by-city-repartition"}, {"name": "app-by-city-changelog"}]
    found = of_application({"application": "app", "state": "ERROR", "topology": TOPOLOGY, "internal_topics": internal})
    assert flows(found) == {
        ("topic:orders", "application:app/0"), ("topic:more", "application:app/0"),
        ("application:app/0", "topic:app-by-city-repartition"), ("topic:app-by-city-repartition", "application:app/1"),
        ("application:app/1", "topic:app-by-city-changelog"), ("application:app/1", "topic:counts"),
    }  # fmt: skip
    assert [(node.name, node.place, node.state) for node in found.nodes if node.kind == "application"] == [
        ("app", "sub-topology 0", "ERROR"), ("app", "sub-topology 1", "ERROR"),
    ]  # fmt: skip


def test_what_an_application_reads_by_a_pattern_is_not_known():
    topology = TOPOLOGY.replace("[orders, more]", "(eu|us)-orders.[0-9]+")
    report = {"application": "app", "state": "RUNNING", "topology": topology, "internal_topics": [], "servers": "localhost:9092"}
    unknown = "unknown:application:app/(eu|us)-orders.[0-9]+"
    for found, reader in ((of_application(report), "application:app/0"), (picture(report), "KSTREAM-SOURCE-0000000000")):
        assert (unknown, reader) in flows(found)
        assert [(node.name, node.kind) for node in found.nodes if node.id == unknown] == [
            ("topics like (eu|us)-orders.[0-9]+", "unknown")
        ]
    assert application_job(report).description.endswith("It reads topics by a pattern, which does not say which.")


def test_applications_and_columns_are_in_the_lineage_that_is_asked_for(call: Client, herder: MemoryHerder):
    assert call("PUT", "/headrace/streams/sums/one", STREAMS | {"topology": TOPOLOGY}).status == 204
    chain = {
        "transforms": "m",
        "transforms.m.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.m.fields": "pin",
    }
    herder.create("masked", {**MIRROR, **chain, "name": "masked"})
    herder.topics["masked"] = {"more"}
    found = call("GET", "/headrace/lineage?application=sums&columns=true").json
    assert {"application:sums/1", "connector:masked", "topic:counts"} <= {node["id"] for node in found["nodes"]}
    assert {"connector": "masked", "column": "value.pin",
            "sources": [{"column": "value.pin", "transformation": "MASKED"}]} in found["columns"]  # fmt: skip
    assert call("GET", "/headrace/lineage?connector=masked").json["columns"] == []
    page = call("GET", "/ui/graph?connector=masked", headers={"Accept": "text/html"}).text
    assert "/ui/streams?application=sums" in page and "masked</span>" in page


def test_a_column_that_a_predicate_decides_about_is_listed_once(call: Client, herder: MemoryHerder):
    chain = {
        "transforms": "m", "transforms.m.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.m.fields": "pin", "transforms.m.predicate": "p", "predicates": "p", "predicates.p.pattern": "paid-.*",
        "predicates.p.type": "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
    }  # fmt: skip
    herder.create("masked", {**MIRROR, **chain, "name": "masked"})
    herder.topics["masked"] = {"more"}
    page = call("GET", "/ui/graph?connector=masked", headers={"Accept": "text/html"}).text
    (row,) = re.findall(r'<th scope="row">value.pin</th><td>(.*?)</td>', page)
    assert row.count("<code>value.pin</code>") == 1
    assert '<code>value.pin</code> <span class="dim">masked or unchanged</span>' in row
    assert '<code>topic</code> <span class="dim">decides whether it is changed</span>' in row
    (pin,) = [one for one in call("GET", "/headrace/lineage?columns=true").json["columns"] if one["column"] == "value.pin"]
    table = tables.columns([pin])
    assert [str(cell) for column in table.columns[2:] for cell in column.cells] == [
        "topic\nvalue.pin", "condition\nidentity, masked",
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40))
def test_every_node_has_a_place_of_its_own_even_in_circles(pairs: list[tuple[int, int]]):
    nodes = [LineageNode(str(n), "topic", str(n)) for n in range(13)]
    drawing = draw(Lineage(nodes, [LineageEdge(str(a), str(b)) for a, b in pairs]))
    places = sorted((box.x, box.y) for box in drawing.boxes)
    assert len(drawing.boxes) == 13 and len(drawing.curves) == len(pairs)
    assert all(a[0] != b[0] or b[1] - a[1] >= HEIGHT for a, b in pairwise(places))


def test_data_flows_from_left_to_right():
    places = {box.node.name: box.x for box in draw(ALL).boxes}
    assert places["a"] < places["mirror"] < places["copy.a"] < places["sink"] < places["/out"]


def test_what_nothing_leads_to_stands_before_the_first_that_it_leads_to():
    names = ("a", "b", "c", "late")
    edges = [LineageEdge("a", "b"), LineageEdge("b", "c"), LineageEdge("late", "c")]
    places = {box.node.name: box.x for box in draw(Lineage([LineageNode(n, "topic", n) for n in names], edges)).boxes}
    assert places["a"] < places["b"] == places["late"] < places["c"]


def test_topics_have_the_schemas_that_were_used_last() -> None:
    uses = SchemaUses()
    first, second = (Schema("struct", fields=fields) for fields in (
        {"n": Schema("int32")}, {"n": Schema("int32"), "day": Schema("int32", name=DATE)}))  # fmt: skip
    uses.add("written", "value", 1, "AVRO", ("copy.orders-value", 1), first)
    uses.add("written", "value", 2, "AVRO", ("copy.orders-value", 2), second)
    uses.add("read", "key", 3, "AVRO", ("orders-key", 1), Schema("string"))
    nodes = [LineageNode("connector:c", "connector", "c"), LineageNode("topic:far/orders", "topic", "orders", "far"),
             LineageNode("topic:copy.orders", "topic", "copy.orders")]  # fmt: skip
    uses.add("written", "key", 4, "AVRO", ("shop.Key", 1), Schema("string"), topic="copy.orders")
    edges = [LineageEdge("topic:far/orders", "connector:c"), LineageEdge("connector:c", "topic:copy.orders")]
    found = with_schemas(Lineage(nodes, edges), [asdict(use) for use in uses.all()]).body()["nodes"]
    assert not found[0]["schemas"]
    assert [(one["part"], one["id"], one["fields"]) for one in found[1]["schemas"]] == [("key", 3, ())]
    [key, value] = found[2]["schemas"]
    assert (key["part"], key["id"], key["subject"]) == ("key", 4, "shop.Key")  # as of RecordNameStrategy
    assert (value["part"], value["id"], value["version"]) == ("value", 2, 2)
    assert [(field["name"], field["type"]) for field in value["fields"]] == [("n", "INT32"), ("day", "Date")]


def test_a_copy_with_the_name_of_its_original_has_a_schema_of_its_own() -> None:
    uses = SchemaUses()
    uses.add("read", "value", 7, "AVRO", ("orders-value", 1), Schema("string"), topic="orders")
    uses.add("written", "value", 12, "AVRO", ("orders-value", 1), Schema("string"), topic="orders")
    nodes = [LineageNode("topic:far/orders", "topic", "orders", "far"), LineageNode("topic:orders", "topic", "orders")]
    edges = [LineageEdge("topic:far/orders", "connector:c"), LineageEdge("connector:c", "topic:orders")]
    found = with_schemas(Lineage(nodes, edges), [asdict(use) for use in uses.all()]).nodes
    assert [[schema["id"] for schema in node.schemas] for node in found] == [[7], [12]]
