"""The key of a partition in requests without names."""

from uuid import UUID

from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_partition import TopicPartition


def test_a_partition_by_id_is_no_partition_by_name() -> None:
    one = TopicIdPartition(UUID(int=7), 0)
    assert {one: "a"}[TopicIdPartition(UUID(int=7), 0)] == "a"
    assert one not in (TopicIdPartition(UUID(int=8), 0), TopicIdPartition(UUID(int=7), 1), TopicPartition("t", 0))
