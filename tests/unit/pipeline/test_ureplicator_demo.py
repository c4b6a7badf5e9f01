"""What ``make ureplicator`` says at the end, and when it says that something is wrong."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from pipeline.mirror_moves import Move
from pipeline.ureplicator_demo import arrived, topic_added, worker_died

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def test_a_topic_that_was_added_may_move_nothing() -> None:
    assert topic_added("u", 9, []).startswith("u was added: none of the 9 other partitions moved")
    with pytest.raises(KafkaError, match="other partitions moved"):
        topic_added("u", 9, [Move(A, "w1", "w2", 1)])


def test_only_the_dead_workers_partitions_may_move() -> None:
    moves = [Move(A, "w2", "w1", 9_600), Move(B, "w2", "w3", 9_900)]
    assert worker_died("w2", {A, B}, moves) == (
        "w2 died: its 2 partitions moved, and no other, after 10 seconds alone."
    )
    with pytest.raises(KafkaError, match="w2 died with"):
        worker_died("w2", {A}, moves)
    with pytest.raises(KafkaError, match="w2 died with"):
        worker_died("w2", {A, B}, moves[:1])


def test_each_record_must_have_arrived() -> None:
    assert arrived(1000, 1000, 1007).startswith("Each of 1,000 records arrived; 7 came twice")
    with pytest.raises(KafkaError, match="2 of 1000 records have not arrived"):
        arrived(1000, 998, 1007)
