"""The partition of a record, which must be the same for every client of Kafka."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.murmur2 import murmur2, to_positive
from kafka_lite.producer.partitioner import DefaultPartitioner, RoundRobinPartitioner, UniformStickyPartitioner
from kafka_lite.producer.producer_record import ProducerRecord

NODE = Node(0, "a", 1)
RECORD = ProducerRecord("t", b"v")


def cluster(leaders: int = 4, leaderless: int = 0) -> Cluster:
    infos = [PartitionInfo("t", number, NODE if number < leaders else None) for number in range(leaders + leaderless)]
    return Cluster((NODE,), tuple(infos))


@pytest.mark.parametrize(
    ("key", "code"),
    [
        # As Java's Utils.murmur2 has it.
        (b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829), (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)  # fmt: skip
def test_the_hash_matches_java(key: bytes, code: int) -> None:
    assert murmur2(key) == code


def test_the_hash_is_made_positive() -> None:
    assert to_positive(-(1 << 31)) == 0
    assert to_positive(-1) == 0x7FFFFFFF


def test_equal_keys_go_to_the_same_partition() -> None:
    partitioner = DefaultPartitioner()
    assert {partitioner.partition(RECORD, b"abc", cluster(7)) for _ in range(10)} == {479470107 % 7}
    assert {partitioner.partition(RECORD, b"%d" % i, cluster(5)) for i in range(100)} == set(range(5))


@pytest.mark.parametrize(
    "partitioner", [DefaultPartitioner(random.Random(1)), UniformStickyPartitioner(random.Random(1))]
)
def test_records_without_keys_stick_to_a_partition_until_its_batch_is_full(partitioner: DefaultPartitioner) -> None:
    chosen = []
    for _ in range(20):
        (partition,) = {partitioner.partition(RECORD, None, cluster()) for _ in range(5)}
        chosen.append(partition)
        partitioner.on_new_batch("t", cluster(), partition)
    assert all(one != other for one, other in itertools.pairwise(chosen))
    assert set(chosen) == {0, 1, 2, 3}


def test_two_threads_that_see_the_same_full_batch_switch_only_once() -> None:
    partitioner = DefaultPartitioner()
    first = partitioner.partition(RECORD, None, cluster())
    partitioner.on_new_batch("t", cluster(), first)
    second = partitioner.partition(RECORD, None, cluster())
    partitioner.on_new_batch("t", cluster(), first)
    assert partitioner.partition(RECORD, None, cluster()) == second


def test_partitions_without_a_leader_are_avoided() -> None:
    for partitioner in (DefaultPartitioner(), RoundRobinPartitioner()):
        assert partitioner.partition(RECORD, None, cluster(1, 3)) == 0
        assert partitioner.partition(RECORD, None, cluster(0, 3)) in {0, 1, 2}, "any partition is better than none"


def test_a_single_partition_is_kept() -> None:
    partitioner = DefaultPartitioner()
    partitioner.partition(RECORD, None, cluster(1))
    partitioner.on_new_batch("t", cluster(1), 0)
    assert partitioner.partition(RECORD, None, cluster(1)) == 0


def test_the_uniform_sticky_partitioner_ignores_keys() -> None:
    partitioner = UniformStickyPartitioner()
    assert len({partitioner.partition(RECORD, b"%d" % i, cluster()) for i in range(50)}) == 1


def test_round_robin_takes_partitions_in_turn() -> None:
    partitioner = RoundRobinPartitioner()
    chosen = Counter(partitioner.partition(RECORD, b"same", cluster()) for _ in range(40))
    assert chosen == {0: 10, 1: 10, 2: 10, 3: 10}
