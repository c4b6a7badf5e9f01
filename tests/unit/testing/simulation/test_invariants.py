"""Each invariant is noticed when it breaks, and a healthy cluster breaks none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.simulation.invariants import InvariantError, Invariants


def broker(number: int, *, controls: bool = False, leads: bool = False, epoch: int = 1) -> Any:
    """What the invariants see of a broker with one replica of a partition."""
    replicas = [SimpleNamespace(broker_id=each) for each in range(3)]
    local = SimpleNamespace(
        log=object(),
        high_watermark=SimpleNamespace(message_offset=5),
        log_end_offset=SimpleNamespace(message_offset=7),
    )
    partition = SimpleNamespace(
        topic_partition=TopicPartition("t", 0),
        local_broker_id=number,
        leader_id=number if leads else -1,
        leader_epoch=epoch,
        get_replica=lambda: local,
        in_sync_replicas=replicas[:2],
        assigned_replicas=replicas,
    )
    return SimpleNamespace(
        config=SimpleNamespace(broker_id=number),
        controller=SimpleNamespace(is_active=controls, epoch=epoch),
        replica_manager=SimpleNamespace(partitions=[partition]),
    )


def test_a_healthy_cluster_breaks_no_invariant() -> None:
    invariants = Invariants()
    for server in [broker(0, controls=True, leads=True), broker(1), SimpleNamespace()] * 2:
        invariants.check(server)


@pytest.mark.parametrize("role", ["controls", "leads"])
def test_an_epoch_has_one_controller_and_one_leader_even_after_it_has_ended(role: str) -> None:
    invariants = Invariants()
    invariants.check(broker(0, **{role: True}))
    invariants.check(broker(1, epoch=2, **{role: True}))
    with pytest.raises(InvariantError, match="brokers 0 and 1"):
        invariants.check(broker(1, epoch=1, **{role: True}))


def test_the_high_watermark_is_not_beyond_the_end() -> None:
    leader = broker(0, leads=True)
    leader.replica_manager.partitions[0].get_replica().high_watermark.message_offset = 8
    with pytest.raises(InvariantError, match="its high watermark 8 is beyond its log's end 7"):
        Invariants().check(leader)


def test_only_assigned_replicas_are_in_sync() -> None:
    leader = broker(0, leads=True)
    leader.replica_manager.partitions[0].assigned_replicas.pop(0)
    with pytest.raises(InvariantError, match=r"\[0, 1\] are in sync, only \[1, 2\] are assigned"):
        Invariants().check(leader)


def test_a_partition_that_is_being_changed_is_not_checked() -> None:
    leader = broker(0, leads=True)
    leader.replica_manager.partitions[0].get_replica().high_watermark.message_offset = 8
    leader.replica_manager.partitions[0]._lock = SimpleNamespace(_count=1)
    Invariants().check(leader)


def test_copies_are_counted_although_the_logs_are_truncated_later() -> None:
    invariants, follower = Invariants(), broker(1)
    for server in (broker(0, leads=True), follower):
        invariants.check(server)
    follower.replica_manager.partitions[0].get_replica().log_end_offset.message_offset = 3
    invariants.check(follower)
    assert [invariants.copies("t", 0, offset) for offset in (6, 7)] == [2, 0]
    assert invariants.copies("unknown", 0, 0) == 0
