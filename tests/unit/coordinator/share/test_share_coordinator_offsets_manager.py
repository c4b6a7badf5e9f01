"""Which records are redundant: those before the lowest of the last snapshots."""

from __future__ import annotations

from kafka_lite.coordinator.share.persister import SharePartitionKey
from kafka_lite.coordinator.share.share_coordinator_offsets_manager import ShareCoordinatorOffsetsManager
from tests.support.share_coordinators import GROUP, P0, P1

A, B = SharePartitionKey(GROUP, *P0), SharePartitionKey(GROUP, *P1)


def test_nothing_is_redundant_before_the_second_snapshot() -> None:
    offsets = ShareCoordinatorOffsetsManager()
    assert offsets.last_redundant_offset() is None
    offsets.update(A, 0)
    assert offsets.last_redundant_offset() is None


def test_the_lowest_of_the_last_snapshots_counts() -> None:
    offsets = ShareCoordinatorOffsetsManager()
    offsets.update(A, 0)
    offsets.update(B, 1)
    offsets.update(A, 5)
    assert offsets.last_redundant_offset() == 1
    offsets.update(B, 9)
    assert offsets.last_redundant_offset() == 5


def test_a_partition_that_is_forgotten_holds_nothing_back() -> None:
    offsets = ShareCoordinatorOffsetsManager()
    offsets.update(A, 2)
    offsets.update(B, 3)
    offsets.update(A, 7, is_tombstone=True)
    assert offsets.last_redundant_offset() == 3


def test_without_partitions_all_before_the_last_tombstone_is_redundant() -> None:
    offsets = ShareCoordinatorOffsetsManager()
    offsets.update(A, 2)
    offsets.update(A, 7, is_tombstone=True)
    assert offsets.last_redundant_offset() == 7
    offsets.update(A, 8)
    assert offsets.last_redundant_offset() == 8
