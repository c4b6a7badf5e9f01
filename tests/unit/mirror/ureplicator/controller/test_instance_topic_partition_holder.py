"""The queue of workers, least loaded first."""

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import (
    HolderQueue,
    InstanceTopicPartitionHolder,
)


def holder(name: str, partitions: int) -> InstanceTopicPartitionHolder:
    return InstanceTopicPartitionHolder(name, (TopicPartition("t", number) for number in range(partitions)))


def polled(queue: HolderQueue) -> list[str]:
    names = []
    while (each := queue.poll()) is not None:
        names.append(each.instance_name)
    return names


def test_the_fewest_partitions_come_first_then_the_name() -> None:
    assert polled(HolderQueue([holder("w3", 0), holder("w1", 2), holder("w2", 0), holder("w0", 1)])) == [
        "w2",
        "w3",
        "w0",
        "w1",
    ]


def test_names_are_ordered_as_texts() -> None:
    assert polled(HolderQueue([holder("w2", 1), holder("w10", 1)])) == ["w10", "w2"]


def test_partitions_are_dealt_one_by_one() -> None:
    queue = HolderQueue([holder("w2", 0), holder("w1", 1)])
    given = [queue.give_to_least_loaded(TopicPartition("u", number)) for number in range(4)]
    assert given == ["w2", "w1", "w2", "w1"]
    assert polled(queue) == ["w2", "w1"]


def test_without_workers_nobody_gets_anything() -> None:
    assert HolderQueue().give_to_least_loaded(TopicPartition("t", 0)) is None
    assert HolderQueue().poll() is None


def test_a_partition_that_a_worker_has_does_not_count_twice() -> None:
    one = holder("w1", 1)
    one.topic_partitions.add(TopicPartition("t", 0))
    assert one.load == (1, "w1")
