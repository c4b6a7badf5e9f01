"""Questions and results of the five APIs, from values to messages and back."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.share.persister import (
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
)
from kafka_lite.protocol.messages.api_85_write_share_group_state import WriteShareGroupStateRequest
from kafka_lite.server.share.persister import state_messages
from kafka_lite.server.share.persister.state_messages import StateMessages
from tests.support.share_coordinators import P0, P1, batch

FAILURE = PartitionErrorData(Errors.FENCED_LEADER_EPOCH, "too old")
BATCHES = (batch(1, 2), batch(3, 3, 2, 4))
CASES: list[tuple[StateMessages[Any, Any], Any, Any]] = [
    (state_messages.INITIALIZE, PartitionStateData(3, -1), PartitionErrorData()),
    (state_messages.READ, 7, PartitionAllData(3, 10, BATCHES)),
    (state_messages.WRITE, PartitionStateBatchData(3, 7, 10, BATCHES), FAILURE),
    (state_messages.DELETE, None, PartitionErrorData()),
    (state_messages.READ_SUMMARY, 7, PartitionStateSummaryData(3, 7, 10)),
]
NAMES = [messages.name for messages, _, _ in CASES]


@pytest.mark.parametrize(("messages", "data", "result"), CASES, ids=NAMES)
def test_questions_and_results_go_over_the_wire(messages: StateMessages[Any, Any], data: Any, result: Any) -> None:
    request = messages.to_request("group", {P0: data, P1: data})
    received: Any = type(request).decode(request.encode(0), 0)
    assert received.group_id == "group"
    assert [len(topic.partitions) for topic in received.topics] == [2]
    assert messages.from_request(received) == {P0: data, P1: data}

    response = messages.to_response({P1: result, P0: result})
    assert messages.from_response(type(response).decode(response.encode(0), 0)) == {P1: result, P0: result}


@pytest.mark.parametrize(("messages", "_data", "_result"), CASES, ids=NAMES)
def test_a_failure_goes_over_the_wire(messages: StateMessages[Any, Any], _data: Any, _result: Any) -> None:
    failed = messages.failed(FAILURE)
    assert messages.error_of(failed) is Errors.FENCED_LEADER_EPOCH
    response = messages.to_response({P0: failed})
    (received,) = messages.from_response(type(response).decode(response.encode(0), 0)).values()
    assert (received.error, received.message) == FAILURE


def test_a_partition_that_is_named_twice_counts_once() -> None:
    data = [PartitionStateBatchData(0, epoch, 0, ()) for epoch in (1, 2)]
    request = state_messages.WRITE.to_request("group", {P0: data[0]})
    again = state_messages.WRITE.to_request("group", {P0: data[1]})
    assert isinstance(request, WriteShareGroupStateRequest)
    assert isinstance(again, WriteShareGroupStateRequest)
    request.topics += again.topics
    assert state_messages.WRITE.from_request(request) == {P0: data[1]}


def test_an_error_that_is_unknown_is_an_error_of_the_server() -> None:
    response: Any = state_messages.DELETE.to_response({P0: PartitionErrorData()})
    response.results[0].partitions[0].error_code = 9999
    assert state_messages.DELETE.from_response(response)[P0].error is Errors.UNKNOWN_SERVER_ERROR
