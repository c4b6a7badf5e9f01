"""The order of partitions."""

from __future__ import annotations

from kafka_lite.clients.partition_states import PartitionStates
from kafka_lite.common.topic_partition import TopicPartition

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def states() -> PartitionStates[int]:
    made: PartitionStates[int] = PartitionStates()
    made.set({A0: 1, B0: 2, A1: 3})
    return made


def test_partitions_of_one_topic_are_kept_together() -> None:
    assert states().items() == [(A0, 1), (A1, 3), (B0, 2)]


def test_a_served_partition_moves_to_the_end() -> None:
    served = states()
    served.update_and_move_to_end(A0, 10)
    served.move_to_end(A1)
    served.move_to_end(TopicPartition("unknown", 0))
    assert served.items() == [(B0, 2), (A0, 10), (A1, 3)]


def test_update_keeps_the_place_and_remove_removes() -> None:
    changed = states()
    changed.update(A1, 4)
    changed.remove(A0)
    changed.remove(A0)
    assert changed.items() == [(A1, 4), (B0, 2)]
    assert changed.state_value(A1) == 4
    assert changed.state_value(A0) is None
    assert len(changed) == 2
    assert A0 not in changed
    assert list(changed) == [A1, B0]
