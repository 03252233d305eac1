"""The OpenAPI document is true: a client that only knows the document asks a real worker for everything in it."""

from __future__ import annotations

import re
from urllib.parse import quote

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import CheckContext, CheckFunction
from schemathesis.core.transport import Response
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from headrace.rest.cluster_figures import ClusterFigures
from headrace.rest.forwarding import WorkerClient
from headrace.rest.overview import Overview
from headrace.rest.routes import MAIN, dead_letters, lineage, loggers, logs, metrics, overview, preview, schemas, streams, workers
from headrace.rest.streams_reports import GroupReports, StreamsReports
from tests.rest.conftest import worker_config

NAME = "a/b c%41 ü"
SOURCE = {"connector.class": "FileStreamSource", "topic": "t", "file": "/nowhere"}
SERVER_ERRORS = {
    r"The body of the request is n": "JSON that cannot be parsed",
    r"The request has no (body|configuration)": "a body that is absent or null",
    r" has to be (a text, a number or a boolean|a JSON object|a JSON array); got ": "JSON of another kind",
    r"^Unrecognized field ": "a field that is not known",
    r"^The number .* is out of range": "a number that is no double",
    r"^No such initial_state: ": "an unknown initial state",
    r"^An entry of \"offsets\" is null": "an offset that is null",
    r"^(Partition objects|Offset objects|Offsets may|The value for the 'position')": "what a connector says of an offset",
    r"^Illegal null or empty Level name": "an empty log level",
    r"^org\.apache\.kafka\.connect\.runtime\.rest\.errors\.BadRequestException: ": "a validation without a connector to ask",
}
"""The beginnings of the messages that Kafka Connect, and so headrace, gives with 500 to bad input (recorded) → the input."""


@pytest.fixture(scope="module")
def api(worker_url: str) -> BaseSchema:
    return schemathesis.openapi.from_url(f"{worker_url}/openapi.json")


@pytest.fixture
def connector(worker_url: str) -> None:
    body = {"name": NAME, "config": SOURCE, "initial_state": "STOPPED"}
    assert httpx.post(f"{worker_url}/connectors", json=body, timeout=100).status_code in (201, 409)


def says_what_is_wrong(_context: CheckContext, response: Response, _case: schemathesis.Case) -> None:
    """An error is one that Kafka Connect gives as well, in a sentence, never in a trace."""
    if response.status_code < 400:
        return
    message = response.json()["message"]
    assert message and "Traceback" not in message and 'File "' not in message
    if response.status_code >= 500:
        assert any(re.search(known, message) for known in SERVER_ERRORS), message


QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]
CHECKS: list[CheckFunction] = [
    content_type_conformance, response_schema_conformance, status_code_conformance, negative_data_rejection, says_what_is_wrong,
]  # fmt: skip
_CONFIG, _OTHERS = worker_config(), WorkerClient()
_REPORTS = GroupReports(StreamsReports(), _OTHERS)
RESOURCES = (
    *MAIN, loggers.resource, metrics.resource(StreamsReports()), preview.resource(_CONFIG), dead_letters.resource(_CONFIG),
    logs.resource(_OTHERS), schemas.resource(_OTHERS), workers.resource(_OTHERS), streams.resource(_REPORTS),
    lineage.resource(_REPORTS, _OTHERS, "here:9092"), overview.resource(Overview(ClusterFigures(_OTHERS)), _OTHERS),
)  # fmt: skip
ROUTES = [(route.method, route.path) for resource in RESOURCES for route in resource.routes]


@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.usefixtures("connector", "log_levels_restored")
def test_every_answer_is_as_the_document_says(api: BaseSchema, method: str, path: str, mode: GenerationMode) -> None:
    @given(case=api[path][method].as_strategy(generation_mode=mode))
    @settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=QUIET)
    def ask(case: schemathesis.Case) -> None:
        if len(case.path_parameters.get("connector", "")) % 2:
            case.path_parameters["connector"] = quote(NAME, safe="")
        response = case.call()
        if response.content or response.status_code != 400:  # a path that Kafka's HTTP server refuses: without a word, mostly
            case.validate_response(response, checks=CHECKS)

    try:
        ask()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # nothing that this request takes can be wrong
