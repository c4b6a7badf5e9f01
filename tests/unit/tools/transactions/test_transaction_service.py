"""The requests about transactions: an error that may pass is asked for again, no other is taken for success."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_lite.protocol.messages.api_27_write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from kafka_lite.protocol.messages.api_61_describe_producers import ProducerState
from kafka_lite.protocol.messages.api_65_describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from kafka_lite.protocol.messages.api_66_list_transactions import ListTransactionsResponse
from kafka_lite.protocol.messages.api_66_list_transactions import TransactionState as Listing
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.transactions.transaction_service import (
    MAX_RETRIES,
    RETRIABLE,
    ListedTransaction,
    OpenTransaction,
    abort_transaction,
    describe_transaction,
    describe_transactions,
    find_coordinator,
    find_hanging,
    force_terminate,
    list_transactions,
)
from tests.support.scripted_channel import ScriptedChannel, counted, metadata

P0 = TopicPartition("flights", 0)
COORDINATOR = FindCoordinatorResponse(node_id=1)
ASKED = (FindCoordinatorRequest, DescribeTransactionsRequest)
passing = pytest.mark.parametrize("error", sorted(RETRIABLE, key=lambda error: error.code))


def state(name: str, error: Errors = Errors.NONE, producer_id: int = 7) -> TransactionState:
    return TransactionState(
        transactional_id=name,
        error_code=error.code,
        transaction_state="Ongoing",
        producer_id=producer_id,
        topics=[TopicData(topic="flights", partitions=[0])],
    )


def states(*found: TransactionState) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(transaction_states=list(found))


def listed(*names: str) -> list[ListedTransaction]:
    return [ListedTransaction(name, 1, 7, "Ongoing") for name in names]


def described(channel: AdminChannel, *names: str) -> list[str]:
    return [each.transactional_id for _, each in describe_transactions(channel, listed(*names))]


@passing
def test_a_coordinator_that_is_not_available_yet_is_looked_for_again(error: Errors) -> None:
    channel = ScriptedChannel(FindCoordinatorResponse(error_code=error.code, node_id=-1), COORDINATOR)
    assert find_coordinator(channel, "a") == 1


def test_a_coordinator_that_is_never_found_is_an_error() -> None:
    channel = ScriptedChannel(FindCoordinatorResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code, node_id=-1))
    with pytest.raises(ToolError, match="COORDINATOR_NOT_AVAILABLE"):
        find_coordinator(channel, "a")
    assert len(channel.requests) == MAX_RETRIES


@passing
def test_only_the_ids_with_an_error_that_may_pass_are_asked_for_again(error: Errors) -> None:
    channel = ScriptedChannel(COORDINATOR, states(state("a"), state("b", error)), states(state("b")))
    assert described(channel, "a", "b") == ["a", "b"]
    assert counted(channel, ASKED) == [1, 2]
    assert channel.requests[-1] == DescribeTransactionsRequest(transactional_ids=["b"])


@passing
def test_an_error_that_does_not_pass_is_raised_with_its_id(error: Errors) -> None:
    channel = ScriptedChannel(COORDINATOR, states(state("a"), state("b", error)), states(state("b", error)))
    with pytest.raises(ToolError, match=f"transactional-id `b`: {error.name}"):
        described(channel, "a", "b")
    assert counted(channel, ASKED) == [MAX_RETRIES, MAX_RETRIES]


def test_an_id_that_has_expired_is_left_out() -> None:
    assert described(ScriptedChannel(states(state("a"), state("b", Errors.TRANSACTIONAL_ID_NOT_FOUND))), "a", "b") == [
        "a"
    ]


def test_an_id_that_expires_while_it_is_asked_for_again_is_left_out() -> None:
    first = states(state("a"), state("b", Errors.NOT_COORDINATOR))
    channel = ScriptedChannel(COORDINATOR, first, states(state("b", Errors.TRANSACTIONAL_ID_NOT_FOUND)))
    assert described(channel, "a", "b") == ["a"]


def test_an_id_that_may_not_be_described_is_an_error() -> None:
    channel = ScriptedChannel(states(state("a"), state("b", Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)))
    with pytest.raises(ToolError, match="transactional-id `b`: TRANSACTIONAL_ID_AUTHORIZATION_FAILED"):
        described(channel, "a", "b")


def test_a_single_id_that_does_not_exist_is_an_error() -> None:
    channel = ScriptedChannel(COORDINATOR, states(state("a", Errors.TRANSACTIONAL_ID_NOT_FOUND)))
    with pytest.raises(ToolError, match="transactional-id `a`: TRANSACTIONAL_ID_NOT_FOUND"):
        describe_transaction(channel, "a")


def test_a_single_id_is_asked_for_at_its_new_coordinator() -> None:
    moved = states(state("a", Errors.NOT_COORDINATOR))
    channel = ScriptedChannel(COORDINATOR, FindCoordinatorResponse(node_id=2), moved, states(state("a")))
    assert describe_transaction(channel, "a") == (2, state("a"))


def hanging(*found: TransactionState) -> list[OpenTransaction]:
    """Whether the transaction of the producer 7 in P0 hangs, if coordinators list the id a."""
    names = ListTransactionsResponse(transaction_states=[Listing(transactional_id="a", producer_id=7)])
    channel = ScriptedChannel(metadata(P0), names, COORDINATOR, *map(states, found))
    channel.refresh()
    return find_hanging(channel, [OpenTransaction(P0, ProducerState(producer_id=7))])


def test_a_transaction_that_its_coordinator_knows_does_not_hang() -> None:
    assert hanging(state("a")) == []


def test_a_transaction_whose_id_expires_during_the_search_hangs() -> None:
    (found,) = hanging(state("a", Errors.TRANSACTIONAL_ID_NOT_FOUND))
    assert found.partition == P0


def test_a_transaction_does_not_hang_because_its_coordinator_is_loading() -> None:
    assert hanging(state("a", Errors.COORDINATOR_LOAD_IN_PROGRESS), state("a")) == []


def test_a_coordinator_that_cannot_list_its_transactions_is_an_error() -> None:
    response = ListTransactionsResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code)
    channel = ScriptedChannel(metadata(P0), response)
    channel.refresh()
    with pytest.raises(ToolError, match="COORDINATOR_NOT_AVAILABLE"):
        list_transactions(channel)


def test_a_coordinator_that_is_loading_is_asked_again_for_its_transactions() -> None:
    loading = ListTransactionsResponse(error_code=Errors.COORDINATOR_LOAD_IN_PROGRESS.code)
    loaded = ListTransactionsResponse(transaction_states=[Listing(transactional_id="a", producer_id=7)])
    channel = ScriptedChannel(metadata(P0), loading, loading, loaded)
    channel.refresh()
    assert [each.transactional_id for each in list_transactions(channel)] == ["a"]


def test_a_coordinator_that_loads_for_ever_is_an_error() -> None:
    channel = ScriptedChannel(
        metadata(P0), ListTransactionsResponse(error_code=Errors.COORDINATOR_LOAD_IN_PROGRESS.code)
    )
    channel.refresh()
    with pytest.raises(ToolError, match="COORDINATOR_LOAD_IN_PROGRESS"):
        list_transactions(channel)


def written(*errors: Errors) -> WriteTxnMarkersResponse:
    partitions = [WritableTxnMarkerPartitionResult(error_code=error.code) for error in errors]
    topics = [WritableTxnMarkerTopicResult(name=P0.topic, partitions=partitions)]
    return WriteTxnMarkersResponse(markers=[WritableTxnMarkerResult(producer_id=7, topics=topics)])


def test_an_abort_marker_names_its_partition_alone() -> None:
    channel = ScriptedChannel(metadata(P0), written(Errors.NONE))
    abort_transaction(channel, P0, WritableTxnMarker(producer_id=7))
    (marker,) = channel.requests[-1].markers
    assert [(topic.name, topic.partition_indexes) for topic in marker.topics] == [("flights", [0])]


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        (written(Errors.INVALID_PRODUCER_EPOCH), "INVALID_PRODUCER_EPOCH"),
        (written(), "broker 1 did not say whether it has aborted the transaction in flights-0"),
        (WriteTxnMarkersResponse(), "broker 1 did not say"),
    ],
    ids=["an error", "no partition", "no marker"],
)
def test_an_abort_that_is_not_confirmed_is_an_error(response: WriteTxnMarkersResponse, complaint: str) -> None:
    with pytest.raises(ToolError, match=complaint):
        abort_transaction(ScriptedChannel(metadata(P0), response), P0, WritableTxnMarker())


def initialized(error: Errors) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error.code)


@passing
def test_a_producer_is_fenced_once_its_coordinator_can(error: Errors) -> None:
    channel = ScriptedChannel(COORDINATOR, initialized(error), initialized(Errors.NONE))
    force_terminate(channel, "a")
    assert counted(channel, [InitProducerIdRequest]) == [2]


@pytest.mark.parametrize("error", [Errors.CONCURRENT_TRANSACTIONS, Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED])
def test_a_producer_that_is_not_fenced_is_an_error(error: Errors) -> None:
    channel = ScriptedChannel(COORDINATOR, initialized(error))
    with pytest.raises(ToolError, match=error.name):
        force_terminate(channel, "a")
