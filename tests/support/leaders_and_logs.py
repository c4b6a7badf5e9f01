"""A cluster for old consumers without sockets: leaders that a test moves, and their logs."""

from __future__ import annotations

import threading
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.protocol.messages.api_01_fetch import (
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
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.zookeeper.data import BrokerRegistration
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.fake_zookeeper import Tree, fake_zk
from tests.support.message_chunks import message_set

NO_LEADER = -1


class LeadersAndLogs:
    """Brokers 1 and 2 on the ports 9001 and 9002. Each returns one message per partition and request."""

    def __init__(self, brokers: BlockingBrokers, **leaders: int) -> None:
        self.brokers = brokers
        self.leaders = {TopicPartition("t", int(name[1:])): leader for name, leader in leaders.items()}
        self.ends = dict.fromkeys(self.leaders, (0, 0))
        """First offset and end of each log."""
        self.zk: KafkaZkClient = fake_zk(Tree())
        self.zk.zookeeper.ensure_path("/brokers/ids")
        for number in (1, 2):
            self.zk.register_broker(number, BrokerRegistration((f"PLAINTEXT://h:{9000 + number}",)))
            self.start(number)

    def start(self, number: int) -> None:
        """Let a broker respond."""
        port = 9000 + number
        self.brokers.answer(port, MetadataRequest, self._metadata)
        self.brokers.answer(port, FetchRequest, lambda request: self._fetch(number, request))
        self.brokers.answer(port, ListOffsetsRequest, self._list_offsets)

    def _metadata(self, _request: object) -> MetadataResponse:
        partitions = [
            MetadataResponsePartition(
                partition_index=number, leader_id=leader, replica_nodes=[1, 2], isr_nodes=[1, 2],
                error_code=Errors.LEADER_NOT_AVAILABLE.code if leader == NO_LEADER else 0,
            )
            for (_, number), leader in sorted(self.leaders.items())
        ]  # fmt: skip
        nodes = [MetadataResponseBroker(node_id=number, host="h", port=9000 + number) for number in (1, 2)]
        return MetadataResponse(brokers=nodes, topics=[MetadataResponseTopic(name="t", partitions=partitions)])

    def _fetch(self, broker: int, request: Any) -> FetchResponse:
        found = [
            self._partition(broker, TopicPartition(topic.topic, each.partition), each.fetch_offset)
            for topic in request.topics
            for each in topic.partitions
        ]
        if not any(each.records or each.error_code for each in found):
            threading.Event().wait(0.002)  # the broker waits for messages
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=found)])

    def _partition(self, broker: int, partition: TopicPartition, offset: int) -> PartitionData:
        (start, end), error, records = self.ends[partition], Errors.NONE, b""
        if self.leaders[partition] != broker:
            error = Errors.NOT_LEADER_OR_FOLLOWER
        elif not start <= offset <= end:
            error = Errors.OFFSET_OUT_OF_RANGE
        elif offset < end:
            records = bytes(message_set(offset, b"%d" % offset).buffer)
        return PartitionData(
            partition_index=partition.partition, error_code=error.code, high_watermark=end, records=records
        )

    def _list_offsets(self, request: Any) -> ListOffsetsResponse:
        def one(topic: str, asked: Any) -> ListOffsetsPartitionResponse:
            start, end = self.ends[TopicPartition(topic, asked.partition_index)]
            found = [start if asked.timestamp == -2 else end]
            return ListOffsetsPartitionResponse(partition_index=asked.partition_index, old_style_offsets=found)

        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name, partitions=[one(topic.name, each) for each in topic.partitions]
                )
                for topic in request.topics
            ]
        )


def consumer_config(**options: object) -> ConsumerConfig:
    """A configuration that looks for new leaders at once."""
    given = {key.replace("_", "."): value for key, value in options.items()}
    return ConsumerConfig({
        "group.id": "g", "client.id": "c", "zookeeper.connect": "nowhere", "refresh.leader.backoff.ms": 1, **given
    })  # fmt: skip
