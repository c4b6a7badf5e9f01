"""A follower asks its leader, without sockets."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_01_fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_lite.server.config.replica_fetch_config import ReplicaFetchConfig
from kafka_lite.server.replication import leader_end_point
from kafka_lite.server.replication.leader_end_point import (
    EpochEnd,
    FetchPosition,
    RemoteLeaderEndPoint,
    ReplicaFetchRequest,
)
from tests.support.fake_channels import FakeChannel

TP = TopicPartition("orders", 3)
NEWEST = list(ApiVersion)[-1]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[FakeChannel]:
    FakeChannel.opened = []
    monkeypatch.setattr(leader_end_point, "BlockingChannel", FakeChannel)
    return FakeChannel.opened


class TestOffsetsOfTheLeader:
    def leader(self, error: Errors, protocol: ApiVersion = NEWEST) -> RemoteLeaderEndPoint:
        row = ListOffsetsPartitionResponse(
            partition_index=TP.partition, error_code=error.code, offset=17, old_style_offsets=[16]
        )
        FakeChannel.response = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name=TP.topic, partitions=[row])])
        return RemoteLeaderEndPoint(BrokerEndPoint(2, "h", 9092), ReplicaFetchConfig(1, protocol))

    def test_latest_and_earliest_are_asked_for_by_their_timestamps(self, opened: list[FakeChannel]) -> None:
        leader = self.leader(Errors.NONE)
        assert (leader.latest_offset(TP), leader.earliest_offset(TP)) == (17, 17)
        asked = [request for request in opened[0].requests if isinstance(request, ListOffsetsRequest)]
        assert [request.topics[0].partitions[0].timestamp for request in asked] == [-1, -2]
        assert {
            (each.replica_id, each.topics[0].name, each.topics[0].partitions[0].partition_index) for each in asked
        } == {(1, "orders", 3)}

    def test_a_leader_of_0_10_0_answers_with_a_list(self, opened: list[FakeChannel]) -> None:
        assert self.leader(Errors.NONE, ApiVersion.parse("0.10.0")).latest_offset(TP) == 16

    @pytest.mark.parametrize("error", [Errors.NOT_LEADER_OR_FOLLOWER, Errors.UNKNOWN_TOPIC_OR_PARTITION])
    def test_an_error_is_raised_and_no_offset_made_of_it(self, opened: list[FakeChannel], error: Errors) -> None:
        with pytest.raises(ApiError) as raised:
            self.leader(error).latest_offset(TP)
        assert raised.value.error is error


class TestFetchesFromTheLeader:
    @pytest.fixture
    def leader(self, opened: list[FakeChannel]) -> RemoteLeaderEndPoint:
        return RemoteLeaderEndPoint(BrokerEndPoint(2, "h", 9092), ReplicaFetchConfig(1, NEWEST))

    def fetch(
        self, leader: RemoteLeaderEndPoint, *partitions: int, error: Errors = Errors.NONE, missing: int | None = None
    ) -> list[int]:
        """Fetch from offset 5, as a follower whose log starts at 3, in leader epoch 8. Session 77 responds."""
        rows = [PartitionData(partition_index=each, high_watermark=5) for each in partitions if each != missing]
        FakeChannel.response = FetchResponse(
            error_code=error.code,
            session_id=77,
            responses=[FetchableTopicResponse(topic="orders", partitions=rows)] if error is Errors.NONE else [],
        )
        positions = {TopicPartition("orders", each): FetchPosition(5, 3, 8, 6) for each in partitions}
        return [partition.partition for partition, _ in leader.fetch(ReplicaFetchRequest(positions))]

    @staticmethod
    def last(opened: list[FakeChannel]) -> FetchRequest:
        request = opened[0].requests[-1]
        assert isinstance(request, FetchRequest)
        return request

    def test_a_request_has_the_followers_position_and_leader_epoch(
        self, leader: RemoteLeaderEndPoint, opened: list[FakeChannel]
    ) -> None:
        assert self.fetch(leader, 0) == [0]
        asked = self.last(opened).topics[0].partitions[0]
        assert (asked.fetch_offset, asked.log_start_offset, asked.current_leader_epoch) == (5, 3, 8)
        assert asked.last_fetched_epoch == 6

    def test_a_response_may_say_where_the_logs_diverge(
        self, leader: RemoteLeaderEndPoint, opened: list[FakeChannel]
    ) -> None:
        parted = [PartitionData(partition_index=0, diverging_epoch=EpochEndOffset(epoch=2, end_offset=4))]
        rows = [*parted, PartitionData(partition_index=1)]
        FakeChannel.response = FetchResponse(responses=[FetchableTopicResponse(topic="orders", partitions=rows)])
        positions = {TopicPartition("orders", each): FetchPosition(5, 3, 8, 6) for each in (0, 1)}
        found = leader.fetch(ReplicaFetchRequest(positions))
        assert [data.diverging_epoch for _, data in found] == [EpochEnd(Errors.NONE, 2, 4), None]

    def test_a_session_is_told_which_partitions_are_not_followed_any_more(
        self, leader: RemoteLeaderEndPoint, opened: list[FakeChannel]
    ) -> None:
        self.fetch(leader, 0, 1)
        self.fetch(leader, 0)
        forgotten = self.last(opened).forgotten_topics_data
        assert [(each.topic, each.partitions) for each in forgotten] == [("orders", [1])]

    def test_a_lost_session_has_no_results_and_the_next_request_begins_another(
        self, leader: RemoteLeaderEndPoint, opened: list[FakeChannel]
    ) -> None:
        self.fetch(leader, 0)
        assert self.fetch(leader, 0, error=Errors.FETCH_SESSION_ID_NOT_FOUND) == []
        self.fetch(leader, 0)
        assert (self.last(opened).session_id, self.last(opened).session_epoch) == (0, 0)

    def test_a_response_without_all_partitions_of_a_full_request_is_not_used(
        self, leader: RemoteLeaderEndPoint, opened: list[FakeChannel]
    ) -> None:
        assert self.fetch(leader, 0, 1, missing=1) == []
        assert self.fetch(leader, 0, 1) == [0, 1]

    def test_after_a_lost_connection_the_next_request_names_all_partitions(
        self, leader: RemoteLeaderEndPoint, opened: list[FakeChannel]
    ) -> None:
        """Whether the leader has processed the last one is not known."""
        self.fetch(leader, 0)
        FakeChannel.response = ConnectionError("lost")
        with pytest.raises(ConnectionError):
            leader.fetch(ReplicaFetchRequest({}))
        self.fetch(leader, 0)
        assert self.last(opened).session_epoch == 0
        assert len(self.last(opened).topics) == 1


class TestFetchesById:
    """KIP-516, from protocol 3.1 on."""

    ORDERS = UUID(int=7)

    def fetch(self, protocol: str, *topic_ids: UUID, error: Errors = Errors.NONE) -> tuple[int, list[str]]:
        """The version of the request, and the topics of the response."""
        leader = RemoteLeaderEndPoint(BrokerEndPoint(2, "h", 9092), ReplicaFetchConfig(1, ApiVersion.parse(protocol)))
        positions = {
            TopicPartition(topic, 0): FetchPosition(5, 3, 8, topic_id=topic_id)
            for topic, topic_id in zip(("orders", "payments"), topic_ids, strict=False)
        }
        rows = [PartitionData(partition_index=0)]
        topics = [
            FetchableTopicResponse(topic=tp.topic, topic_id=position.topic_id, partitions=rows)
            for tp, position in positions.items()
        ]
        FakeChannel.response = FetchResponse(error_code=error.code, responses=topics if error is Errors.NONE else [])
        found = leader.fetch(ReplicaFetchRequest(positions))
        return FakeChannel.opened[-1].versions[-1], [partition.topic for partition, _ in found]

    def test_topics_are_named_by_their_ids_once_all_are_known(self, opened: list[FakeChannel]) -> None:
        assert self.fetch("3.1", self.ORDERS) == (13, ["orders"])
        request = opened[-1].requests[-1]
        assert isinstance(request, FetchRequest)
        assert request.topics[0].topic_id == self.ORDERS
        assert self.fetch("3.1", self.ORDERS, ZERO_UUID) == (12, ["orders", "payments"])
        assert self.fetch("3.0", self.ORDERS) == (12, ["orders"])

    def test_a_leader_that_does_not_agree_about_ids_is_an_error(self, opened: list[FakeChannel]) -> None:
        with pytest.raises(ApiError) as raised:
            self.fetch("3.1", self.ORDERS, error=Errors.FETCH_SESSION_TOPIC_ID_ERROR)
        assert raised.value.error is Errors.FETCH_SESSION_TOPIC_ID_ERROR
