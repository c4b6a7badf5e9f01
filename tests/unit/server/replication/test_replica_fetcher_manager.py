"""A broker follows leaders, and cuts its log first if they know no leader epochs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.replica_managers import TP, Broker


class TestFollowersWithoutLeaderEpochs:
    """Followers that cannot ask for the ends of epochs."""

    @pytest.fixture
    def follower(self, tmp_path: Path) -> Iterator[Broker]:
        """It follows broker 2, knows that three messages are committed, and has fetched two more."""
        versions = {"inter.broker.protocol.version": "0.10.2", "log.message.format.version": "0.10.2"}
        broker = Broker(tmp_path / "logs", properties=versions)
        broker.lead(TP)
        broker.produce(TP, 3)
        broker.lead(TP, leader=2, epoch=1, isr=(1, 2), live=(2,))
        builder = MemoryRecordsBuilder(1, CompressionType.NONE, base_offset=3)
        for i in range(2):
            builder.append(i, None, b"x")
        broker.local_log(TP).append_as_follower(builder.build())
        yield broker
        broker.close()

    def test_a_new_leaders_follower_keeps_what_it_knows_to_be_committed(self, follower: Broker) -> None:
        assert follower.local_log(TP).log_end_offset == 5
        follower.lead(TP, leader=3, epoch=2, isr=(1, 3), live=(3,))
        assert follower.local_log(TP).log_end_offset == 3

    def test_nothing_is_truncated_under_the_same_leader(self, follower: Broker) -> None:
        follower.lead(TP, leader=2, epoch=2, isr=(1, 2), live=(2,))
        assert follower.local_log(TP).log_end_offset == 5

    def test_nothing_is_truncated_without_a_leader(self, follower: Broker) -> None:
        follower.lead(TP, leader=-1, epoch=2, isr=(2,))
        assert follower.local_log(TP).log_end_offset == 5

    def test_a_leader_that_was_away_at_first_is_a_new_one(self, follower: Broker) -> None:
        follower.lead(TP, leader=3, epoch=2, isr=(3,))
        assert follower.local_log(TP).log_end_offset == 5
        follower.lead(TP, leader=3, epoch=3, isr=(3,), live=(3,))
        assert follower.local_log(TP).log_end_offset == 3, "its end was fetched from broker 2"

    def test_nothing_is_truncated_when_the_leader_was_only_away(self, follower: Broker) -> None:
        follower.lead(TP, leader=2, epoch=2, isr=(1, 2))
        follower.lead(TP, leader=2, epoch=2, isr=(1, 2), live=(2,))
        assert follower.local_log(TP).log_end_offset == 5
