"""Assigns the replicas of a new topic's partitions to brokers.

Kafka 0.10.2: core/.../admin/AdminUtils.scala (assignReplicasToBrokers), BrokerMetadata.scala · book 1.2.3
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, zip_longest

from kafka_lite.common.errors import Errors

Assignment = dict[int, list[int]]
"""Partition -> brokers, preferred leader first."""


@dataclass(frozen=True)
class BrokerMetadata:
    """A broker that can take replicas."""

    id: int
    rack: str | None = None


def assign_replicas_to_brokers(
    brokers: Sequence[BrokerMetadata],
    partitions: int,
    replication_factor: int,
    fixed_start_index: int = -1,
    start_partition_id: int = -1,
) -> Assignment:
    """Spread replicas, and leaders in particular, evenly over the brokers, and over racks if brokers have them.

    First replicas are assigned round-robin from a random start (or from ``fixed_start_index``). A partition's other
    replicas follow the first at a distance, the shift, that grows by one with every full round, so that the followers
    of one broker's partitions are spread too. Five brokers, ten partitions, three replicas, start 0:

        broker     0    1    2    3    4
        leader    p0   p1   p2   p3   p4
                  p5   p6   p7   p8   p9
        2nd       p4   p0   p1   p2   p3      shift 0
                  p8   p9   p5   p6   p7      shift 1
        3rd       p3   p4   p0   p1   p2
                  p7   p8   p9   p5   p6

    With racks, the brokers alternate between racks (``rack_alternated``), and a broker is skipped if its rack already
    has a replica of the partition while another rack has none.

    Raises ApiError: INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR; INVALID_REPLICA_ASSIGNMENT if only some brokers
    have a rack.
    """
    _check(brokers, partitions, replication_factor)
    racks = {broker.id: broker.rack for broker in brokers if broker.rack is not None}
    if racks and len(racks) < len(brokers):
        message = "Not all brokers have rack information for replica rack aware assignment."
        raise Errors.INVALID_REPLICA_ASSIGNMENT.exception(message)
    ring = rack_alternated(racks) if racks else [broker.id for broker in brokers]
    start = fixed_start_index if fixed_start_index >= 0 else random.randrange(len(ring))
    shift = fixed_start_index if fixed_start_index >= 0 else random.randrange(len(ring))
    first = max(0, start_partition_id)
    assignment = {}
    for partition in range(first, first + partitions):
        if partition > 0 and partition % len(ring) == 0:
            shift += 1
        leader_index = (partition + start) % len(ring)
        assignment[partition] = _replicas(ring, racks, leader_index, shift, replication_factor)
    return assignment


def _check(brokers: Sequence[BrokerMetadata], partitions: int, replication_factor: int) -> None:
    if partitions <= 0:
        raise Errors.INVALID_PARTITIONS.exception("Number of partitions must be larger than 0.")
    if replication_factor <= 0:
        raise Errors.INVALID_REPLICATION_FACTOR.exception("Replication factor must be larger than 0.")
    if replication_factor > len(brokers):
        message = f"Replication factor: {replication_factor} larger than available brokers: {len(brokers)}."
        raise Errors.INVALID_REPLICATION_FACTOR.exception(message)


def _replicas(ring: list[int], racks: Mapping[int, str], leader: int, shift: int, replication_factor: int) -> list[int]:
    """The replicas of a partition whose leader is at index ``leader`` of the ring."""
    number_of_racks = len(set(racks.values()))
    chosen = [ring[leader]]
    # With racks, each step of the shift moves one rack further from the leader.
    candidates = _followers(ring, leader, shift * max(1, number_of_racks))
    while len(chosen) < replication_factor:
        broker = next(candidates)
        used_racks = {racks.get(replica) for replica in chosen}
        rack_is_free = not racks or racks[broker] not in used_racks or len(used_racks) == number_of_racks
        if broker not in chosen and rack_is_free:
            chosen.append(broker)
    return chosen


def _followers(ring: list[int], leader: int, shift: int) -> Iterator[int]:
    """The candidates for the second, third, … replica: all brokers except the leader, in turn."""
    for step in count():
        distance = 1 + (shift + step) % max(1, len(ring) - 1)
        yield ring[(leader + distance) % len(ring)]


def rack_alternated(racks: Mapping[int, str]) -> list[int]:
    """The brokers ordered to alternate racks: r1: 0, 1; r2: 2, 3; r3: 4, 5 becomes 0, 2, 4, 1, 3, 5."""
    by_rack: dict[str, list[int]] = {}
    for broker, rack in sorted(racks.items()):
        by_rack.setdefault(rack, []).append(broker)
    rounds = zip_longest(*(by_rack[rack] for rack in sorted(by_rack)))
    return [broker for one_of_each in rounds for broker in one_of_each if broker is not None]
