"""Replicas move to another log directory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.quotas.replication_quota_manager import ReplicationQuotaManager, ReplicationType
from kafka_lite.server.replication.replica_alter_log_dirs import ReplicaAlterLogDirsThread
from tests.support.replica_managers import TP, TP1, Broker


class TestMovesBetweenDirectories:
    @pytest.fixture
    def broker(self, tmp_path: Path) -> Iterator[Broker]:
        """Its own thread for moves does not run any more."""
        broker = Broker(tmp_path / "one", tmp_path / "two")
        broker.lead(TP)
        broker.produce(TP, 3)
        broker.replicas.log_dir_moves.shutdown()
        yield broker
        broker.close()

    def other_directory(self, broker: Broker) -> Path:
        return next(each for each in broker.logs.live_log_dirs if each != broker.log(TP).dir.parent)

    def test_a_move_back_takes_the_copy_away(self, broker: Broker) -> None:
        here, there = broker.log(TP).dir.parent, self.other_directory(broker)
        assert broker.replicas.log_dir_moves.alter(str(there), [TP]) == {TP: Errors.NONE}
        copy = broker.logs.future_logs.get(TP)
        assert copy is not None
        assert copy.dir.parent == there
        assert broker.replicas.log_dir_moves.alter(str(here), [TP]) == {TP: Errors.NONE}
        assert broker.logs.future_logs.get(TP) is None

    def test_a_move_to_the_same_directory_goes_on(self, broker: Broker) -> None:
        there = self.other_directory(broker)
        broker.replicas.log_dir_moves.alter(str(there), [TP])
        copy = broker.logs.future_logs.get(TP)
        assert broker.replicas.log_dir_moves.alter(str(there), [TP]) == {TP: Errors.NONE}
        assert broker.logs.future_logs.get(TP) is copy
        assert copy is not None

    def test_a_move_that_is_impossible_is_an_error_of_its_partition(self, broker: Broker) -> None:
        moves, there = broker.replicas.log_dir_moves, self.other_directory(broker)
        assert moves.alter(str(there / "not"), [TP]) == {TP: Errors.LOG_DIR_NOT_FOUND}
        assert moves.alter(str(there), [TP1, TP]) == {TP1: Errors.REPLICA_NOT_AVAILABLE, TP: Errors.NONE}
        broker.lead(TP1)
        assert broker.log(TP1).dir.parent == there, "a new replica goes where it was wanted"
        broker.replicas.mark_offline([TP])
        assert moves.alter(str(there), [TP]) == {TP: Errors.KAFKA_STORAGE_ERROR}

    def test_a_stopped_broker_starts_no_thread_for_a_move(self, broker: Broker) -> None:
        broker.replicas.log_dir_moves.alter(str(self.other_directory(broker)), [TP])
        assert "ReplicaAlterLogDirsThread" not in {thread.name for thread in threading.enumerate()}

    def test_a_copy_waits_for_its_quota_and_uses_it(self, broker: Broker) -> None:
        quota = ReplicationQuotaManager(ReplicationType.ALTER_LOG_DIRS, MetricConfig(11, 1000), broker.time)
        there, moved = self.other_directory(broker), list[TopicPartition]()
        mover = ReplicaAlterLogDirsThread(broker.logs, broker.replicas.get_partition, moved.append, broker.time, quota)
        broker.replicas.log_dir_moves.alter(str(there), [TP])
        copy = broker.logs.future_logs.get(TP)
        assert copy is not None
        quota.update_quota(1)
        quota.record(1000)
        mover.do_work()
        assert copy.log_end_offset == 0
        broker.time.sleep(20_000)
        mover.do_work()
        assert (copy.log_end_offset, quota.is_quota_exceeded, moved) == (3, True, [])
        broker.time.sleep(1_000_000)
        mover.do_work()
        assert (broker.log(TP), moved) == (copy, [TP])
