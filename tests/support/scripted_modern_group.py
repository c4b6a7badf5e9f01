"""A scripted broker with a group of KIP-848 of one member: the test says what the member is assigned."""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.group.modern.consumer_membership_manager import ConsumerMembershipManager
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseTopic
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kafka_lite.protocol.schema import Response
from tests.support.scripted_broker import TODAY, ScriptedBroker

HEARTBEAT = ApiKey.CONSUMER_GROUP_HEARTBEAT
INTERVAL_MS = 3000
VERSIONS = TODAY | {
    ApiKey.METADATA: (0, 12), ApiKey.OFFSET_COMMIT: (0, 9), ApiKey.OFFSET_FETCH: (0, 9), HEARTBEAT: (0, 1),
}  # fmt: skip


def topic_id(topic: str) -> UUID:
    """The id of a topic that was made once."""
    return uuid5(NAMESPACE_URL, topic)


class ScriptedModernGroup(ScriptedBroker):
    """Assigns what the test says, with the next heartbeat. ``assigned`` are the partitions by topic."""

    def __init__(self, time: MockTime, versions: dict[ApiKey, tuple[int, int]] = VERSIONS) -> None:
        super().__init__(time, versions)
        self.ids: dict[str, UUID] = {}
        self.epoch = 0
        self.assigned: dict[str, list[int]] = {}
        self._told: dict[str, list[int]] | None = None
        self.is_silent = False
        self.handlers[HEARTBEAT] = self.heartbeat

    @property
    def heartbeats(self) -> list[Any]:
        """The heartbeats so far."""
        return self.of(HEARTBEAT)

    def assign(self, **partitions: list[int]) -> None:
        """What the member is to have from the next heartbeat on."""
        self.assigned = partitions

    def heartbeat(self, request: Any, _version: int) -> Response | None:
        error = self._error(HEARTBEAT)
        if self.is_silent:
            return None
        if error:
            return ConsumerGroupHeartbeatResponse(error_code=error, error_message="as the test says")
        if request.member_epoch < 0:
            return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
        response = ConsumerGroupHeartbeatResponse(member_id=request.member_id, heartbeat_interval_ms=INTERVAL_MS)
        if request.member_epoch == 0 or self.assigned != self._told:
            self.epoch += 1
            self._told = self.assigned
            response.assignment = Assignment(
                topic_partitions=[
                    TopicPartitions(topic_id=self.id_of(topic), partitions=numbers)
                    for topic, numbers in self.assigned.items()
                ]
            )
        response.member_epoch = self.epoch
        return response

    def id_of(self, topic: str) -> UUID:
        """The id of a topic."""
        return self.ids.get(topic, topic_id(topic))

    def metadata(self, request: Any, version: int) -> Response:
        names = {self.id_of(name): name for name in self.topics}
        for each in request.topics or ():
            if each.name is None:
                each.name = names.get(each.topic_id)
        return super().metadata(request, version)

    def _topic(self, name: str | None) -> MetadataResponseTopic:
        if name is None:
            return MetadataResponseTopic(name=None, error_code=Errors.UNKNOWN_TOPIC_ID.code)
        topic = super()._topic(name)
        if name in self.topics:
            topic.topic_id = self.id_of(name)
        return topic

    def offset_fetch(self, request: Any, version: int) -> Response:
        if version < 8:
            return super().offset_fetch(request, version)
        (group,) = request.groups
        error = self._error(ApiKey.OFFSET_FETCH)
        topics = [
            OffsetFetchResponseTopics(
                name=topic.name, partitions=[self._committed(topic.name, number) for number in topic.partition_indexes]
            )
            for topic in group.topics
        ]
        answer = OffsetFetchResponseGroup(group_id=group.group_id, topics=[] if error else topics, error_code=error)
        return OffsetFetchResponse(groups=[answer])

    def _committed(self, topic: str, number: int) -> OffsetFetchResponsePartitions:
        offset, metadata = self.committed.get(TopicPartition(topic, number), (-1, ""))
        return OffsetFetchResponsePartitions(partition_index=number, committed_offset=offset, metadata=metadata)


def manager(consumer: KafkaConsumer) -> ConsumerMembershipManager:
    """The member of a consumer."""
    member = consumer._coordinator
    assert isinstance(member, ConsumerMembershipManager)
    return member


def heartbeat_turns(consumer: KafkaConsumer, times: int = 3) -> None:
    """What the heartbeat thread does while the user processes records."""
    member = manager(consumer)
    for _ in range(times):
        with member.lock:
            member.heartbeat_turn()
