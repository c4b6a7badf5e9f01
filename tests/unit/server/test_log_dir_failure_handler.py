"""What happens to a broker's partitions when a disk fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrPartitionState, LeaderAndIsrRequest
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.log_dir_failure_handler import LogDirFailureHandler
from kafka_lite.testing.replica_managers import new_replica_manager, new_replica_state_changes
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from tests.support.patience import patient_s

PARTITIONS = [TopicPartition("t", 0), TopicPartition("t", 1)]


class Broker:
    def __init__(self, directories: list[Path], *, controller_knows_directories: bool = True) -> None:
        time = MockTime()
        scheduler = MockScheduler(time)
        self.logs = LogManager(directories, {}, LogConfig(), scheduler, time)
        self.logs.startup()
        config = KafkaConfig({"broker.id": 1, "zookeeper.connect": "embedded", "log.dirs": str(directories[0])})
        self.replicas = new_replica_manager(config, self.logs, scheduler, time)
        state_changes = new_replica_state_changes(self.replicas, LogConfig())
        states = [
            LeaderAndIsrPartitionState(
                topic_name=tp.topic, partition_index=tp.partition, leader=1, isr=[1], replicas=[1]
            )
            for tp in PARTITIONS
        ]
        order = LeaderAndIsrRequest(controller_id=1, controller_epoch=1, ungrouped_partition_states=states)
        state_changes.become_leader_or_follower(order)
        self.stopped = threading.Event()
        self.notified = 0
        self.zookeeper_is_gone = False
        self.handler = LogDirFailureHandler(
            self.logs, state_changes, self.stopped.set, self.notify, controller_knows_directories
        )

    def notify(self) -> None:
        if self.zookeeper_is_gone:
            raise ZkConnectionError("no ZooKeeper")
        self.notified += 1

    def fail(self, directory: Path) -> None:
        self.logs.log_dir_failure_channel.maybe_add_offline_log_dir(directory, "reading", OSError("I/O error"))
        self.handler.do_work()

    def close(self) -> None:
        self.replicas.shutdown()
        self.logs.shutdown()


@pytest.fixture
def directories(tmp_path: Path) -> list[Path]:
    return [tmp_path / "disk1", tmp_path / "disk2"]


@pytest.fixture
def broker(directories: list[Path]) -> Iterator[Broker]:
    broker = Broker(directories)
    yield broker
    broker.close()


def directory_of(broker: Broker, tp: TopicPartition) -> Path:
    log = broker.logs.get_log(tp)
    assert log is not None
    return log.dir.parent


def test_only_the_partitions_of_the_failed_disk_go_offline(broker: Broker) -> None:
    lost, kept = PARTITIONS
    assert directory_of(broker, lost) != directory_of(broker, kept)
    broker.fail(directory_of(broker, lost))
    with pytest.raises(ApiError) as refused:
        broker.replicas.get_leader_log(lost)
    assert refused.value.error is Errors.KAFKA_STORAGE_ERROR
    broker.replicas.get_leader_log(kept)
    assert not broker.stopped.is_set()


def test_a_broker_without_a_working_disk_stops(broker: Broker, directories: list[Path]) -> None:
    for directory in directories:
        broker.fail(directory)
    assert broker.stopped.is_set()


def test_the_thread_stops_without_waiting(broker: Broker) -> None:
    broker.handler.start()
    broker.handler.shutdown(timeout_s=patient_s(30))
    assert not broker.handler.is_alive()


def test_the_controller_is_notified_once(broker: Broker) -> None:
    broker.fail(directory_of(broker, PARTITIONS[0]))
    broker.handler.do_work()
    assert broker.notified == 1
    assert not broker.stopped.is_set()


def test_the_controller_is_notified_when_zookeeper_is_back(broker: Broker) -> None:
    broker.zookeeper_is_gone = True
    broker.fail(directory_of(broker, PARTITIONS[0]))
    assert broker.notified == 0
    broker.zookeeper_is_gone = False
    broker.handler.do_work()
    broker.handler.do_work()
    assert broker.notified == 1


def test_a_broker_stops_if_its_controller_only_notices_whole_brokers(directories: list[Path]) -> None:
    broker = Broker(directories, controller_knows_directories=False)
    broker.fail(directory_of(broker, PARTITIONS[0]))
    assert broker.stopped.is_set()
    assert broker.notified == 0
    broker.close()
