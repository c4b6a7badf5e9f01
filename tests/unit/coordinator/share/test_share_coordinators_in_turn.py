"""Coordinators in turn: whatever fails in between, the last one knows each write that was acknowledged."""

from __future__ import annotations

import dataclasses
import random

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.share.persister import PartitionErrorData
from tests.support.share_coordinators import AT_ONCE, P0, P1, P2, ShareCoordination, batch

CONFIG = dataclasses.replace(AT_ONCE, snapshot_update_records_per_snapshot=3)
STEPS = 120
FAILURES = (Errors.NOT_ENOUGH_REPLICAS, Errors.NOT_LEADER_OR_FOLLOWER, Errors.KAFKA_STORAGE_ERROR)


class Turns:
    """Writes single offsets as acknowledged records, and remembers which writes succeeded."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.epoch = 0
        linger_ms = self.rng.choice((0, 5))
        self.config = dataclasses.replace(CONFIG, append_linger_ms=linger_ms)
        self.share = ShareCoordination(config=self.config)
        self.sent: list[tuple[TopicIdPartition, int, list[PartitionErrorData]]] = []
        self.next_offset = 0
        for partition in (P0, P1, P2):
            self.share.initialize(partition=partition)
            self.share.time.sleep(5)

    def write(self) -> None:
        partition = self.rng.choice((P0, P1, P2))
        responses = self.share.write(batch(self.next_offset, self.next_offset, 2), partition=partition)
        self.sent.append((partition, self.next_offset, responses))
        self.next_offset += 1

    def hold(self) -> None:
        if self.share.log.held is None:
            self.share.log.held = []

    def release(self) -> None:
        if self.share.log.held is not None:
            self.share.log.release()

    def fail(self) -> None:
        self.share.log.error = self.rng.choice((*FAILURES, *[Errors.NONE] * 9))

    def wait(self) -> None:
        self.share.time.sleep(self.rng.choice((1, 5, CONFIG.cold_partition_snapshot_interval_ms)))

    def prune(self) -> None:
        self.share.coordinator.prune_records()

    def hand_over(self) -> None:
        self.epoch += 1
        self.share.resign(self.epoch)
        self.release()
        self.share = ShareCoordination(self.share.log, self.share.time, self.config, epoch=self.epoch)

    def step(self) -> None:
        steps = (self.write, self.hold, self.release, self.fail, self.wait, self.prune, self.hand_over)
        self.rng.choices(steps, (16, 1, 2, 2, 2, 1, 1))[0]()

    def acknowledged(self, partition: TopicIdPartition) -> set[int]:
        return {
            offset for each, offset, responses in self.sent if each == partition and responses == [PartitionErrorData()]
        }

    def known(self, partition: TopicIdPartition) -> set[int]:
        (state,) = self.share.read(partition=partition)
        assert state.error is Errors.NONE
        return {offset for each in state.state_batches for offset in range(each.first_offset, each.last_offset + 1)}


@pytest.mark.parametrize("seed", range(40))
def test_what_was_acknowledged_is_known_to_the_last_coordinator(seed: int) -> None:
    turns = Turns(seed)
    for _ in range(STEPS):
        turns.step()
    turns.share.log.error = Errors.NONE
    turns.hand_over()
    written = {partition: turns.acknowledged(partition) for partition in (P0, P1, P2)}
    assert any(written.values())
    for partition, offsets in written.items():
        assert offsets <= turns.known(partition)


@pytest.mark.parametrize("seed", range(40, 60))
def test_each_write_has_one_response_once_nothing_is_held(seed: int) -> None:
    turns = Turns(seed)
    for _ in range(STEPS):
        turns.step()
    turns.release()
    turns.share.time.sleep(10)
    turns.hand_over()
    assert {len(responses) for _, _, responses in turns.sent} == {1}
