"""The five requests to the share coordinator, as messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.share.persister import PartitionAllData, PartitionStateBatchData, PartitionStateData
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.server.apis.share.share_state_apis import ShareStateApis
from kafka_lite.server.share.persister import state_messages
from kafka_lite.server.share.persister.state_messages import StateMessages
from tests.support.share_coordinators import GROUP, P0, P1, ShareCoordination, batch

ALL = (
    state_messages.INITIALIZE,
    state_messages.READ,
    state_messages.WRITE,
    state_messages.DELETE,
    state_messages.READ_SUMMARY,
)


class Apis:
    """The handlers in front of a coordinator."""

    def __init__(self) -> None:
        self.share = ShareCoordination()
        apis = ShareStateApis(self.share.coordinator)
        self.handlers: dict[str, Callable[..., None]] = {
            "initialize state": apis.handle_initialize,
            "read state": apis.handle_read,
            "write state": apis.handle_write,
            "delete state": apis.handle_delete,
            "read state summary": apis.handle_read_summary,
        }

    def send(self, messages: StateMessages[Any, Any], request: Request) -> Response:
        responses: list[Response] = []
        self.handlers[messages.name](cast(Any, None), request, responses.append)
        (response,) = responses
        return response

    def ask(self, messages: StateMessages[Any, Any], data: Any) -> Any:
        response = self.send(messages, messages.to_request(GROUP, {P0: data}))
        (result,) = messages.from_response(response).values()
        return result


def test_a_state_is_initialized_written_read_and_deleted() -> None:
    apis = Apis()
    assert apis.ask(state_messages.INITIALIZE, PartitionStateData(1, 5)).error is Errors.NONE
    written = PartitionStateBatchData(1, 2, 6, [batch(6, 9, 2)])
    assert apis.ask(state_messages.WRITE, written).error is Errors.NONE
    assert apis.ask(state_messages.READ, 2) == PartitionAllData(1, 6, (batch(6, 9, 2),))
    assert apis.ask(state_messages.READ_SUMMARY, -1).start_offset == 6
    assert apis.ask(state_messages.DELETE, None).error is Errors.NONE
    assert apis.ask(state_messages.READ, 2).error is Errors.INVALID_REQUEST


def test_partitions_have_their_own_errors() -> None:
    apis = Apis()
    apis.share.initialize(partition=P0)
    request = state_messages.READ.to_request(GROUP, {P1: 0, P0: 0})
    results = state_messages.READ.from_response(apis.send(state_messages.READ, request))
    assert [(key, result.error) for key, result in results.items()] == [
        (P1, Errors.INVALID_REQUEST),
        (P0, Errors.NONE),
    ]


@pytest.mark.parametrize("messages", ALL, ids=[each.name for each in ALL])
def test_requests_that_lack_something_get_a_response_of_nothing(messages: StateMessages[Any, Any]) -> None:
    apis = Apis()
    data = {
        "initialize state": PartitionStateData(0, 0),
        "write state": PartitionStateBatchData(0, 0, 0, ()),
        "read state": 0,
        "read state summary": 0,
        "delete state": None,
    }[messages.name]
    nothing = messages.to_response({})
    without_partitions: Any = messages.to_request(GROUP, {P0: data})
    without_partitions.topics[0].partitions = []
    for request in (messages.to_request(GROUP, {}), messages.to_request("", {P0: data}), without_partitions):
        assert apis.send(messages, request) == nothing
