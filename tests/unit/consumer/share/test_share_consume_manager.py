"""What is sent to each leader, and what becomes of acknowledgements when the leaders change."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.clients.request_future import DisconnectError, RequestFuture
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType
from kafka_lite.consumer.share.share_consume_manager import ReadSettings, ShareConsumeManager
from kafka_lite.consumer.share.share_session_handler import FetchLimits
from kafka_lite.protocol.messages import api_78_share_fetch as fetch
from kafka_lite.protocol.messages import api_79_share_acknowledge as acknowledge
from kafka_lite.protocol.schema import Response
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

NODES = (Node(0, "a", 1), Node(1, "b", 2))
ID = UUID(int=7)
P0, P1 = TopicIdPartition(ID, 0), TopicIdPartition(ID, 1)
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class StubMetadata:
    """A cluster whose leaders the test moves."""

    def __init__(self) -> None:
        self.leaders: dict[int, Node | None] = {0: NODES[0], 1: NODES[1]}
        self.updates_wanted = 0

    def fetch(self) -> Cluster:
        partitions = tuple(PartitionInfo("t", number, node) for number, node in self.leaders.items())
        return Cluster(NODES, partitions, topic_ids={"t": ID})

    def request_update(self) -> int:
        self.updates_wanted += 1
        return 0


class StubClient:
    """Keeps the requests; the test completes their futures."""

    def __init__(self) -> None:
        self.sent: list[tuple[Node, Any, RequestFuture[ClientResponse]]] = []
        self.unavailable: set[Node] = set()

    def send(self, node: Node, builder: RequestBuilder) -> RequestFuture[ClientResponse]:
        future: RequestFuture[ClientResponse] = RequestFuture()
        self.sent.append((node, builder.build(1), future))
        return future

    def is_unavailable(self, node: Node) -> bool:
        return node in self.unavailable


class Managed:
    """A manager with its stubs, and what it says of acknowledgements."""

    def __init__(self) -> None:
        self.metadata, self.client = StubMetadata(), StubClient()
        self.told: list[tuple[TopicPartition, set[int], Errors]] = []
        self.manager = ShareConsumeManager(
            "g",
            "m",
            cast(Any, self.client),
            cast(Any, self.metadata),
            FetchLimits(500, 1, 99, 10),
            ReadSettings(),
            self._tell,
        )

    def _tell(self, partition: TopicPartition, offsets: frozenset[int], error: Exception | None) -> None:
        self.told.append((partition, set(offsets), error.error if isinstance(error, ApiError) else Errors.NONE))

    def fetch(self) -> list[tuple[int, Any]]:
        """The fetches that it sends now: the node, and the request."""
        before = len(self.client.sent)
        self.manager.fetch([P0, P1])
        return [(node.id, request) for node, request, _ in self.client.sent[before:]]

    def answer(self, response: Response, index: int = -1) -> None:
        *_, future = self.client.sent[index]
        answer = cast(ClientResponse, type("Answer", (), {"response": response})())
        future.complete(answer)

    def deliver(self) -> None:
        """Both leaders are asked; the first delivers the record with offset 5."""
        self.fetch()
        builder = MemoryRecordsBuilder(base_offset=5)
        builder.append(1, None, b"v")
        acquired = fetch.AcquiredRecords(first_offset=5, last_offset=5, delivery_count=1)
        data = fetch.PartitionData(partition_index=0, records=builder.build(), acquired_records=[acquired])
        topic = fetch.ShareFetchableTopicResponse(topic_id=ID, partitions=[data])
        self.answer(fetch.ShareFetchResponse(responses=[topic]), 0)
        batch = self.manager.completed.popleft()
        batch.acknowledge_all(AcknowledgeType.ACCEPT)
        self.manager.add(batch)


@pytest.fixture
def managed() -> Managed:
    return Managed()


def outcome(error: Errors) -> acknowledge.ShareAcknowledgeResponse:
    data = acknowledge.PartitionData(partition_index=0, error_code=error.code)
    topic = acknowledge.ShareAcknowledgeTopicResponse(topic_id=ID, partitions=[data])
    return acknowledge.ShareAcknowledgeResponse(responses=[topic])


def test_each_leader_is_asked_for_its_partitions_once_at_a_time(managed: Managed) -> None:
    sent = managed.fetch()
    assert [(node, request.topics[0].partitions[0].partition_index) for node, request in sent] == [(0, 0), (1, 1)]
    assert managed.fetch() == []
    managed.answer(fetch.ShareFetchResponse(), 0)
    assert [(node, request.topics) for node, request in managed.fetch()] == [(0, [])]


def test_a_partition_without_a_leader_waits_for_metadata(managed: Managed) -> None:
    managed.metadata.leaders = {0: None}
    assert managed.fetch() == []
    assert managed.metadata.updates_wanted == 2


def test_acknowledgements_go_with_the_next_fetch(managed: Managed) -> None:
    managed.deliver()
    ((node, request),) = managed.fetch()
    batch = request.topics[0].partitions[0].acknowledgement_batches[0]
    assert (node, batch.first_offset, batch.acknowledge_types) == (0, 5, [1])
    data = fetch.PartitionData(partition_index=0)
    topic = fetch.ShareFetchableTopicResponse(topic_id=ID, partitions=[data])
    managed.answer(fetch.ShareFetchResponse(responses=[topic]))
    assert managed.told == [(T0, {5}, Errors.NONE)]


def test_a_commit_waits_until_its_broker_is_free(managed: Managed) -> None:
    managed.deliver()
    managed.manager._brokers[0].is_busy = True
    managed.manager.commit()
    assert len(managed.client.sent) == 2
    assert not managed.manager.is_idle
    managed.manager._brokers[0].is_busy = False
    managed.manager.send_acknowledgements()
    assert isinstance(managed.client.sent[-1][1], acknowledge.ShareAcknowledgeRequest)


def test_the_outcome_of_a_commit_is_told(managed: Managed) -> None:
    managed.deliver()
    managed.manager.commit()
    managed.answer(outcome(Errors.INVALID_RECORD_STATE))
    assert managed.told == [(T0, {5}, Errors.INVALID_RECORD_STATE)]
    assert managed.metadata.updates_wanted == 0


def test_an_outcome_that_is_missing_is_an_error(managed: Managed) -> None:
    managed.deliver()
    managed.manager.commit()
    managed.answer(acknowledge.ShareAcknowledgeResponse())
    assert managed.told == [(T0, {5}, Errors.INVALID_RECORD_STATE)]


def test_a_leader_that_is_none_any_more_is_not_told(managed: Managed) -> None:
    managed.deliver()
    managed.metadata.leaders[0] = NODES[1]
    managed.manager.commit()
    assert managed.told == [(T0, {5}, Errors.NOT_LEADER_OR_FOLLOWER)]
    managed.answer(fetch.ShareFetchResponse(), 1)
    sent = dict(managed.fetch())
    assert [each.partition_index for each in sent[1].topics[0].partitions] == [0]
    assert sent[0].forgotten_topics_data[0].partitions == [0]


def test_acknowledgements_for_a_broker_that_is_away_fail_once_another_leads(managed: Managed) -> None:
    managed.deliver()
    managed.client.unavailable.add(NODES[0])
    managed.fetch()
    assert managed.told == []
    managed.metadata.leaders[0] = NODES[1]
    managed.fetch()
    assert managed.told == [(T0, {5}, Errors.NOT_LEADER_OR_FOLLOWER)]


def test_a_lost_connection_fails_them_and_opens_another_session(managed: Managed) -> None:
    managed.deliver()
    managed.manager.commit()
    managed.client.sent[-1][2].fail(DisconnectError())
    assert managed.told == [(T0, {5}, Errors.NETWORK_EXCEPTION)]
    assert managed.metadata.updates_wanted == 1
    assert [(node, request.share_session_epoch) for node, request in managed.fetch()] == [(0, 0)]


@pytest.mark.parametrize("error", [Errors.NOT_LEADER_OR_FOLLOWER, Errors.UNKNOWN_TOPIC_ID])
def test_a_partition_that_has_moved_is_looked_up(managed: Managed, error: Errors) -> None:
    managed.fetch()
    data = fetch.PartitionData(partition_index=0, error_code=error.code)
    topic = fetch.ShareFetchableTopicResponse(topic_id=ID, partitions=[data])
    managed.answer(fetch.ShareFetchResponse(responses=[topic]), 0)
    assert managed.metadata.updates_wanted == 1
    assert not managed.manager.errors


@pytest.mark.parametrize("error", [Errors.GROUP_AUTHORIZATION_FAILED, Errors.UNSUPPORTED_VERSION])
def test_errors_that_nothing_mends_are_raised_by_a_poll(managed: Managed, error: Errors) -> None:
    managed.fetch()
    managed.answer(fetch.ShareFetchResponse(error_code=error.code), 0)
    assert [each.error for each in managed.manager.errors if isinstance(each, ApiError)] == [error]


def test_sessions_are_closed_once(managed: Managed) -> None:
    managed.deliver()
    assert not managed.manager.close_sessions(), "the fetch of the other leader is in flight"
    assert managed.client.sent[-1][1].share_session_epoch == -1
    managed.answer(outcome(Errors.NONE))
    managed.answer(fetch.ShareFetchResponse(), 1)
    assert not managed.manager.close_sessions()
    managed.answer(acknowledge.ShareAcknowledgeResponse())
    assert managed.manager.close_sessions()
    assert managed.told == [(T0, {5}, Errors.NONE)]
    assert [request.share_session_epoch for _, request, _ in managed.client.sent] == [0, 0, -1, -1]
