"""The picture of who copies what."""

from __future__ import annotations

import io

from rich.console import Console

from kafka_lite.common.topic_partition import TopicPartition
from pipeline.ureplicator_view import live_view

OWNERS = {
    TopicPartition("orders", 10): "w1",
    TopicPartition("orders", 2): "w1",
    TopicPartition("orders", 3): None,
    TopicPartition("clicks", 0): "w2",
}


def test_each_worker_has_a_column_and_each_topic_a_row() -> None:
    console = Console(file=io.StringIO(), width=70)
    console.print(live_view(OWNERS, ("w1", "w2"), {"w1"}, (1200, 1100), ["w2 was killed"]))
    assert isinstance(console.file, io.StringIO)
    lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
    assert lines == [
        "uReplicator 1,200 published · 1,100 records in the target",
        "topic w1 w2 (dead) nobody",
        "clicks 0",
        "orders 2 10 3",
        "· w2 was killed",
    ]


def test_before_anything_is_mirrored() -> None:
    console = Console(file=io.StringIO(), width=70)
    console.print(live_view({}, ("w1",), {"w1"}, (0, 0), []))
