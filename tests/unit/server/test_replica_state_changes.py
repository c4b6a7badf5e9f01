"""The controller's requests, and disks that are full or fail, over real logs."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kafka_lite.cluster.broker import Broker as ClusterBroker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.partition_metadata_file import PartitionMetadataFile
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
)
from tests.support.full_disk import FullDisk
from tests.support.logs import record_set
from tests.support.replica_managers import TP, TP1, Broker, only


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "logs")
    yield broker
    broker.close()


class TestControllersOrders:
    def test_a_stale_controller_is_rejected(self, broker: Broker) -> None:
        broker.lead(TP, controller=5)
        assert broker.lead(TP1, controller=4) == [Errors.STALE_CONTROLLER_EPOCH.code]
        assert broker.replicas.get_partition(TP1) is None

    def test_a_controller_that_has_only_stopped_replicas_fences_older_ones(self, broker: Broker) -> None:
        broker.stop(TP, delete=False, controller=5)
        assert broker.lead(TP, controller=4) == [Errors.STALE_CONTROLLER_EPOCH.code]
        assert broker.stop(TP, delete=True, controller=4) == [Errors.STALE_CONTROLLER_EPOCH.code]

    def test_a_follower_that_becomes_the_leader_fetches_no_more(self, broker: Broker) -> None:
        broker.lead(TP, leader=2, isr=(1, 2), live=(2,))
        assert broker.followed == 1
        broker.lead(TP, epoch=1)
        assert broker.followed == 0

    @pytest.mark.parametrize("delete", [False, True])
    def test_a_stopped_replica_fetches_no_more(self, broker: Broker, delete: bool) -> None:
        broker.lead(TP, leader=2, isr=(1, 2), live=(2,))
        broker.stop(TP, delete)
        assert broker.followed == 0

    def test_an_old_leader_epoch_is_ignored(self, broker: Broker) -> None:
        broker.lead(TP, epoch=3)
        assert broker.lead(TP, epoch=3, leader=2, isr=(2, 1)) == [0, Errors.STALE_CONTROLLER_EPOCH.code]
        partition = broker.replicas.get_partition(TP)
        assert partition is not None
        assert partition.leader_id == 1

    def test_a_partition_without_our_replica_is_rejected(self, broker: Broker) -> None:
        state = LeaderAndIsrPartitionState(topic_name="t", partition_index=0, leader=2, isr=[2], replicas=[2])
        request = LeaderAndIsrRequest(controller_id=1, controller_epoch=1, ungrouped_partition_states=[state])
        response = broker.state_changes.become_leader_or_follower(request)
        assert response.partition_errors[0].error_code == Errors.UNKNOWN_TOPIC_OR_PARTITION.code

    @pytest.mark.parametrize("partitions", [(TP,), (TP, TP1)])
    def test_a_config_change_while_logs_are_created_is_not_lost(
        self, broker: Broker, partitions: tuple[TopicPartition, ...]
    ) -> None:
        """KAFKA-8813: the change came after the config had been read, and its notification before the log existed."""
        reads: list[str] = []

        def read(topic: str) -> LogConfig:
            reads.append(topic)
            if len(reads) > 1:
                return LogConfig({"retention.ms": 2})
            broker.logs.update_topic_config(topic, LogConfig({"retention.ms": 2}))
            return LogConfig({"retention.ms": 1})

        broker.read_config = read
        assert broker.lead(*partitions) == [0, *(0 for _ in partitions)]
        assert [broker.log(tp).config.retention_ms for tp in partitions] == [2 for _ in partitions]
        assert reads == ["orders", "orders"]

    def test_a_config_change_between_two_partitions_of_a_request_is_not_lost(
        self, broker: Broker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        create = broker.logs.get_or_create_log

        def create_and_alter(tp: TopicPartition, *args: Any) -> Log:
            log = create(tp, *args)
            if tp == TP:
                broker.topic_config = {"retention.ms": 2}
                broker.logs.update_topic_config(tp.topic, LogConfig(broker.topic_config))
            return log

        monkeypatch.setattr(broker.logs, "get_or_create_log", create_and_alter)
        broker.topic_config = {"retention.ms": 1}
        broker.lead(TP, TP1)
        assert [broker.log(tp).config.retention_ms for tp in (TP, TP1)] == [2, 2]

    def test_an_unwritable_directory_is_a_storage_error(self, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise OSError("disk on fire")

        monkeypatch.setattr(broker.logs, "get_or_create_log", fail)
        assert broker.lead(TP) == [0, Errors.KAFKA_STORAGE_ERROR.code]
        assert broker.replicas.get_partition(TP) is None

    def test_a_log_that_cannot_be_deleted_is_a_storage_error(self, broker: Broker) -> None:
        broker.lead(TP)
        shutil.rmtree(broker.directory / "orders-0")
        assert broker.stop(TP, delete=True) == [0, Errors.KAFKA_STORAGE_ERROR.code]


FIRST, SECOND = UUID(int=7), UUID(int=8)


class TestTopicIds:
    def test_a_new_log_keeps_the_id_of_its_topic(self, broker: Broker) -> None:
        assert broker.lead(TP, TP1, topic_id=FIRST) == [0, 0, 0]
        assert [broker.log(tp).topic_id for tp in (TP, TP1)] == [FIRST, FIRST]
        assert PartitionMetadataFile.read(broker.directory / "orders-0") == FIRST

    def test_a_log_from_before_ids_gets_one_in_the_same_epoch(self, broker: Broker) -> None:
        broker.lead(TP)
        assert broker.log(TP).topic_id is None
        assert broker.lead(TP, topic_id=FIRST) == [0, Errors.STALE_CONTROLLER_EPOCH.code], "nothing else is new"
        assert broker.log(TP).topic_id == FIRST
        assert broker.lead(TP, epoch=1) == [0, 0], "a controller that knows no ids"
        assert broker.log(TP).topic_id == FIRST

    def test_the_log_of_an_earlier_topic_is_not_taken_for_the_new_one(self, broker: Broker) -> None:
        broker.lead(TP, leader=2, isr=(1, 2), live=(2,), topic_id=FIRST)
        inconsistent = [0, Errors.INCONSISTENT_TOPIC_ID.code]
        assert broker.lead(TP, epoch=5, topic_id=SECOND) == inconsistent
        partition = broker.replicas.get_partition(TP)
        assert partition is not None
        assert (partition.leader_id, partition.leader_epoch, broker.followed) == (2, 0, 1), "it goes on as it was"
        assert [log.topic_id for log in broker.logs.all_logs()] == [FIRST]

    def test_a_log_that_is_found_after_a_restart_is_not_hosted_for_another_topic(self, broker: Broker) -> None:
        broker.logs.get_or_create_log(TP).assign_topic_id(FIRST)
        assert broker.lead(TP, topic_id=SECOND) == [0, Errors.INCONSISTENT_TOPIC_ID.code]
        assert broker.replicas.get_partition(TP) is None
        assert broker.stop(TP, delete=True) == [0, 0]
        assert broker.lead(TP, topic_id=SECOND) == [0, 0]

    def test_an_id_that_cannot_be_written_is_a_storage_error_and_tried_again(
        self, broker: Broker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        broker.lead(TP)
        with monkeypatch.context() as full:
            full.setattr(PartitionMetadataFile, "write", fail)
            storage_error = [0, Errors.KAFKA_STORAGE_ERROR.code]
            assert broker.lead(TP, topic_id=FIRST) == storage_error
            assert broker.lead(TP1, topic_id=FIRST) == storage_error
        assert broker.state_changes.make_missing_logs() == [TP1]
        assert broker.log(TP1).topic_id == FIRST


class TestFailedDisks:
    @pytest.fixture
    def broker(self, tmp_path: Path) -> Iterator[Broker]:
        broker = Broker(tmp_path / "one", tmp_path / "two")
        broker.lead(TP, TP1, new=True)
        yield broker
        broker.close()

    def fail(self, broker: Broker, directory: Path) -> None:
        broker.logs.log_dir_failure_channel.maybe_add_offline_log_dir(
            directory, "test", OSError(errno.EIO, "I/O error")
        )
        broker.state_changes.take_offline(broker.logs.handle_log_dir_failure(directory))

    def test_an_offline_partition_is_not_recreated_in_another_directory(self, broker: Broker) -> None:
        """With an empty log, consumers would learn that all messages are gone, and get new ones at old offsets."""
        broker.produce(TP, 3)
        directory = broker.log(TP).dir.parent
        self.fail(broker, directory)
        assert broker.lead(TP, epoch=1) == [0, Errors.KAFKA_STORAGE_ERROR.code]
        broker.fetch(TP, 0)
        assert only(broker.fetched).error is Errors.KAFKA_STORAGE_ERROR
        assert broker.lead(TP1, epoch=1) == [0, 0], "its disk works"

    def test_a_follower_on_a_failed_disk_fetches_no_more(self, broker: Broker) -> None:
        directory = broker.log(TP).dir.parent
        broker.lead(TP, leader=2, epoch=1, isr=(1, 2), live=(2,))
        assert broker.followed == 1
        self.fail(broker, directory)
        assert broker.followed == 0

    def test_a_waiting_produce_fails_with_its_disk(self, broker: Broker) -> None:
        broker.lead(TP, epoch=1, isr=(1, 2))
        broker.produce(TP, 1, acks=-1)
        assert not broker.produced, "the follower has not fetched it"
        self.fail(broker, broker.log(TP).dir.parent)
        assert [answer[TP].error for answer in broker.produced] == [Errors.KAFKA_STORAGE_ERROR]

    def test_an_offline_partition_is_not_recreated_after_a_restart(self, broker: Broker) -> None:
        lost, kept = broker.log(TP).dir.parent, broker.log(TP1).dir.parent
        broker.close()
        shutil.rmtree(lost)
        lost.write_text("no directory")
        again = Broker(kept, lost)
        assert again.lead(TP, TP1, epoch=1) == [0, Errors.KAFKA_STORAGE_ERROR.code, 0]
        assert again.lead(TopicPartition("new", 0), new=True) == [0, 0]
        again.fetch(TP, 0)
        assert only(again.fetched).error is Errors.KAFKA_STORAGE_ERROR
        again.close()

    def test_an_offline_partition_cannot_be_deleted(self, broker: Broker) -> None:
        """Otherwise the disk would return with a deleted topic's log, and a new topic of that name would get it."""
        self.fail(broker, broker.log(TP).dir.parent)
        assert broker.stop(TP, delete=True) == [0, Errors.KAFKA_STORAGE_ERROR.code]

    def test_no_high_watermarks_are_written_to_a_failed_disk(
        self, broker: Broker, caplog: pytest.LogCaptureFixture
    ) -> None:
        directory = broker.log(TP).dir.parent
        self.fail(broker, directory)
        shutil.rmtree(directory)
        broker.replicas.high_watermark_checkpoints.write()
        assert "Cannot write the high watermarks" not in caplog.text


def test_logs_that_did_not_fit_on_the_disk_are_created_once_there_is_space(
    tmp_path: Path, full_disk: FullDisk, caplog: pytest.LogCaptureFixture
) -> None:
    broker = Broker(tmp_path)
    full_disk.fill()
    storage_error = Errors.KAFKA_STORAGE_ERROR.code
    assert broker.lead(TP, TP1) == [0, storage_error, storage_error]
    failure = broker.replicas.missing_logs.failure_of(TP.topic)
    assert failure is not None
    assert "2 of its partitions have no log yet" in failure
    assert "No space left on device" in failure
    with pytest.raises(ApiError, match="No space left on device") as raised:
        broker.replicas.get_leader_partition(TP)
    assert raised.value.error is Errors.KAFKA_STORAGE_ERROR
    assert broker.lead(TopicPartition("another", 0)) == [0, storage_error]
    assert broker.state_changes.make_missing_logs() == []
    assert len([record for record in caplog.records if record.levelname == "ERROR"]) == 2, caplog.text
    assert not [path for path in tmp_path.iterdir() if path.is_dir()], "the failed attempt leaves nothing behind"
    full_disk.make_room()
    made = broker.state_changes.make_missing_logs()
    assert set(made) == {TP, TP1, TopicPartition("another", 0)}
    assert broker.replicas.missing_logs.failure_of(TP.topic) is None
    assert broker.replicas.get_leader_partition(TP1).log is not None
    broker.close()


def test_a_partition_whose_new_epoch_did_not_fit_on_the_disk_is_not_served(broker: Broker) -> None:
    broker.lead(TP)
    temporary = broker.log(TP).dir / "leader-epoch-checkpoint.tmp"
    temporary.symlink_to("/dev/full")
    assert broker.lead(TP, epoch=1) == [0, Errors.KAFKA_STORAGE_ERROR.code]
    assert broker.replicas.get_partition(TP) is None
    temporary.unlink(missing_ok=True)
    assert broker.state_changes.make_missing_logs() == [TP]
    assert broker.log(TP).latest_epoch == 1


def test_a_follower_whose_log_did_not_fit_fetches_once_there_is_space(tmp_path: Path, full_disk: FullDisk) -> None:
    broker = Broker(tmp_path)
    full_disk.fill()
    assert broker.lead(TP, leader=2, isr=(2,), live=(2,)) == [0, Errors.KAFKA_STORAGE_ERROR.code]
    full_disk.make_room()
    broker.alive = [ClusterBroker(2, (EndPoint.parse("PLAINTEXT://127.0.0.1:1"),))]
    assert broker.state_changes.make_missing_logs() == [TP]
    (fetcher,) = broker.replicas.fetchers.fetcher_thread_map.values()
    assert (fetcher.source_broker.id, fetcher.partition_count) == (2, 1)
    broker.close()


def test_a_follower_whose_leader_was_away_follows_it_in_the_same_epoch(broker: Broker) -> None:
    """The controller dies with its leader away. The next one finds the leader alive, and repeats the state as it is."""
    broker.lead(TP, TP1, leader=2, isr=(2,), controller=1)
    assert not broker.replicas.fetchers.fetcher_thread_map
    assert broker.lead(TP, TP1, leader=2, isr=(2,), controller=2, live=(2,)) == [0, 0, 0]
    (fetcher,) = broker.replicas.fetchers.fetcher_thread_map.values()
    assert (fetcher.source_broker.id, fetcher.partition_count) == (2, 2)


@pytest.mark.parametrize(("leader", "isr", "end"), [(1, (1,), 5), (2, (1, 2), 5), (-1, (2,), 5), (2, (2,), 3)])
def test_a_follower_out_of_sync_fetches_again_what_its_log_lacks(
    broker: Broker, leader: int, isr: tuple[int, ...], end: int
) -> None:
    broker.lead(TP)
    log = broker.logs.get_log(TP)
    assert log is not None
    for number in range(5):
        log.append_as_leader(record_set(b"%d" % number), 0)
    log.gap_offset = 3
    assert broker.lead(TP, leader=leader, isr=isr, epoch=1, live=(2,)) == [0, 0]
    assert log.log_end_offset == end
    assert (log.gap_offset is None) == (end == 3)


def test_a_follower_that_has_its_leader_ignores_the_same_epoch(broker: Broker) -> None:
    broker.lead(TP, leader=2, isr=(2,))
    broker.lead(TP, leader=2, isr=(2,), live=(2,))
    assert broker.lead(TP, leader=2, isr=(2,), live=(2,)) == [0, Errors.STALE_CONTROLLER_EPOCH.code]


def test_a_pending_log_is_not_created_for_a_deleted_partition(tmp_path: Path, full_disk: FullDisk) -> None:
    broker = Broker(tmp_path)
    full_disk.fill()
    broker.lead(TP, TP1)
    broker.stop(TP, delete=True)
    full_disk.make_room()
    assert broker.state_changes.make_missing_logs() == [TP1]
    assert broker.logs.get_log(TP) is None
    broker.close()


def test_a_stopping_broker_creates_no_pending_logs(tmp_path: Path) -> None:
    broker = Broker(tmp_path)
    broker.state_changes.stop_taking_orders()
    assert broker.lead(TP) == [0, Errors.BROKER_NOT_AVAILABLE.code]
    assert broker.logs.get_log(TP) is None
    broker.close()


def test_a_stop_that_was_overtaken_by_a_newer_leader_epoch_is_fenced(broker: Broker) -> None:
    broker.lead(TP, epoch=5)
    broker.produce(TP)
    assert broker.stop_in_epoch(TP, 4) == [Errors.FENCED_LEADER_EPOCH.code]
    assert broker.log(TP).log_end_offset == 1
    assert broker.stop_in_epoch(TP, 5) == [Errors.NONE.code]
    assert broker.replicas.get_partition(TP) is None


@pytest.mark.parametrize("epoch", [-1, -2])
def test_an_unknown_epoch_and_that_of_a_deletion_stop_any_replica(broker: Broker, epoch: int) -> None:
    broker.lead(TP, epoch=5)
    assert broker.stop_in_epoch(TP, epoch) == [Errors.NONE.code]
    assert broker.replicas.get_partition(TP) is None


def test_a_stop_of_a_replica_that_is_not_here_is_no_error(broker: Broker) -> None:
    assert broker.stop_in_epoch(TP, 3) == [Errors.NONE.code]
