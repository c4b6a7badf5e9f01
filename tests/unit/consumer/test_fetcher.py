"""The fetcher by itself: what it asks each leader for, what it keeps, and what it makes of every response."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.clients.request_future import RequestFuture
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError, RecordTooLargeError
from kafka_lite.consumer.fetcher import LATEST_FETCH_VERSION, SHORT_WAIT_MS, FetchConfig, Fetcher
from kafka_lite.consumer.fetcher_metrics import FetchManagerMetrics
from kafka_lite.consumer.offset_and_metadata import OffsetResetStrategy
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.consumer.timer import Timer
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

NODES = (Node(0, "a", 1), Node(1, "b", 2))
T0, T1, T2 = (TopicPartition("t", number) for number in range(3))
LEADERS = {T0: NODES[0], T1: NODES[0], T2: NODES[1]}


class StubMetadata:
    """A cluster that stays as it is; counts the requests for another."""

    def __init__(self) -> None:
        partitions = [PartitionInfo("t", tp.partition, node, leader_epoch=7) for tp, node in LEADERS.items()]
        self.cluster = Cluster(NODES, (*partitions, PartitionInfo("t", 3, None)))
        self.updates_wanted = 0

    def fetch(self) -> Cluster:
        return self.cluster

    def request_update(self) -> int:
        self.updates_wanted += 1
        return 0


class StubClient:
    """Keeps the requests; the test completes their futures."""

    def __init__(self) -> None:
        self.sent: list[tuple[Node, FetchRequest, RequestFuture[ClientResponse]]] = []
        self.builders: list[RequestBuilder] = []
        self.unavailable: set[Node] = set()

    def send(self, node: Node, request: RequestBuilder) -> RequestFuture[ClientResponse]:
        future: RequestFuture[ClientResponse] = RequestFuture()
        self.builders.append(request)
        self.sent.append((node, cast(FetchRequest, request.build(LATEST_FETCH_VERSION)), future))
        return future

    def is_unavailable(self, node: Node) -> bool:
        return node in self.unavailable

    def poll_future(self, _future: RequestFuture[Any], _timer: Timer) -> bool:
        return True


class Fetching:
    """A fetcher that is assigned partitions, all at position 0."""

    def __init__(
        self, *partitions: TopicPartition, reset: OffsetResetStrategy = OffsetResetStrategy.EARLIEST, **settings: Any
    ) -> None:
        self.time, self.client, self.metadata = MockTime(), StubClient(), StubMetadata()
        self.subscriptions = SubscriptionState(reset)
        self.subscriptions.assign_from_user(partitions)
        for partition in partitions:
            self.subscriptions.seek(partition, 0)
        config = FetchConfig(**settings)
        metrics = FetchManagerMetrics(Metrics(time=self.time))
        self.fetcher = Fetcher(
            cast(Any, self.client), cast(Any, self.metadata), self.subscriptions, config, metrics, self.time
        )

    def asked(self) -> dict[int, dict[int, int]]:
        """What is sent now: the offsets by partition, by node."""
        before = len(self.client.sent)
        count = self.fetcher.send_fetches()
        sent = self.client.sent[before:]
        assert len(sent) == count
        return {
            node.id: {each.partition: each.fetch_offset for topic in request.topics for each in topic.partitions}
            for node, request, _ in sent
        }

    def responds(
        self,
        *partitions: PartitionData,
        session_id: int = 0,
        error: Errors = Errors.NONE,
        topic_id: UUID = ZERO_UUID,
    ) -> None:
        """The response to the oldest request that has none."""
        node, _, future = next(each for each in self.client.sent if not each[2].is_done)
        topics = (
            [FetchableTopicResponse(topic="t", topic_id=topic_id, partitions=list(partitions))] if partitions else []
        )
        response = FetchResponse(error_code=error.code, session_id=session_id, responses=topics)
        future.complete(ClientResponse(ApiKey.FETCH, LATEST_FETCH_VERSION, 0, str(node.id), 0, 5, response=response))

    def values(self) -> dict[int, list[bytes]]:
        """The values that a poll returns, by partition."""
        fetched = self.fetcher.fetched_records()
        return {tp.partition: [record.value for record in records] for tp, records in fetched.items()}


def data(partition: TopicPartition, *values: bytes, offset: int = 0, **fields: Any) -> PartitionData:
    builder = MemoryRecordsBuilder(2, CompressionType.NONE, base_offset=offset)
    for value in values:
        builder.append(1000, None, value)
    records = bytes(builder.build()) if values else b""
    return PartitionData(partition_index=partition.partition, records=records, **fields)


def failed(partition: TopicPartition, error: Errors) -> PartitionData:
    return PartitionData(partition_index=partition.partition, error_code=error.code, records=b"")


def test_each_leader_gets_one_request_and_no_other_while_it_is_in_flight() -> None:
    fetching = Fetching(T0, T1, T2)
    assert fetching.asked() == {0: {0: 0, 1: 0}, 1: {2: 0}}
    assert fetching.asked() == {}
    fetching.responds(data(T0, b"a"), data(T1))
    assert fetching.asked() == {}, "T1 had no records, but the answer of its leader has not been looked at yet"
    assert fetching.values() == {0: [b"a"]}
    assert fetching.asked() == {0: {0: 1, 1: 0}}


def test_a_request_says_what_the_consumer_is_configured_to() -> None:
    fetching = Fetching(T0, min_bytes=3, max_bytes=4, max_wait_ms=5, max_partition_fetch_bytes=6, read_committed=True)
    fetching.asked()
    ((_, request, _),) = fetching.client.sent
    assert (request.min_bytes, request.max_bytes, request.max_wait_ms, request.isolation_level) == (3, 4, 5, 1)
    (asked,) = request.topics[0].partitions
    assert (asked.partition_max_bytes, asked.current_leader_epoch) == (6, 7)


def test_a_partition_without_a_leader_asks_for_metadata() -> None:
    fetching = Fetching(TopicPartition("t", 3), TopicPartition("unknown", 0))
    assert fetching.asked() == {}
    assert fetching.metadata.updates_wanted == 2


def test_a_leader_that_cannot_be_reached_is_left_alone() -> None:
    fetching = Fetching(T0, T2)
    fetching.client.unavailable.add(NODES[0])
    assert fetching.asked() == {1: {2: 0}}


def test_a_partition_with_buffered_records_is_not_fetched_and_its_leader_waits_shortly() -> None:
    fetching = Fetching(T0, T1, max_poll_records=1)
    fetching.asked()
    assert fetching.client.sent[-1][1].max_wait_ms == 500
    fetching.responds(data(T1), data(T0, b"a", b"b"))
    assert fetching.values() == {0: [b"a"]}
    assert fetching.asked() == {0: {1: 0}}, "b is still buffered"
    assert fetching.client.sent[-1][1].max_wait_ms == SHORT_WAIT_MS, "T0 will soon need the connection"
    fetching.responds(data(T1))
    assert fetching.values() == {0: [b"b"]}
    assert fetching.values() == {}
    assert fetching.asked() == {0: {1: 0, 0: 2}}
    assert fetching.client.sent[-1][1].max_wait_ms == 500


def test_a_poll_returns_at_most_max_poll_records_and_moves_the_position() -> None:
    fetching = Fetching(T0, T2, max_poll_records=3)
    fetching.asked()
    fetching.responds(data(T0, b"a", b"b"))
    fetching.responds(data(T2, b"c", b"d"))
    assert fetching.values() == {0: [b"a", b"b"], 2: [b"c"]}
    assert (fetching.subscriptions.position(T0), fetching.subscriptions.position(T2)) == (2, 1)
    assert fetching.values() == {2: [b"d"]}
    assert fetching.values() == {}


def test_records_are_dropped_after_a_seek() -> None:
    fetching = Fetching(T0, max_poll_records=1)
    fetching.asked()
    fetching.responds(data(T0, b"a", b"b"))
    assert fetching.values() == {0: [b"a"]}
    fetching.subscriptions.seek(T0, 40)
    assert fetching.values() == {}
    assert fetching.asked() == {0: {0: 40}}
    fetching.subscriptions.seek(T0, 50)
    fetching.responds(data(T0, b"x", offset=40))
    assert fetching.values() == {}, "the answer is for the old position"
    assert fetching.subscriptions.position(T0) == 50


def test_records_of_a_paused_partition_stay_until_it_is_resumed() -> None:
    fetching = Fetching(T0, T2, max_poll_records=1)
    fetching.asked()
    fetching.responds(data(T0, b"a", b"b"))
    fetching.responds(data(T2, b"c"))
    assert fetching.values() == {0: [b"a"]}
    fetching.subscriptions.pause(T0)
    assert fetching.values() == {2: [b"c"]}
    assert fetching.values() == {}
    assert not fetching.fetcher.has_available_fetches()
    fetching.subscriptions.resume(T0)
    assert fetching.fetcher.has_available_fetches()
    assert fetching.values() == {0: [b"b"]}


def test_records_of_partitions_that_are_not_assigned_any_more_are_dropped() -> None:
    fetching = Fetching(T0, T2, max_poll_records=1)
    fetching.asked()
    fetching.responds(data(T0, b"a", b"b"))
    fetching.responds(data(T2, b"c"))
    assert fetching.values() == {0: [b"a"]}
    fetching.fetcher.on_assignment(frozenset({T2}))
    fetching.subscriptions.assign_from_user([T2])
    assert fetching.values() == {2: [b"c"]}
    fetching.fetcher.on_assignment(frozenset())
    assert not fetching.fetcher.has_available_fetches()


@pytest.mark.parametrize(
    "error",
    [Errors.NOT_LEADER_OR_FOLLOWER, Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_TOPIC_OR_PARTITION,
     Errors.KAFKA_STORAGE_ERROR, Errors.OFFSET_NOT_AVAILABLE],
)  # fmt: skip
def test_an_error_of_another_leader_asks_for_metadata_and_fetches_again(error: Errors) -> None:
    fetching = Fetching(T0)
    fetching.asked()
    fetching.responds(failed(T0, error))
    assert fetching.values() == {}
    assert fetching.metadata.updates_wanted == 1
    assert fetching.asked() == {0: {0: 0}}


def test_an_offset_out_of_range_is_reset_or_raised() -> None:
    fetching = Fetching(T0)
    fetching.asked()
    fetching.responds(failed(T0, Errors.OFFSET_OUT_OF_RANGE))
    assert fetching.values() == {}
    assert fetching.subscriptions.partitions_needing_reset(0) == {T0: OffsetResetStrategy.EARLIEST}
    strict = Fetching(T0, reset=OffsetResetStrategy.NONE)
    strict.asked()
    strict.responds(failed(T0, Errors.OFFSET_OUT_OF_RANGE))
    with pytest.raises(OffsetOutOfRangeError) as raised:
        strict.values()
    assert raised.value.offsets == {T0: 0}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Errors.TOPIC_AUTHORIZATION_FAILED, r"Not authorized to access topics: \[t\]"),
        (Errors.CORRUPT_MESSAGE, "corrupt message when fetching offset 0"),
        (Errors.INVALID_REQUEST, "Unexpected error INVALID_REQUEST"),
    ],
)
def test_errors_that_the_user_must_handle_are_raised_once(error: Errors, message: str) -> None:
    fetching = Fetching(T0)
    fetching.asked()
    fetching.responds(failed(T0, error))
    with pytest.raises(ApiError, match=message) as raised:
        fetching.values()
    assert raised.value.error is error
    assert fetching.values() == {}
    assert fetching.asked() == {0: {0: 0}}


def test_an_error_does_not_swallow_the_records_before_it() -> None:
    fetching = Fetching(T0, T2)
    fetching.asked()
    fetching.responds(data(T0, b"a"))
    fetching.responds(failed(T2, Errors.TOPIC_AUTHORIZATION_FAILED))
    assert fetching.values() == {0: [b"a"]}
    with pytest.raises(ApiError, match="Not authorized"):
        fetching.values()


def test_a_server_error_is_only_logged() -> None:
    fetching = Fetching(T0)
    fetching.asked()
    fetching.responds(failed(T0, Errors.UNKNOWN_SERVER_ERROR))
    assert fetching.values() == {}
    assert fetching.metadata.updates_wanted == 0


def test_a_batch_that_never_fits_is_an_error() -> None:
    fetching = Fetching(T0)
    fetching.asked()
    cut_off = (data(T0, b"a" * 100).records or b"")[:80]
    fetching.responds(PartitionData(partition_index=0, records=cut_off))
    with pytest.raises(KafkaError, match="Failed to make progress reading messages at t-0=0"):
        fetching.values()
    old = Fetching(T0, max_partition_fetch_bytes=80)
    old.asked()
    node, _, future = old.client.sent[0]
    topics = [FetchableTopicResponse(topic="t", partitions=[PartitionData(partition_index=0, records=cut_off)])]
    future.complete(ClientResponse(ApiKey.FETCH, 2, 0, str(node.id), 0, 5, response=FetchResponse(responses=topics)))
    with pytest.raises(RecordTooLargeError):
        old.values()


def test_the_ends_of_a_log_are_noted_where_the_response_has_them() -> None:
    fetching = Fetching(T0)
    fetching.asked()
    fetching.responds(data(T0, b"a", high_watermark=9, last_stable_offset=8, log_start_offset=1))
    fetching.values()
    state = fetching.subscriptions.state(T0)
    assert (state.high_watermark, state.last_stable_offset, state.log_start_offset) == (9, 8, 1)
    fetching.asked()
    fetching.responds(data(T0, b"b", offset=1, high_watermark=-1, last_stable_offset=-1, log_start_offset=-1))
    fetching.values()
    assert (state.high_watermark, state.last_stable_offset, state.log_start_offset) == (9, 8, 1)


def test_a_session_saves_naming_partitions_that_have_not_moved() -> None:
    fetching = Fetching(T0, T1)
    assert fetching.asked() == {0: {0: 0, 1: 0}}
    fetching.responds(data(T0, b"a"), data(T1), session_id=5)
    fetching.values()
    assert fetching.asked() == {0: {0: 1}}
    request = fetching.client.sent[-1][1]
    assert (request.session_id, request.session_epoch) == (5, 1)
    fetching.responds(error=Errors.FETCH_SESSION_ID_NOT_FOUND)
    assert fetching.asked() == {0: {0: 1, 1: 0}}, "the broker has forgotten the session: all are named again"


def test_a_lost_connection_lets_the_leader_be_asked_again() -> None:
    fetching = Fetching(T0)
    fetching.asked()
    fetching.client.sent[0][2].fail(Errors.NETWORK_EXCEPTION)
    assert fetching.asked() == {0: {0: 0}}


def test_closing_ends_the_sessions_of_reachable_brokers() -> None:
    fetching = Fetching(T0, T2)
    fetching.asked()
    fetching.responds(data(T0, b"a"), session_id=5)
    fetching.fetcher.close(Timer(fetching.time, 1000))
    node, request, _ = fetching.client.sent[-1]
    assert (node.id, request.session_id, request.session_epoch, request.topics) == (0, 5, -1, [])
    assert len(fetching.client.sent) == 3, "the fetch at broker 1 has not ended, so its session is left to time out"
    assert fetching.values() == {}


class TestTopicIds:
    """A topic that is made again under its name is another topic."""

    FIRST, SECOND = UUID(int=1), UUID(int=2)

    def fetching(self, topic_id: UUID) -> Fetching:
        fetching = Fetching(T0)
        fetching.metadata.cluster = replace(fetching.metadata.cluster, topic_ids={"t": topic_id})
        return fetching

    def test_a_topic_is_named_by_its_id(self) -> None:
        fetching = self.fetching(self.FIRST)
        fetching.asked()
        assert fetching.client.sent[-1][1].topics[0].topic_id == self.FIRST
        assert fetching.client.builders[-1].latest_version == LATEST_FETCH_VERSION

    def test_without_ids_no_version_is_asked_for_that_needs_them(self) -> None:
        fetching = Fetching(T0)
        fetching.asked()
        assert fetching.client.builders[-1].latest_version == 12

    def test_the_session_forgets_the_topic_that_has_gone(self) -> None:
        fetching = self.fetching(self.FIRST)
        fetching.asked()
        fetching.responds(failed(T0, Errors.UNKNOWN_TOPIC_ID), session_id=5, topic_id=self.FIRST)
        fetching.values()
        assert fetching.metadata.updates_wanted == 1
        fetching.metadata.cluster = replace(fetching.metadata.cluster, topic_ids={"t": self.SECOND})
        assert fetching.asked() == {0: {0: 0}}
        request = fetching.client.sent[-1][1]
        assert [topic.topic_id for topic in request.topics] == [self.SECOND]
        assert [topic.topic_id for topic in request.forgotten_topics_data] == [self.FIRST]


class TestReadingFromAFollower:
    """KIP-392: the leader of T0 prefers broker 1."""

    @pytest.fixture
    def fetching(self) -> Fetching:
        fetching = Fetching(T0, rack_id="b", read_replica_lease_ms=1000)
        info = PartitionInfo("t", 0, NODES[0], NODES, leader_epoch=7)
        fetching.metadata.cluster = Cluster(NODES, (info,))
        assert fetching.asked() == {0: {0: 0}}
        assert fetching.client.sent[0][1].rack_id == "b"
        fetching.responds(data(T0, preferred_read_replica=1, high_watermark=5))
        assert fetching.values() == {}
        return fetching

    def test_the_next_fetch_goes_there_and_the_leaders_session_forgets_it(self, fetching: Fetching) -> None:
        assert fetching.asked() == {1: {0: 0}}
        fetching.responds(data(T0, b"x"))
        assert fetching.values() == {0: [b"x"]}
        assert fetching.asked() == {1: {0: 1}}

    def test_the_lease_ends(self, fetching: Fetching) -> None:
        fetching.time.sleep(1001)
        assert fetching.asked() == {0: {0: 0}}

    @pytest.mark.parametrize(
        "error", [Errors.NOT_LEADER_OR_FOLLOWER, Errors.FENCED_LEADER_EPOCH, Errors.OFFSET_OUT_OF_RANGE]
    )
    def test_after_an_error_of_the_follower_the_leader_is_asked(self, fetching: Fetching, error: Errors) -> None:
        """Also if the offset is out of range there: it may only lag, so the position stays."""
        fetching.asked()
        fetching.responds(failed(T0, error))
        assert fetching.values() == {}
        assert fetching.asked() == {0: {0: 0}}

    def test_out_of_range_at_the_leader_is_true(self, fetching: Fetching) -> None:
        for _ in range(2):
            fetching.asked()
            fetching.responds(failed(T0, Errors.OFFSET_OUT_OF_RANGE))
            fetching.values()
        assert fetching.subscriptions.position(T0) is None

    def test_a_lost_connection_leads_back_to_the_leader(self, fetching: Fetching) -> None:
        fetching.asked()
        fetching.client.sent[-1][2].fail(KafkaError("lost"))
        assert fetching.asked() == {0: {0: 0}}
