"""What ends an instance, without a broker: errors come to it as from a task or from the monitor of its topics."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from headrace.errors import MissingSourceTopicError
from headrace.streams import Consumed, KafkaStreams, Serdes, State, StreamsBuilder, StreamThreadExceptionResponse

ERROR = MissingSourceTopicError(["in"])  # which no broker has to explain


def running(**handlers: Callable[..., Any]) -> KafkaStreams:
    """An instance that is not a member of a group yet."""
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(Serdes.string(), Serdes.string())).to("out")
    streams = KafkaStreams(builder.build(), {"application.id": "app", "bootstrap.servers": "127.0.0.1:1"})
    for name, handler in handlers.items():
        getattr(streams, f"set_{name}")(handler)
    assert streams._instance.states.transition_to(State.REBALANCING)
    return streams


def unreachable(*_: Any) -> Any:
    raise ConnectionError("the pager is away")


def leave(*_: Any) -> Any:
    sys.exit(1)


@pytest.mark.parametrize("handler", [unreachable, leave, lambda error: None, lambda error: "replace"])
def test_an_uncaught_exception_handler_that_fails_or_answers_something_else_shuts_down_the_client(handler: Callable[..., Any]):
    streams = running(uncaught_exception_handler=handler)
    streams._instance._on_error(ERROR)
    assert (streams.state(), streams.error) == (State.ERROR, ERROR)


def test_an_uncaught_exception_handler_can_answer_with_the_text_of_a_response():
    streams = running(uncaught_exception_handler=lambda error: "replace_thread")
    assert streams._instance._response(ERROR) is StreamThreadExceptionResponse.REPLACE_THREAD


@pytest.mark.parametrize("listener", [unreachable, leave])
def test_a_state_listener_that_fails_stops_no_transition(listener: Callable[..., Any]):
    streams = running(state_listener=listener)
    streams._instance._on_error(ERROR)
    assert streams.state() is State.ERROR
    streams = running(state_listener=listener)
    assert streams.close()
    assert streams.state() is State.NOT_RUNNING
