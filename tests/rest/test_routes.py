"""What the routes make of requests before the herder sees them, and of its answers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from headrace.errors import BadRequestError, NotFoundError
from headrace.kafka.delivered_position import DeliveredPosition
from headrace.runtime.metrics import Metrics
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder

CLASS = {"connector.class": "FileStreamSource"}


def test_a_connector_is_created_at_the_address_the_client_used(call: Client, herder: MemoryHerder) -> None:
    body = {"name": " x ", "config": {**CLASS, "tasks.max": 1, "flag": True, "none": None}}
    headers = {"Content-Type": "application/json", "Host": "example.org:99"}
    answer = call("POST", "/connectors", body, headers)
    assert (answer.status, answer.headers["location"]) == (201, "http://example.org:99/connectors/x")
    config = {**CLASS, "tasks.max": "1", "flag": "true", "none": None, "name": "x"}
    assert answer.json == {"name": "x", "config": config, "tasks": [], "type": "source"}
    assert herder.configs["x"] == config


def test_proxy_headers_do_not_change_the_location(call: Client) -> None:
    headers = {"Content-Type": "application/json", "X-Forwarded-Proto": "https", "Host": "h:1"}
    answer = call("POST", "/connectors", {"name": "x", "config": CLASS}, headers)
    assert answer.headers["location"] == "http://h:1/connectors/x"


def test_the_initial_state_is_handed_on_in_upper_case(call: Client, herder: MemoryHerder) -> None:
    call("POST", "/connectors", {"name": "x", "config": CLASS, "initial_state": "stopped"})
    assert herder.states == {"x": "STOPPED"}


@pytest.mark.parametrize("state", ["FOO", "", 1])
def test_an_unknown_initial_state_is_a_500(call: Client, herder: MemoryHerder, state: object) -> None:
    answer = call("POST", "/connectors", {"name": "x", "config": CLASS, "initial_state": state})
    assert answer.status == 500
    assert herder.configs == {}


def test_the_names_in_url_and_configuration_have_to_agree(call: Client) -> None:
    expected = "Connector name configuration (d) doesn't match connector name in the URL (c)"
    for answer in (
        call("PUT", "/connectors/c/config", {**CLASS, "name": "d"}),
        call("POST", "/connectors", {"name": "c", "config": {**CLASS, "name": "d"}}),
    ):
        assert (answer.status, answer.message) == (400, expected)


def test_put_creates_and_then_replaces(call: Client) -> None:
    first, second = (call("PUT", "/connectors/c/config", {**CLASS, "n": n}) for n in (1, 2))
    assert (first.status, second.status) == (201, 200)
    assert "location" in first.headers and "location" not in second.headers
    assert call("GET", "/connectors/c/config").json == {**CLASS, "n": "2", "name": "c"}


def test_patch_without_a_body_still_looks_for_the_connector(call: Client, herder: MemoryHerder) -> None:
    assert call("PATCH", "/connectors/c/config", raw="null").status == 404
    herder.create("c", dict(CLASS))
    assert call("PATCH", "/connectors/c/config", raw="null").status == 500
    assert call("PATCH", "/connectors/c/config", {"a": 1}).json["config"] == {**CLASS, "a": "1"}


def test_expand_leaves_out_what_was_deleted_meanwhile(call: Client, herder: MemoryHerder) -> None:
    herder.create("a", dict(CLASS))
    herder.connectors = lambda: ["a", "gone"]  # type: ignore[method-assign]
    assert list(call("GET", "/connectors?expand=status&expand=foo").json) == ["a"]
    assert call("GET", "/connectors?expand").json == {"a": {}, "gone": {}}


def test_of_several_offsets_of_one_partition_the_last_is_taken(call: Client, herder: MemoryHerder) -> None:
    herder.create("s", dict(CLASS))
    offsets = [
        {"partition": {"f": "x", "g": 1}, "offset": {"position": 3}},
        {"partition": {"g": 1, "f": "x"}, "offset": {"position": 6.5}},
        {"partition": {"f": "y"}},
        {},
    ]
    assert call("PATCH", "/connectors/s/offsets", {"offsets": offsets}).status == 200
    assert herder.changes["s"] == [(None, None), ({"g": 1, "f": "x"}, {"position": 6.5}), ({"f": "y"}, None)]


def test_offsets_are_altered_in_the_order_of_a_hash_map_so_that_the_same_mistake_is_reported_first(
    call: Client, herder: MemoryHerder
) -> None:
    herder.create("s", dict(CLASS))
    groups = ("g", "other")  # asked of Kafka Connect 4.3
    offsets = [{"partition": {"group": group, "topic": "t", "partition": 0}, "offset": {"offset": 0}} for group in groups]
    assert call("PATCH", "/connectors/s/offsets", {"offsets": offsets}).status == 200
    assert [partition["group"] for partition, _ in herder.changes["s"] if partition] == ["other", "g"]


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        ("", 500),
        ("null", 500),
        ("[]", 500),
        ("{}", 400),
        ('{"offsets":[]}', 400),
        ('{"offsets":null}', 400),
        ('{"offsets":{}}', 500),
        ('{"offsets":[null]}', 500),
        ('{"other":[]}', 500),
        ('{"offsets":[{"x":1}]}', 500),
        ('{"offsets":[{"partition":"x","offset":1}]}', 500),
    ],
)
def test_offsets_of_another_shape_are_refused(call: Client, raw: str, status: int) -> None:
    assert call("PATCH", "/connectors/s/offsets", raw=raw).status == status


def test_a_validation_needs_a_configuration(call: Client) -> None:
    path = "/connector-plugins/FileStreamSource/config/validate"
    assert [call("PUT", path, raw=raw).status for raw in ("", "null", "[]", '"x"', "{")] == [500] * 5
    assert call("PUT", path, CLASS).json["name"] == "FileStreamSource"


def test_health_is_starting_until_the_worker_is_ready(call: Client, herder: MemoryHerder) -> None:
    assert call("GET", "/health").json["status"] == "healthy"
    herder.up = False
    starting = call("GET", "/health")
    assert (starting.status, starting.json) == (503, {"status": "starting", "message": "Worker is still starting up."})


def test_a_broken_worker_is_unhealthy(call: Client, herder: MemoryHerder) -> None:
    def fail() -> None:
        raise NotFoundError("The config topic is gone.")

    herder.ping = fail  # type: ignore[method-assign]
    answer = call("GET", "/health")
    assert (answer.status, answer.json["status"]) == (500, "unhealthy")
    assert answer.json["message"].endswith("may be unable to handle other requests. The config topic is gone.")


def test_a_level_for_the_cluster_is_set_when_it_is_read_back(serve: Callable[..., Client], herder: MemoryHerder) -> None:
    call = serve()
    target = "/admin/loggers/test.rest.shared"
    assert call("PUT", target + "?scope=Cluster", {"level": "debug"}).status == 204
    assert call("GET", target).status == 404
    assert herder.log_levels == [("test.rest.shared", "debug")], "as it was sent"
    herder.read_log_levels()
    assert call("GET", target).json["level"] == "DEBUG"


def test_active_topics_are_shown_in_order(call: Client, herder: MemoryHerder) -> None:
    herder.topics["x"] = {"b", "a"}
    assert call("GET", "/connectors/x/topics").json == {"x": {"topics": ["a", "b"]}}
    assert (call("PUT", "/connectors/x/topics/reset").status, herder.topics) == (202, {})


def test_internal_requests_are_refused(call: Client) -> None:
    assert call("PUT", "/connectors/x/fence").message == "Internal request missing required signature"
    assert call("POST", "/connectors/x/tasks", [{"a": "b"}]).message == "Internal request missing required signature"
    for body in ("", "{}", '"x"', "no JSON", '[{"a": []}]'):  # read before its signature is asked for
        assert call("POST", "/connectors/x/tasks", raw=body).status == 500
    signed = {"X-Connect-Authorization": "abc"}
    assert call("PUT", "/connectors/x/fence", headers=signed).status == 403


def test_what_is_headraces_own_in_a_status_is_at_an_address_of_its_own(herder: MemoryHerder, call: Client) -> None:
    assert call("GET", "/headrace/connectors/c/status").status == 404
    herder.create("c", {"connector.class": "x"})
    assert "stream" not in call("GET", "/connectors/c/status").json["tasks"][0]
    assert call("GET", "/headrace/connectors/c/status").json["tasks"][0]["stream"]["mode"] == "microbatch"


def test_a_task_without_progress_while_its_lag_grows_is_in_its_own_status_and_the_overview(
    herder: MemoryHerder, call: Client
) -> None:
    herder.create("c", {"connector.class": "x"})
    now, lag = [0], {"t-0": 3}
    herder.metrics = Metrics(now=lambda: now[0])
    recorder = herder.metrics.task("c", 0, "source")
    recorder.follow_positions(lambda: {name: DeliveredPosition(0, behind) for name, behind in lag.items()})
    herder.metrics.task_state("c", 0, "RUNNING")
    assert {"progress", "stalled_ms"}.isdisjoint(call("GET", "/headrace/connectors/c/status").json["tasks"][0])
    now[0], lag["t-0"] = 90_000, 4
    own = call("GET", "/headrace/connectors/c/status").json["tasks"][0]
    assert (own["state"], own["progress"], own["stalled_ms"]) == ("RUNNING", "STALLED", 90_000)
    assert {"progress", "stalled_ms"}.isdisjoint(call("GET", "/connectors/c/status").json["tasks"][0])
    (task,) = call("GET", "/headrace/figures").json["tasks"]
    assert task["stalled_ms"] == 90_000
    (row,) = call("GET", "/headrace/overview").json["connectors"]
    assert row["problem"] == "Task 0 has made no progress for 90 s, and its lag grows."


def test_how_long_the_oldest_record_has_been_there_is_in_the_status_the_overview_and_the_figures(
    herder: MemoryHerder, call: Client
) -> None:
    herder.create("c", {"connector.class": "x"})
    now = [0]
    herder.metrics = Metrics(now=lambda: now[0])
    recorder = herder.metrics.task("c", 0, "source")
    recorder.follow_positions(lambda: {"t-0": DeliveredPosition(3, 9)})
    herder.metrics.task_state("c", 0, "RUNNING")
    call("GET", "/headrace/figures")
    now[0] = 90_000
    assert call("GET", "/headrace/connectors/c/status").json["tasks"][0]["freshness_ms"] == 90_000
    (row,) = call("GET", "/headrace/overview?sort=-freshness").json["connectors"]
    assert row["freshness_ms"] == call("GET", "/headrace/connectors/c/figures").json["freshness_ms"] == 90_000
    assert ">1.5 min<" in call("GET", "/ui").text
    assert re.search(r'headrace_task_freshness_ms\{[^}]*connector="c"[^}]*\} 90000', call("GET", "/metrics").text)


def test_a_connector_that_cannot_tell_how_far_it_is_behind_says_so(herder: MemoryHerder, call: Client) -> None:
    assert call("GET", "/headrace/connectors/c/lag").status == 404
    herder.create("c", {"connector.class": "x"})
    answer = call("GET", "/headrace/connectors/c/lag")
    assert (answer.status, answer.message) == (400, "It is not known how far the connector is behind.")


CREATION = {"name": "at", "config": {"connector.class": "FileStreamSource", "file": "/x", "topic": "t"}}
POSITION = [{"partition": {"filename": "/x"}, "offset": {"position": 7}}]


def test_a_connector_is_created_at_its_initial_offsets_where_that_is_switched_on(serve, herder: MemoryHerder):
    call = serve({"connector.initial.offsets.enable": "true"})
    answer = call("POST", "/connectors", {**CREATION, "initial_offsets": POSITION, "initial_state": "PAUSED"})
    assert (answer.status, bool(answer.json["offsets_status"])) == (201, True)
    assert herder.changes["at"] == [({"filename": "/x"}, {"position": 7})] and herder.states["at"] == "PAUSED"
    assert (
        call("POST", "/connectors", {**CREATION, "name": "b", "config": {**CREATION["config"]}}).json.get("offsets_status")
        is None
    )
    broken = call("POST", "/connectors", {**CREATION, "name": "c", "initial_offsets": {"a": 1}})
    assert (broken.status, "initial_offsets" in broken.message, "c" in herder.configs) == (400, True, False)


def test_nothing_is_left_of_a_connector_that_refuses_its_initial_offsets(serve, herder: MemoryHerder):
    def refuse(name: str, changes: object) -> str:
        raise BadRequestError("No such partition.")

    herder.alter_offsets = refuse  # type: ignore[method-assign]
    call = serve({"connector.initial.offsets.enable": "true"})
    assert call("POST", "/connectors", {**CREATION, "initial_offsets": POSITION}).status == 400
    assert "at" not in herder.configs


def test_without_that_initial_offsets_are_refused_as_by_kafka_connect(call: Client, herder: MemoryHerder):
    answer = call("POST", "/connectors", {**CREATION, "initial_offsets": POSITION})
    assert (answer.status, "Unrecognized field" in answer.message, herder.configs) == (500, True, {})
